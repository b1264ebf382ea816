// Ephemeral keys of a session in person, on the NIST curves of ISO/IEC 18013-5 (table of cipher suite 1).
import { fromBase64, toBase64Url } from '../bytes.ts'
import type { Cbor } from '../cbor.ts'
import { demand } from '../wallet/request.ts'

/** COSE's number of each curve (RFC 9053 § 7.1), and the bits of what two keys agree on. */
const CURVES = { 'P-256': { id: 1, bits: 256 }, 'P-384': { id: 2, bits: 384 }, 'P-521': { id: 3, bits: 528 } } as const

export type Curve = keyof typeof CURVES
export type Point = { crv: Curve; x: string; y: string }
export type EphemeralKey = Point & { d: string }

const ecdh = (namedCurve: Curve) => ({ name: 'ECDH', namedCurve })

export async function newEphemeralKey(crv: Curve): Promise<EphemeralKey> {
  const { privateKey } = (await crypto.subtle.generateKey(ecdh(crv), true, ['deriveBits'])) as CryptoKeyPair
  const { x, y, d } = await crypto.subtle.exportKey('jwk', privateKey)
  return { crv, x: x!, y: y!, d: d! }
}

/** The shared secret Z. */
export async function agree({ crv, x, y, d }: EphemeralKey, other: Point): Promise<Uint8Array<ArrayBuffer>> {
  const own = await crypto.subtle.importKey('jwk', { kty: 'EC', crv, x, y, d }, ecdh(crv), false, ['deriveBits'])
  const jwk = { kty: 'EC', crv: other.crv, x: other.x, y: other.y }
  const theirs = await crypto.subtle.importKey('jwk', jwk, ecdh(other.crv), false, [])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: theirs }, own, CURVES[crv].bits))
}

/** A compressed point has the sign of y in its place (RFC 9053 § 7.1.1). */
export function curveKey({ crv, x, y }: Point, isCompressed = false): Map<number, Cbor> {
  const whole = fromBase64(y)
  return new Map<number, Cbor>([
    [1, 2],
    [-1, CURVES[crv].id],
    [-2, fromBase64(x)],
    [-3, isCompressed ? (whole.at(-1)! & 1) === 1 : whole],
  ])
}

export function readCurveKey(key: Cbor): Point {
  demand(key instanceof Map && key.get(1) === 2, 'the key of the reader is on no elliptic curve')
  const members = key as ReadonlyMap<number, Cbor>
  const crv = (Object.keys(CURVES) as Curve[]).find(name => CURVES[name].id === members.get(-1))
  const [x, y] = [members.get(-2), members.get(-3)]
  demand(crv && x instanceof Uint8Array && y instanceof Uint8Array, 'the key of the reader is on another curve, or no point')
  return { crv, x: toBase64Url(x), y: toBase64Url(y) }
}
