import type { Slip } from './list.ts'

export default [
  [
    'one beyond the quota',
    'chargeDay',
    'charge(tx, { tenantId, day, at, lastMs, quota })',
    'charge(tx, { tenantId, day, at, lastMs, quota: quota + 1 })',
    'api/usage',
  ],
  ['two creations have one time', 'charge', 'newestAt} + 1 end', 'newestAt} end', 'api/usage'],
  ['a clock put back opens a second quota', 'charge', /sql`coalesce\(.*?`/, "column('day')", 'api/usage'],
  ['quota of 0 ignored', 'chargeOne', 'if (quota <= 0) throw', 'if (quota < 0) throw', 'api/usage'],
  ['one beyond the quota within a commit', 'countOne', 'tally.created >= quota', 'tally.created > quota', 'api/usage'],
  ['the count of a commit is not written', 'write', 'if (tally.unwritten > 0)', 'if (false)', 'api/usage'],
] satisfies Slip[]
