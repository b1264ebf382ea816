// The session transcript, which a device signature covers besides the document: it binds the answer
// to the request (OpenID4VP 1.0 § B.2.6). The hash is over the encoded array itself, although the
// text calls it "InfoBytes".
import { hash } from 'node:crypto'
import { type Cbor, encodeCbor } from '../cbor/encode.ts'
import type { Expected } from '../credential.ts'

/**
 * The strings exactly as in the request; the thumbprint (RFC 7638, SHA-256) of the encryption key,
 * null for an unencrypted answer.
 */
type Redirect = { clientId: string; nonce: string; encryptionKeyThumbprint: Uint8Array | null; responseUri: string }

type Binding = Pick<Expected, 'nonce' | 'audience' | 'transcript'>

/** The answer to a link or QR code. */
export const boundToRedirect = (request: Redirect): Binding => ({
  nonce: request.nonce,
  audience: request.clientId,
  transcript: () => redirectTranscript(request),
})

export const redirectTranscript = ({ clientId, nonce, encryptionKeyThumbprint, responseUri }: Redirect): Uint8Array =>
  transcript('OpenID4VPHandover', [clientId, nonce, encryptionKeyThumbprint, responseUri])

/** The origin without the prefix `origin:`, for signed requests as well. */
type DcApi = { origin: string; nonce: string; encryptionKeyThumbprint: Uint8Array | null }

/** The answer that a page got from the browser's own wallet call (OpenID4VP 1.0 § A.4). */
export const boundToOrigin = (request: DcApi): Binding => ({
  nonce: request.nonce,
  audience: `origin:${request.origin}`,
  transcript: () => dcApiTranscript(request),
})

export const dcApiTranscript = ({ origin, nonce, encryptionKeyThumbprint }: DcApi): Uint8Array =>
  transcript('OpenID4VPDCAPIHandover', [origin, nonce, encryptionKeyThumbprint])

/** ISO/IEC TS 18013-7 Annex C: over the very text of `encryptionInfo` that was sent. */
export const isoDcApiTranscript = (encryptionInfo: string, origin: string): Uint8Array =>
  transcript('dcapi', [encryptionInfo, origin])

const transcript = (handover: string, info: Cbor): Uint8Array =>
  encodeCbor([null, null, [handover, hash('sha256', encodeCbor(info), 'buffer')]])
