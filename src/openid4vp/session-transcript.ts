// The session transcript, which a device signature covers besides the document: it binds the answer
// to the request (OpenID4VP 1.0 § B.2.6). The hash is over the encoded array itself, although the
// text calls it "InfoBytes".
import { hash } from 'node:crypto'
import { type Cbor, encodeCbor } from './cbor-encode.ts'

/**
 * The strings exactly as in the request; the thumbprint (RFC 7638, SHA-256) of the encryption key,
 * null for an unencrypted answer.
 */
type Redirect = { clientId: string; nonce: string; encryptionKeyThumbprint: Uint8Array | null; responseUri: string }

export const redirectTranscript = ({ clientId, nonce, encryptionKeyThumbprint, responseUri }: Redirect): Uint8Array =>
  transcript('OpenID4VPHandover', [clientId, nonce, encryptionKeyThumbprint, responseUri])

/** The origin without the prefix `origin:`, for signed requests as well. */
type DcApi = { origin: string; nonce: string; encryptionKeyThumbprint: Uint8Array | null }

export const dcApiTranscript = ({ origin, nonce, encryptionKeyThumbprint }: DcApi): Uint8Array =>
  transcript('OpenID4VPDCAPIHandover', [origin, nonce, encryptionKeyThumbprint])

const transcript = (handover: string, info: Cbor): Uint8Array =>
  encodeCbor([null, null, [handover, hash('sha256', encodeCbor(info), 'buffer')]])
