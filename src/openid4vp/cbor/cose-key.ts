// Public keys from a COSE_Key (RFC 9053 § 7): for signatures, and as points for an agreement. A key that cannot be used is undefined.
import type { CborItem, CborMap } from './item.ts'

export type EcCurve = 'P-256' | 'P-384' | 'P-521'
export type Curve = EcCurve | 'Ed25519'
export type VerificationKey = { curve: Curve; key: CryptoKey }
export type AgreementKey = { curve: EcCurve; key: CryptoKey }

const KTY = 1
const CRV = -1
const X = -2
const Y = -3
const D = -4

const KTY_OKP = 1
const KTY_EC2 = 2
const EC2_CURVES = new Map<unknown, { curve: EcCurve; size: number }>([
  [1, { curve: 'P-256', size: 32 }],
  [2, { curve: 'P-384', size: 48 }],
  [3, { curve: 'P-521', size: 66 }],
])
const CRV_ED25519 = 6

/** Never throws. A private key in place of a public one is refused: it is no longer secret. */
export async function readCoseKey(item: CborItem): Promise<VerificationKey | undefined> {
  if (!item.isMap) return undefined
  const members = item.asMap()
  const [kty, crv, x] = [KTY, CRV, X].map(label => members.get(label)?.decode())
  if (kty === KTY_OKP && crv === CRV_ED25519 && x instanceof Uint8Array && !members.has(D)) return importKey('raw', 'Ed25519', x)
  const point = pointOf(members)
  return point && importKey('raw', point.curve, point.encoded)
}

/** Encoded as in SEC 1 § 2.3.3. It may lie off its curve: WebCrypto refuses it then. */
export type EcPoint = { curve: EcCurve; encoded: Uint8Array<ArrayBuffer> }

/** Undefined for a private key too. */
export function pointOf(members: CborMap): EcPoint | undefined {
  const [kty, crv, x, y] = [KTY, CRV, X, Y].map(label => members.get(label)?.decode())
  const form = EC2_CURVES.get(crv)
  if (members.has(D) || kty !== KTY_EC2 || !form || !(x instanceof Uint8Array) || x.length !== form.size) return undefined
  const encoded = encodePoint(x, y)
  return encoded && { curve: form.curve, encoded }
}

/** True for a key of a kind that is well known and not computed with here, such as Brainpool or X448. */
export function isOfOtherCurve(members: CborMap): boolean {
  const [kty, crv] = [KTY, CRV].map(label => members.get(label)?.decode())
  return typeof crv === 'number' && (kty === KTY_OKP || (kty === KTY_EC2 && !EC2_CURVES.has(crv)))
}

export type EcJwk = { crv: string; x: string; y: string }

export const coseKeyOf = ({ crv, x, y }: EcJwk): Map<number, number | Uint8Array> =>
  new Map<number, number | Uint8Array>([
    [KTY, KTY_EC2],
    [CRV, [...EC2_CURVES].find(([, { curve }]) => curve === crv)![0] as number],
    [X, Buffer.from(x, 'base64url')],
    [Y, Buffer.from(y, 'base64url')],
  ])

/** `y` is the coordinate, or its sign bit as a boolean. */
function encodePoint(x: Uint8Array, y: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof y === 'boolean') return Buffer.concat([Uint8Array.of(y ? 3 : 2), x])
  if (!(y instanceof Uint8Array) || y.length !== x.length) return undefined
  const point = new Uint8Array(1 + x.length + y.length)
  point[0] = 4
  point.set(x, 1)
  point.set(y, 1 + x.length)
  return point
}

export async function importKey(format: 'raw' | 'spki', curve: Curve, bytes: Uint8Array): Promise<VerificationKey | undefined> {
  const parameters = curve === 'Ed25519' ? curve : { name: 'ECDSA', namedCurve: curve }
  return await imported(curve, crypto.subtle.importKey(format, new Uint8Array(bytes), parameters, false, ['verify']))
}

/** To agree on a secret with. The cofactor of these curves is 1, so a point of the curve is a key. */
export const importPoint = ({ curve, encoded }: EcPoint): Promise<AgreementKey | undefined> =>
  imported(curve, crypto.subtle.importKey('raw', encoded, { name: 'ECDH', namedCurve: curve }, false, []))

/** Undefined for what is not a point of the curve, or not a key at all. */
const imported = <Of extends Curve>(curve: Of, importing: Promise<CryptoKey>) =>
  importing.then(
    key => ({ curve, key }),
    () => undefined,
  )
