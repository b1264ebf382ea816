import type { Slip } from './list.ts'

export default [
  [
    'door: a closed sandbox issues',
    'createApp',
    'deps.config.hasSandbox ? sandboxRoutes(deps) : new Elysia()',
    'sandboxRoutes(deps)',
    'sandbox/off',
  ],
  ['doubled names pass', 'parseJson', 'if (names !== countMembers(value))', 'if (false)', 'http/envelope', 'json'],
] satisfies Slip[]
