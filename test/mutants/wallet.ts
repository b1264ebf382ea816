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
    'requests by value in the QR code have another client',
    'bindingOf',
    'byValueClientId(publicUrl, id, from)',
    'byValueClientId(publicUrl, id)',
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
    'a page without an Origin header names its origin in the body',
    'readAsking',
    'if (owner) {',
    "if (owner || request.headers.get('origin') === null) {",
    'wallet/dc-request',
  ],
  [
    'protocols of the browser are ignored',
    'dcRequests',
    'protocols ? possible.filter(protocol => protocols.includes(protocol)) : possible',
    'possible',
    'wallet/dc-request',
  ],
  [
    'answers by a protocol that was not asked are taken',
    'dcRespond',
    'if (!found?.protocols.includes(sent.protocol)) throw',
    'if (!found) throw',
    'wallet/dc-answers',
  ],
  [
    'transcripts of pages have no thumbprint',
    'bindingOf',
    'encryptionKeyThumbprint: thumbprint }',
    'encryptionKeyThumbprint: null }',
    'wallet/dc-answers',
  ],
  [
    'an error of the wallet behind a page ends the session',
    'dcRespond',
    "await deps.write(tx => recordEvent(deps, tx, session, 'dc_error', { protocol, code: response.code }))",
    "await recordAnswer(deps, session, { secrets: asked.secrets, outcome: { status: 'failed', result: { credentials: [] }, findings: [] }, way: { from: undefined }, requestId: '' })",
    'wallet/dc-answers',
  ],
  ['a reader signs for the EU age app', 'dataOf', "session.profile === 'eu-av' ? [] :", '', 'wallet/dc-reader'],
] satisfies Slip[]
