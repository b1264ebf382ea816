import type { Slip } from './list.ts'

export default [
  ['door: the suites of the runtime', 'tlsOf', 'key, ciphers: CIPHERS })', 'key })', 'cli/tls'],
  ['a start leaves erased text in the log', 'startService', 'await shred(deps)', '', 'api/delete-verification'],
] satisfies Slip[]
