import type { Slip } from './list.ts'

export default [
  ['a certificate is trusted twice', 'refuseKnown', 'if (!same) return', 'return', 'dashboard/pages'],
  [
    'a certificate that is in the file twice is trusted twice',
    'refuseKnown',
    'if (repeated) throw',
    'if (false) throw',
    'dashboard/pages',
  ],
  ['local list in a live session', 'isLocalList', "isDev && environment === 'test' &&", 'isDev &&', 'wallet/local-lists'],
  ["the sandbox issuer's list is a local one", 'isLocalList', '&& !isSandboxList(uri) ?', '?', 'wallet/local-lists'],
] satisfies Slip[]
