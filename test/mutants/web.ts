import type { Slip } from './list.ts'

export default [
  [
    'the flag of a chunk inverted',
    'ble-framing.ts',
    'i < count - 1 ? MORE : LAST',
    'i < count - 1 ? LAST : MORE',
    'pages/ble-framing',
  ],
  ['simulated phones in live', 'hasLoopback', "HAS_SANDBOX && environment === 'test'", 'HAS_SANDBOX', 'pages/till-reading'],
] satisfies Slip[]
