import type { Slip } from './list.ts'

export default [
  [
    'door: a closed sandbox issues',
    'createApp',
    'deps.config.hasSandbox ? sandboxRoutes(deps) : new Elysia()',
    'sandboxRoutes(deps)',
    'sandbox/off',
  ],
] satisfies Slip[]
