// Ephemeral keys of a session in person, on the NIST curves of ISO/IEC 18013-5 (table of cipher suite 1).
import { toBase64Url } from '../bytes.ts'
import type { Cbor } from '../cbor.ts'
import { CURVES } from '../cose.ts'
import { demand } from '../wallet/request.ts'

export type Curve = keyof typeof CURVES
export type Point = { kty: 'EC'; crv: Curve; x: string; y: string }
export type EphemeralKey = Point & { d: string }

const ecdh = (namedCurve: Curve) => ({ name: 'ECDH', namedCurve })

export async function newEphemeralKey(curve: Curve): Promise<EphemeralKey> {
  const { privateKey } = (await crypto.subtle.generateKey(ecdh(curve), true, ['deriveBits'])) as CryptoKeyPair
  return (await crypto.subtle.exportKey('jwk', privateKey)) as EphemeralKey
}

/** The shared secret Z. */
export async function agree(own: EphemeralKey, other: Point): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('jwk', own, ecdh(own.crv), false, ['deriveBits'])
  const theirs = await crypto.subtle.importKey('jwk', other, ecdh(other.crv), false, [])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: theirs }, key, null))
}

export function readCurveKey(key: Cbor): Point {
  demand(key instanceof Map && key.get(1) === 2, 'the key of the reader is on no elliptic curve')
  const [curve, x, y] = [-1, -2, -3].map(label => key.get(label) as Cbor)
  const crv = (Object.keys(CURVES) as Curve[]).find(name => CURVES[name] === curve)
  demand(crv && x instanceof Uint8Array && y instanceof Uint8Array, 'the key of the reader is on another curve, or no point')
  return { kty: 'EC', crv, x: toBase64Url(x), y: toBase64Url(y) }
}
