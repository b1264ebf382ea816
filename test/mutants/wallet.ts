import type { Slip } from './list.ts'

export default [
  ['wallet expiry exclusive', 'refuseClosed', 'expiresAt <= now', 'expiresAt < now', 'api/wallet-response'],
  [
    'an answer that is to be held completes at once',
    'record',
    "session.release === 'on_redeem' && outcome.status === 'completed'",
    'false',
    'api/release-on-redeem',
  ],
  [
    'a bad answer is held',
    'record',
    "session.release === 'on_redeem' && outcome.status === 'completed'",
    "session.release === 'on_redeem'",
    'api/release-on-redeem',
  ],
  ["the phone gets the desktop's code", 'record', '|| isPageReturn ?', '?', 'api/hosted-page'],
  [
    'the page that showed the QR code gets the code of a held answer',
    'record',
    "from === 'qr' && session.release === null",
    "from === 'qr'",
    'api/hosted-page',
  ],
  [
    'answers through the QR code are judged for the other address',
    'judge',
    'responseUri: responseUri(publicUrl, session.id, from)',
    'responseUri: responseUri(publicUrl, session.id)',
    'api/hosted-page',
  ],
  [
    'requests by value in the QR code have another client',
    'judge',
    'byValueClientId(publicUrl, session.id, from)',
    'byValueClientId(publicUrl, session.id)',
    'api/hosted-page',
  ],
] satisfies Slip[]
