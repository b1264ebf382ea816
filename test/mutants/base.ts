import type { Slip } from './list.ts'

export default [
  ['doubled names pass', 'parseJson', 'if (names !== countMembers(value))', 'if (false)', 'http/envelope', 'json'],
] satisfies Slip[]
