// Opens a wallet's encrypted answer: a compact JWE (RFC 7516) with ECDH-ES on P-256 and AES-GCM, the one form that requests ask
// for. By hand like hpke.ts: jose takes padding, white space, `zip` and doubled names, and makes three more asynchronous calls.
// Tests compare the two.
import { createDecipheriv, hash } from 'node:crypto'
import { parseJson } from '../json.ts'
import { decodeBase64url } from './base64url.ts'
import { isObject, type Members } from './members.ts'
import { pointOnP256 } from './p256-point.ts'

const HEADER_DEPTH_MAX = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const SECRET_BITS = 256
const KEY_BYTES = new Map<unknown, 16 | 32>([
  ['A128GCM', 16],
  ['A256GCM', 32],
])
const ECDH = { name: 'ECDH', namedCurve: 'P-256' }
const EMPTY = new Uint8Array()

export type Jwe = { header: Members; protected: string; iv: Uint8Array; cipherText: Uint8Array; tag: Uint8Array }

/** Undefined for anything but five canonical parts, the first a JSON object and the second empty. */
export function readJwe(text: string): Jwe | undefined {
  const parts = text.split('.', 6)
  const [protectedPart = '', key, ...sealed] = parts
  const header = headerOf(protectedPart)
  const [iv, cipherText, tag] = sealed.map(decodeBase64url)
  // ECDH-ES agrees on the key itself, so none is encrypted (RFC 7516 § 5.2, step 10).
  if (parts.length !== 5 || key !== '' || !header || !iv || !cipherText || !tag) return undefined
  return { header, protected: protectedPart, iv, cipherText, tag }
}

function headerOf(part: string): Members | undefined {
  const bytes = decodeBase64url(part)
  if (!bytes) return undefined
  try {
    const header = parseJson(UTF_8.decode(bytes), { depthMax: HEADER_DEPTH_MAX })
    return isObject(header) ? header : undefined
  } catch {
    // Neither UTF-8 nor JSON.
    return undefined
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The plaintext; undefined unless it was encrypted to this key in the one form. Never throws. */
export async function decryptJwe(jwe: Jwe, privateKey: CryptoKey): Promise<Uint8Array | undefined> {
  const { header, iv, cipherText, tag } = jwe
  const keyBytes = KEY_BYTES.get(header.enc)
  const [apu, apv] = [partyOf(header.apu), partyOf(header.apv)]
  if (header.alg !== 'ECDH-ES' || !keyBytes || !apu || !apv) return undefined
  if (iv.length !== IV_BYTES) return undefined
  try {
    const secret = await agreedSecret(header.epk, privateKey)
    if (!secret) return undefined
    const key = derivedKey(secret, String(header.enc), keyBytes, apu, apv)
    const decipher = createDecipheriv(`aes-${keyBytes === 16 ? 128 : 256}-gcm`, key, iv, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(jwe.protected, 'ascii'))
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(cipherText), decipher.final()])
  } catch {
    // Not a point of the curve, or not encrypted for us.
    return undefined
  }
}

/** Any text will do: it has no meaning here, and the agreed key depends on it. */
const partyOf = (value: unknown): Uint8Array | undefined =>
  value === undefined ? EMPTY : typeof value === 'string' ? Buffer.from(value, 'base64url') : undefined

/** On another thread. WebCrypto refuses a point that is not on the curve. */
async function agreedSecret(epk: unknown, privateKey: CryptoKey): Promise<Uint8Array | undefined> {
  if (!isObject(epk) || epk.kty !== 'EC' || epk.crv !== 'P-256') return undefined
  const { x, y } = epk
  if (typeof x !== 'string' || typeof y !== 'string') return undefined
  const point = pointOnP256(x, y)
  const ephemeral = await (point
    ? crypto.subtle.importKey('raw', point, ECDH, false, [])
    : crypto.subtle.importKey('jwk', { kty: 'EC', crv: 'P-256', x, y }, ECDH, false, []))
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: ephemeral }, privateKey, SECRET_BITS))
}

/** RFC 7518 § 4.6.2. One hash is as long as the longest key, so it is the only round. */
function derivedKey(secret: Uint8Array, algorithm: string, keyBytes: number, apu: Uint8Array, apv: Uint8Array): Buffer {
  const name = Buffer.from(algorithm, 'ascii')
  const input = [
    uint32(1),
    secret,
    uint32(name.length),
    name,
    uint32(apu.length),
    apu,
    uint32(apv.length),
    apv,
    uint32(8 * keyBytes),
  ]
  return hash('sha256', Buffer.concat(input), 'buffer').subarray(0, keyBytes)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
