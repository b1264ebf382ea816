// What a device signature of an mdoc covers besides the document, so that an answer to another request is worth nothing here
// (OpenID4VP 1.0 § B.2.6). The hash is over the encoded array itself, although the text calls it "InfoBytes".
import { hash } from 'node:crypto'
import { CBOR_NULL, encodeArray, encodeBytes, encodeText } from './cbor-encode.ts'

/** The strings exactly as in the request; the thumbprint (RFC 7638, SHA-256) of the key in use, null when the answer is unencrypted. */
type Redirect = { clientId: string; nonce: string; encryptionKeyThumbprint: Uint8Array | null; responseUri: string }

export const redirectTranscript = ({ clientId, nonce, encryptionKeyThumbprint, responseUri }: Redirect): Uint8Array =>
  transcript('OpenID4VPHandover', [
    encodeText(clientId),
    encodeText(nonce),
    orNull(encryptionKeyThumbprint),
    encodeText(responseUri),
  ])

/** The origin without the prefix `origin:`, for signed requests as well. */
type DcApi = { origin: string; nonce: string; encryptionKeyThumbprint: Uint8Array | null }

export const dcApiTranscript = ({ origin, nonce, encryptionKeyThumbprint }: DcApi): Uint8Array =>
  transcript('OpenID4VPDCAPIHandover', [encodeText(origin), encodeText(nonce), orNull(encryptionKeyThumbprint)])

function transcript(handover: string, info: Uint8Array[]): Uint8Array {
  const digest = hash('sha256', encodeArray(info), 'buffer')
  return encodeArray([CBOR_NULL, CBOR_NULL, encodeArray([encodeText(handover), encodeBytes(digest)])])
}

const orNull = (thumbprint: Uint8Array | null): Uint8Array => (thumbprint ? encodeBytes(thumbprint) : CBOR_NULL)
