import type { Slip } from './list.ts'

export default [
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
