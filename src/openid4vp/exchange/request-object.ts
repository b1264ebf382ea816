import { CompactSign, type CryptoKey, type JWTPayload } from 'jose'
import type { DcqlQuery } from '../dcql/dcql.ts'
import { linkBase } from './link-start.ts'

/**
 * The form of a request. `haip`: signed and by reference, the answer encrypted. `plain`: the same with an unencrypted answer.
 * `eu-av`: by value and unsigned, as the EU age verification app expects it.
 */
export type Profile = 'haip' | 'plain' | 'eu-av'

export const REQUEST_OBJECT_TYPE = 'application/oauth-authz-req+jwt'

/** Audience for wallets that were not discovered dynamically (OpenID4VP 1.0 § 5.8). */
export const AUDIENCE = 'https://self-issued.me/v2'
const SD_JWT_ALGORITHMS = ['ES256', 'ES384', 'EdDSA']
/**
 * COSE algorithms. Wallets compare the numbers literally, so ECDSA with SHA-256 is listed both ways
 * (-7, and -9 with its curve).
 */
const MDOC_ALGORITHMS = [-7, -9]

const FORMATS = {
  'dc+sd-jwt': { 'sd-jwt_alg_values': SD_JWT_ALGORITHMS, 'kb-jwt_alg_values': SD_JWT_ALGORITHMS },
  mso_mdoc: { issuerauth_alg_values: MDOC_ALGORITHMS, deviceauth_alg_values: MDOC_ALGORITHMS },
}

/** `qr`: the QR code of the hosted page. Its answers return through that page, those of any other link through the wallet. */
export type From = 'qr' | undefined

/** What a page says in its links: where they stand, and its language, for wallets that name none. */
export type OnPage = { from?: From; language?: string | undefined }

const onPage = ({ from, language }: OnPage): string => {
  const said = new URLSearchParams({ ...(from && { from }), ...(language && { language }) })
  return said.size > 0 ? `?${said}` : ''
}

export const requestUri = (publicUrl: string, id: string, page: OnPage = {}): string =>
  `${publicUrl}/wallet/request/${id}${onPage(page)}`

/** Must not be normalised: the session transcript of an mdoc is computed over this exact string. */
export const responseUri = (publicUrl: string, id: string, from?: From): string =>
  `${publicUrl}/wallet/response/${id}${from ? `?from=${from}` : ''}`

type ByReference = { start: string; clientId: string; publicUrl: string; id: string; method: 'get' | 'post'; page?: OnPage }

/** Ids need no escaping. Wallets fetch by GET where the link says nothing (§ 5.10). */
export const byReferenceUri = ({ start, clientId, publicUrl, id, method, page = {} }: ByReference): string =>
  `${linkBase(start)}?client_id=${encodeURIComponent(clientId)}&request_uri=${encodeURIComponent(requestUri(publicUrl, ''))}${id}${encodeURIComponent(onPage(page))}${method === 'post' ? '&request_uri_method=post' : ''}`

type ByValue = { publicUrl: string; id: string; nonce: string; state: string; query: DcqlQuery; from?: From }

/** Client id of a request by value: unsigned, so it is the address that the answer is sent to (§ 5.9.3). */
export const byValueClientId = (publicUrl: string, id: string, from?: From): string =>
  `redirect_uri:${responseUri(publicUrl, id, from)}`

export function byValueUri({ publicUrl, id, nonce, state, query, from }: ByValue): string {
  const parameters = {
    client_id: byValueClientId(publicUrl, id, from),
    response_type: 'vp_token',
    response_mode: 'direct_post',
    response_uri: responseUri(publicUrl, id, from),
    nonce,
    state,
    dcql_query: JSON.stringify(query),
    client_metadata: JSON.stringify({ vp_formats_supported: formatsOf(query) }),
  }
  return `av://authorize?${new URLSearchParams(parameters)}`
}

/** Only the requested formats: the request must fit into a QR code. */
const formatsOf = ({ credentials }: DcqlQuery) => Object.fromEntries(credentials.map(({ format }) => [format, FORMATS[format]]))

export type EncryptionKey = { kty: 'EC'; crv: 'P-256'; x: string; y: string; kid: string }

type RequestParameters = {
  clientId: string
  responseUri: string
  nonce: string
  state: string
  query: DcqlQuery
  /** Milliseconds. */
  issuedAt: number
  expiresAt: number
  /** The key to encrypt the answer to; absent in the profile `plain`. */
  encryptionKey?: EncryptionKey
  /** Returned only in the signed claim (§ 5.10). */
  walletNonce?: string
  registrationCertificate?: string
  registrationForm: RegistrationForm
}

export function requestClaims(parameters: RequestParameters): JWTPayload {
  const { clientId, responseUri: uri, nonce, state, query, encryptionKey, walletNonce, registrationCertificate } = parameters
  return {
    client_id: clientId,
    aud: AUDIENCE,
    response_type: 'vp_token',
    response_mode: encryptionKey ? 'direct_post.jwt' : 'direct_post',
    response_uri: uri,
    nonce,
    state,
    dcql_query: query,
    client_metadata: clientMetadata(encryptionKey),
    ...(walletNonce !== undefined && { wallet_nonce: walletNonce }),
    ...verifierInfo(registrationCertificate, parameters.registrationForm),
    iat: Math.floor(parameters.issuedAt / 1000),
    exp: Math.floor(parameters.expiresAt / 1000),
  }
}

export const clientMetadata = (encryptionKey: EncryptionKey | undefined) => ({
  vp_formats_supported: FORMATS,
  ...(encryptionKey && {
    jwks: { keys: [{ ...encryptionKey, use: 'enc', alg: 'ECDH-ES' }] },
    // Both, for HAIP § 5. Left out without encryption, because some wallets refuse it there.
    encrypted_response_enc_values_supported: ['A128GCM', 'A256GCM'],
  }),
})

/** The JWT itself, as the EU reference library reads it, or in base64url, as RO-16 of ETSI TS 119 472-2 has it. */
export type RegistrationForm = 'jwt' | 'base64url'

export function verifierInfo(jwt: string | undefined, form: RegistrationForm): { verifier_info?: object[] } {
  if (jwt === undefined) return {}
  const data = form === 'jwt' ? jwt : Buffer.from(jwt).toString('base64url')
  return { verifier_info: [{ format: 'registration_cert', data }] }
}

/** `chain` is base64 DER, leaf first, without the root (HAIP § 5). */
export type RequestSigner = {
  privateKey: CryptoKey
  chain: string[]
  /** Made at the first start: no wallet knows its authority. */
  isSelfMade: boolean
}

/**
 * `iat` is in the header too (ETSI TS 119 472-2, REDIRECTS-RO-03). Signed as bytes: the claims builder of the library would copy
 * them all, which costs more than the signature.
 */
export async function signRequest(claims: JWTPayload, { privateKey, chain }: RequestSigner): Promise<string> {
  return await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256', typ: 'oauth-authz-req+jwt', x5c: chain, iat: claims.iat })
    .sign(privateKey)
}
