import { flipLastBit, fromBase64 } from './bytes.ts'
import { type Cbor, encodeCbor, Tag } from './cbor.ts'
import { type PrivateJwk, signEs256 } from './es256.ts'

export const COSE_X5CHAIN = 33
const COSE_ALG = 1
const ES256 = -7

export type Sign1 = readonly [
  header: Uint8Array,
  unprotected: ReadonlyMap<number, Cbor>,
  payload: Uint8Array | null,
  signature: Uint8Array,
]

type Signing = {
  key: PrivateJwk
  payload: Uint8Array
  /** The payload is signed but not included (RFC 9052 § 4.1). */
  isDetached?: boolean
  protectedHeader?: ReadonlyMap<number, Cbor>
  unprotectedHeader?: ReadonlyMap<number, Cbor>
}

/** Untagged, as ISO 18013-5 uses it. */
export async function coseSign1({ key, payload, isDetached, protectedHeader, unprotectedHeader }: Signing): Promise<Sign1> {
  const header = encodeCbor(new Map<number, Cbor>([[COSE_ALG, ES256], ...(protectedHeader ?? [])]))
  const signature = await signEs256(key, encodeCbor(['Signature1', header, new Uint8Array(), payload]))
  return [header, unprotectedHeader ?? new Map(), isDetached ? null : payload, signature]
}

export const coseTagged = (sign1: Sign1): Uint8Array<ArrayBuffer> => encodeCbor(new Tag(sign1, 18))

/** With the last bit of the signature flipped. */
export const withFlippedSignature = ([header, unprotected, payload, signature]: Sign1): Sign1 => [
  header,
  unprotected,
  payload,
  flipLastBit(signature),
]

/** One certificate is sent alone, several in an array (RFC 9360 § 2). */
export const x5chain = (chain: readonly Uint8Array[]): Cbor => (chain.length === 1 ? chain[0]! : chain)

/** COSE's number of each curve (RFC 9053 § 7.1). */
export const CURVES = { 'P-256': 1, 'P-384': 2, 'P-521': 3 } as const

export const coseKey = ({ crv, x, y }: { crv: keyof typeof CURVES; x: string; y: string }): Map<number, Cbor> =>
  new Map<number, Cbor>([
    [1, 2],
    [-1, CURVES[crv]],
    [-2, fromBase64(x)],
    [-3, fromBase64(y)],
  ])
