import type { Slip } from './list.ts'

export default [
  ['one beyond the quota', 'charge', 'verificationsCreated} <', 'verificationsCreated} <=', 'api/usage'],
  ['quota of 0 ignored', 'chargeOne', 'if (quota <= 0) throw', 'if (quota < 0) throw', 'api/usage'],
  ['one beyond the quota within a commit', 'countOne', 'tally.created >= quota', 'tally.created > quota', 'api/usage'],
  ['the count of a commit is not written', 'countOne', 'if (begun.unwritten > 0)', 'if (false)', 'api/usage'],
] satisfies Slip[]
