// What a device signature of an mdoc covers besides the document, so that an answer to another request is worth nothing here
// (OpenID4VP 1.0 § B.2.6). The hash is over the encoded array itself, although the text calls it "InfoBytes".
import { hash } from 'node:crypto'
import { type Cbor, encodeCbor } from './cbor-encode.ts'

/** The strings exactly as in the request; the thumbprint (RFC 7638, SHA-256) of the key in use, null when the answer is unencrypted. */
type Redirect = { clientId: string; nonce: string; encryptionKeyThumbprint: Uint8Array | null; responseUri: string }

export const redirectTranscript = ({ clientId, nonce, encryptionKeyThumbprint, responseUri }: Redirect): Uint8Array =>
  transcript('OpenID4VPHandover', [clientId, nonce, encryptionKeyThumbprint, responseUri])

/** The origin without the prefix `origin:`, for signed requests as well. */
type DcApi = { origin: string; nonce: string; encryptionKeyThumbprint: Uint8Array | null }

export const dcApiTranscript = ({ origin, nonce, encryptionKeyThumbprint }: DcApi): Uint8Array =>
  transcript('OpenID4VPDCAPIHandover', [origin, nonce, encryptionKeyThumbprint])

const transcript = (handover: string, info: Cbor): Uint8Array =>
  encodeCbor([null, null, [handover, hash('sha256', encodeCbor(info), 'buffer')]])
