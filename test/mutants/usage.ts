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
  // Numbers.
  ['find: numbers of both environments', 'listOutcomes', 'eq(outcomeDays.environment, environment), ', '', 'dashboard/numbers'],
  ['find: the shop cancels and its rate sinks', 'UNCOUNTED', "['created', 'cancelled']", "['created']", 'dashboard/numbers'],
  ['find: a redirect that nobody followed is a refusal', 'UNDECIDED', ", 'redirect_not_followed'", '', 'dashboard/numbers'],
  [
    'find: what the holder declined is a refusal',
    'kindOf',
    "if (outcome === 'wallet_declined') return 'declined'",
    '',
    'dashboard/numbers',
  ],
  [
    'find: the rate leaves out what expired',
    'readNumbers',
    'total.declined + total.expired',
    'total.declined',
    'dashboard/numbers',
  ],
  ['find: the rarest reason first', 'readNumbers', 'b.count - a.count', 'a.count - b.count', 'dashboard/numbers'],
  ['find: a median beyond the middle', 'medianOf', 'passed * 2 >= total', 'passed >= total', 'usage/outcomes'],
  [
    'find: ends are not counted',
    'countEnds',
    'ends.map(({ tenantId, environment, outcome, at })',
    '[].map(({ tenantId, environment, outcome, at }: End)',
    'usage/outcomes',
  ],
] satisfies Slip[]
