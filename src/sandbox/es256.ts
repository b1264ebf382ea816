import { toBase64Url, utf8 } from './bytes.ts'

/** A P-256 private key. */
export type PrivateJwk = { kty: 'EC'; crv: 'P-256'; x: string; y: string; d: string }

export type PublicJwk = Omit<PrivateJwk, 'd'>

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' }

export const publicJwk = ({ kty, crv, x, y }: PublicJwk): PublicJwk => ({ kty, crv, x, y })

/** From the platform's randomness: tests do not need to repeat it. */
export async function newPrivateJwk(): Promise<PrivateJwk> {
  const { privateKey } = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const { x, y, d } = await crypto.subtle.exportKey('jwk', privateKey)
  return { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: d! }
}

/** r and s, 64 bytes, as in JOSE and COSE. */
export async function signEs256(key: PrivateJwk, bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const imported = await crypto.subtle.importKey('jwk', { ...key }, ALGORITHM, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, imported, Uint8Array.from(bytes)))
}

/** Signs JWTs in the way that @sd-jwt/core asks for. */
export const jwtSigner =
  (key: PrivateJwk) =>
  async (text: string): Promise<string> =>
    toBase64Url(await signEs256(key, utf8(text)))

/** A compact JWS; `alg` is added to the header. */
export async function signJwt(key: PrivateJwk, header: object, payload: object): Promise<string> {
  const signed = `${encodeJson({ alg: 'ES256', ...header })}.${encodeJson(payload)}`
  return `${signed}.${await jwtSigner(key)(signed)}`
}

const encodeJson = (value: object): string => toBase64Url(utf8(JSON.stringify(value)))
