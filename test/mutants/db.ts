import type { Slip } from './list.ts'

export default [
  ['secure_delete off', 'openWriter', "'secure_delete = ON'", "'secure_delete = OFF'", 'db/writer', 'api/delete-verification'],
  [
    'the environment of a secret is not sealed with it',
    'sealed-columns.ts',
    'environment}`',
    "environment ? '' : ''}`",
    'webhooks/rotation',
  ],
] satisfies Slip[]
