import type { Slip } from './list.ts'

export default [
  ['door: the suites of the runtime', 'tlsOf', 'key, ciphers: CIPHERS })', 'key })', 'cli/tls'],
  [
    'door: headers of 64 KiB',
    'HEADER_BYTES_MAX',
    'HEADER_BYTES_MAX = 16 * 1024',
    'HEADER_BYTES_MAX = 64 * 1024',
    'http/envelope',
  ],
  ['an upgrade makes no test secrets', 'startService', 'await ensureTestSecrets(deps)', '', 'upkeep/older-version'],
] satisfies Slip[]
