// Requests that a page hands to the browser's own wallet call (W3C Digital Credentials): OpenID4VP 1.0 Appendix A, signed
// or unsigned, and ISO/IEC TS 18013-7 Annex C. Answers are always encrypted.
import type { JWTPayload } from 'jose'
import { coseKeyOf } from '../cbor/cose-key.ts'
import { type Cbor, encodeCbor } from '../cbor/encode.ts'
import type { DcqlQuery } from '../dcql/dcql.ts'
import { AUDIENCE, clientMetadata, type EncryptionKey, type RegistrationForm, verifierInfo } from './request-object.ts'

/** The names that browsers know. */
export type DcProtocol = 'openid4vp-v1-signed' | 'openid4vp-v1-unsigned' | 'org-iso-mdoc'

type UnsignedRequest = { nonce: string; query: DcqlQuery; encryptionKey: EncryptionKey }

/** No `client_id`: the browser says who asks (§ A.2). */
export const unsignedRequest = ({ nonce, query, encryptionKey }: UnsignedRequest) => ({
  response_type: 'vp_token',
  response_mode: 'dc_api.jwt',
  nonce,
  dcql_query: query,
  client_metadata: clientMetadata(encryptionKey),
})

type SignedRequest = UnsignedRequest & {
  /** Google's own member of the metadata. */
  googleRpMetadata?: string
  clientId: string
  /** The one page that may ask. */
  origin: string
  issuedAt: number
  expiresAt: number
  registrationCertificate?: string
  registrationForm: RegistrationForm
}

export const signedRequestClaims = (request: SignedRequest): JWTPayload => ({
  ...unsignedRequest(request),
  client_metadata: {
    ...clientMetadata(request.encryptionKey),
    ...(request.googleRpMetadata && { gw_rp_metadata_bytes: request.googleRpMetadata }),
  },
  client_id: request.clientId,
  expected_origins: [request.origin],
  aud: AUDIENCE,
  ...verifierInfo(request.registrationCertificate, request.registrationForm),
  iat: Math.floor(request.issuedAt / 1000),
  exp: Math.floor(request.expiresAt / 1000),
})

/** Annex C: the text that is sent, which the transcript covers as it is. */
export function encryptionInfo(nonce: Uint8Array, { x, y }: { x: string; y: string }): string {
  const parameters = new Map<string, Cbor>([
    ['nonce', nonce],
    ['recipientPublicKey', coseKeyOf({ crv: 'P-256', x, y })],
  ])
  return Buffer.from(encodeCbor(['dcapi', parameters])).toString('base64url')
}
