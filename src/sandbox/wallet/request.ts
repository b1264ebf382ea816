// The checks of a careful wallet before it shows a request. A request that fails gets no answer.
import { compactVerify, decodeProtectedHeader, importX509, type JWK } from 'jose'
import type { DcqlQuery } from '../../openid4vp/dcql/dcql.ts'
import { sha256, toBase64Url } from '../bytes.ts'
import { type Certificate, readCertificate } from '../der.ts'

const REQUEST_TYPE = 'application/oauth-authz-req+jwt'
const CLOCK_SKEW_SECONDS = 60
const WALLET_NONCE_BYTES = 16

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>

export type WalletUri =
  | { kind: 'reference'; clientId: string; requestUri: string; method: 'get' | 'post' }
  | { kind: 'value'; clientId: string; parameters: Members }

export type PresentationRequest = {
  clientId: string
  responseMode: 'direct_post' | 'direct_post.jwt' | 'dc_api.jwt'
  responseUri: string
  nonce: string
  state: string | undefined
  query: DcqlQuery
  /** Set if the answer has to be encrypted. */
  encryption: { key: JWK; encs: string[] } | undefined
  /** All parameters as received. */
  parameters: Members
  /** Where the browser carries request and answer: the page that asks. */
  page?: { origin: string }
}

export type FetchOptions = {
  /** In milliseconds. */
  now: number
  /** Default: the method that the verifier offers. */
  method?: 'get' | 'post'
  /** With POST, a random one by default. */
  walletNonce?: string
  walletMetadata?: object
}

/** The wallet does not trust this request. */
export class RequestRefused extends Error {
  override name = 'RequestRefused'

  /** `status`: of SessionData, for a reader in person; by default the end of the session. */
  constructor(
    reason: string,
    readonly status = 20,
  ) {
    super(reason)
  }
}

export type Members = Record<string, unknown>

export function parseWalletUri(uri: string): WalletUri {
  const query = new URLSearchParams(uri.slice(uri.indexOf('?') + 1))
  const clientId = query.get('client_id')
  demand(uri.includes('?') && clientId, 'the link names no client_id')
  const requestUri = query.get('request_uri')
  const method = query.get('request_uri_method')
  if (requestUri === null) {
    demand(method === null, 'request_uri_method comes without request_uri')
    return { kind: 'value', clientId, parameters: parametersOf(query) }
  }
  demand(method === null || method === 'get' || method === 'post', 'request_uri_method is neither get nor post')
  demand(!requestUri.includes('#'), 'request_uri has a fragment')
  return { kind: 'reference', clientId, requestUri, method: method ?? 'get' }
}

/** Fetches and checks the request of a wallet link. */
export async function fetchRequest(uri: string, fetch: Fetch, options: FetchOptions): Promise<PresentationRequest> {
  const link = parseWalletUri(uri)
  if (link.kind === 'value') return readUnsigned(link.clientId, link.parameters)
  const method = options.method ?? link.method
  const walletNonce = method === 'post' ? (options.walletNonce ?? newWalletNonce()) : undefined
  const jws = await fetchRequestObject(fetch, link.requestUri, { method, walletNonce, walletMetadata: options.walletMetadata })
  const { parameters, leaf } = await verifySignature(jws)
  checkTimes(parameters, options.now)
  demand(parameters.aud === 'https://self-issued.me/v2', 'aud is not the static one (OpenID4VP 1.0 § 5.8)')
  demand(parameters.client_id === link.clientId, 'client_id differs between link and request object (OpenID4VP 1.0 § 5.10.1)')
  demand(parameters.wallet_nonce === walletNonce, 'wallet_nonce is not the one sent (OpenID4VP 1.0 § 5.10)')
  const request = readParameters(parameters)
  await checkClientId(request, leaf)
  return request
}

// Requests to the EU age verification app are sent by value and cannot be signed (OpenID4VP 1.0 § 5.9.3).
function readUnsigned(clientId: string, parameters: Members): PresentationRequest {
  const request = readParameters(parameters)
  demand(clientId === `redirect_uri:${request.responseUri}`, 'an unsigned request needs the response URI as its client_id')
  return request
}

type Fetching = { method: 'get' | 'post'; walletNonce: string | undefined; walletMetadata: object | undefined }

async function fetchRequestObject(fetch: Fetch, uri: string, { method, walletNonce, walletMetadata }: Fetching): Promise<string> {
  const headers = { accept: REQUEST_TYPE }
  const response = await fetch(uri, {
    redirect: 'manual',
    ...(method === 'get'
      ? { headers }
      : {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({
            ...(walletNonce !== undefined && { wallet_nonce: walletNonce }),
            ...(walletMetadata && { wallet_metadata: JSON.stringify(walletMetadata) }),
          }).toString(),
        }),
  })
  demand(response.status === 200, `the request URI answers ${response.status}`)
  const type = response.headers.get('content-type')?.split(';')[0]?.trim()
  demand(type === REQUEST_TYPE, `the request object comes as ${type}`)
  return await response.text()
}

export async function verifySignature(jws: string): Promise<{ parameters: Members; leaf: Certificate }> {
  const header: Members = decodeProtectedHeader(jws)
  const { x5c } = header
  demand(header.typ === 'oauth-authz-req+jwt', 'typ is not oauth-authz-req+jwt (OpenID4VP 1.0 § 5)')
  demand(header.alg === 'ES256', 'the request object is not signed with ES256')
  demand(Array.isArray(x5c) && x5c.every(isText) && x5c.length > 0, 'the request object carries no x5c')
  const certificates = x5c.map(readCertificate)
  // No trust anchor in it and no self-signed leaf (HAIP 5).
  demand(!certificates.some(({ isSelfIssued }) => isSelfIssued), 'x5c holds a self-signed certificate')
  const key = await importX509(`-----BEGIN CERTIFICATE-----\n${x5c[0]}\n-----END CERTIFICATE-----`, 'ES256')
  const verified = await compactVerify(jws, key).catch(() => undefined)
  demand(verified, 'the signature of the request object is wrong')
  return { parameters: parseObject(new TextDecoder().decode(verified.payload)), leaf: certificates[0]! }
}

export function checkTimes({ iat, exp, nbf }: Members, now: number): void {
  const seconds = now / 1000
  const isTime = (value: unknown) => value === undefined || typeof value === 'number'
  demand(isTime(iat) && isTime(exp) && isTime(nbf), 'iat, exp or nbf is not a number')
  demand(Number(iat ?? 0) <= seconds + CLOCK_SKEW_SECONDS, 'the request object comes from the future')
  demand(Number(nbf ?? 0) <= seconds + CLOCK_SKEW_SECONDS, 'the request object is not valid yet')
  demand(exp === undefined || Number(exp) > seconds - CLOCK_SKEW_SECONDS, 'the request object has expired')
}

function readParameters(parameters: Members): PresentationRequest {
  const { client_id, response_type, response_mode, response_uri, nonce, state, dcql_query, client_metadata } = parameters
  demand(response_type === 'vp_token', 'response_type is not vp_token')
  demand(response_mode === 'direct_post' || response_mode === 'direct_post.jwt', 'response_mode is unknown')
  demand(isText(client_id) && isText(response_uri), 'client_id or response_uri is missing')
  demand(parameters.redirect_uri === undefined, 'redirect_uri stands beside response_uri (OpenID4VP 1.0 § 8.2)')
  demand(isUrlSafe(nonce) && nonce.length >= 22, 'the nonce has less than 128 bits or foreign characters')
  demand(state === undefined || isUrlSafe(state), 'state has foreign characters')
  demand(parameters.transaction_data === undefined, 'transaction_data is not supported')
  demand(isObject(dcql_query) && Array.isArray(dcql_query.credentials), 'there is no DCQL query')
  demand(isObject(client_metadata), 'there is no client_metadata')
  const query = dcql_query as unknown as DcqlQuery
  checkFormats(query, client_metadata)
  return {
    clientId: client_id,
    responseMode: response_mode,
    responseUri: response_uri,
    nonce,
    state,
    query,
    encryption: response_mode === 'direct_post.jwt' ? encryptionOf(client_metadata) : undefined,
    parameters,
  }
}

// Every requested format must be announced, as in the EU reference wallet.
export function checkFormats({ credentials }: DcqlQuery, { vp_formats_supported: formats }: Members): void {
  demand(isObject(formats), 'vp_formats_supported is missing')
  for (const { format } of credentials) demand(Object.hasOwn(formats, format), `vp_formats_supported lacks ${format}`)
}

export function encryptionOf({ jwks, encrypted_response_enc_values_supported: encs = ['A128GCM'] }: Members): {
  key: JWK
  encs: string[]
} {
  demand(isObject(jwks) && Array.isArray(jwks.keys), 'there is no key to encrypt to')
  const key = jwks.keys.find(candidate => isObject(candidate) && candidate.alg === 'ECDH-ES' && candidate.crv === 'P-256')
  demand(key && isText(key.kid), 'no key is for ECDH-ES on P-256 and has a kid (OpenID4VP 1.0 § 8.3)')
  demand(key.d === undefined, 'the key is private')
  demand(Array.isArray(encs) && encs.every(isText), 'encrypted_response_enc_values_supported is not a list')
  return { key, encs }
}

export async function checkClientId({ clientId, responseUri }: PresentationRequest, leaf: Certificate): Promise<void> {
  const [prefix] = clientId.split(':')
  const value = clientId.slice(clientId.indexOf(':') + 1)
  switch (prefix) {
    case 'x509_hash':
      return demand(value === toBase64Url(await sha256(leaf.der)), 'client_id is not the hash of the leaf certificate')
    case 'x509_san_dns':
      demand(leaf.dnsNames.includes(value), 'client_id is no name of the leaf certificate')
      // Through a browser there is none.
      return demand(
        responseUri === '' || new URL(responseUri).hostname === value,
        'response_uri leads to another host than client_id names',
      )
    default:
      throw new RequestRefused('client_id has a prefix that cannot be signed for')
  }
}

function parametersOf(query: URLSearchParams): Members {
  const json = ['dcql_query', 'client_metadata']
  return Object.fromEntries([...query].map(([name, value]) => [name, json.includes(name) ? parseObject(value) : value]))
}

function parseObject(text: string): Members {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Refused below, like any other value that is not an object.
  }
  throw new RequestRefused('the request is not a JSON object where it should be one')
}

const newWalletNonce = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(WALLET_NONCE_BYTES)))

export const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0

export const isUrlSafe = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z0-9._~-]+$/.test(value)

export const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

export function demand(condition: unknown, reason: string): asserts condition {
  if (!condition) throw new RequestRefused(reason)
}
