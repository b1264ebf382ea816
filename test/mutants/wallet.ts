import type { Slip } from './list.ts'

export default [
  [
    'answers through the QR code are judged for the other address',
    'bindingOf',
    'responseUri: responseUri(publicUrl, id, from)',
    'responseUri: responseUri(publicUrl, id)',
    'api/hosted-page',
  ],
  [
    'pages of unlisted origins are asked',
    'refuseUnlisted',
    'if (!(await mayAsk(deps, session, origin))) throw',
    'if (false) throw',
    'wallet/dc-request',
  ],
  [
    'transcripts of pages have no thumbprint',
    'bindingOf',
    'encryptionKeyThumbprint: thumbprint }',
    'encryptionKeyThumbprint: null }',
    'wallet/dc-answers',
  ],
] satisfies Slip[]
