// Public keys for COSE signatures, from a COSE_Key (RFC 9053 § 7). A key that cannot be used is undefined.
import type { CborItem } from './item.ts'

export type Curve = 'P-256' | 'P-384' | 'P-521' | 'Ed25519'
export type VerificationKey = { curve: Curve; key: CryptoKey }

const KTY = 1
const CRV = -1
const X = -2
const Y = -3
const D = -4

const KTY_OKP = 1
const KTY_EC2 = 2
const EC2_CURVES = new Map<unknown, { curve: Curve; size: number }>([
  [1, { curve: 'P-256', size: 32 }],
  [2, { curve: 'P-384', size: 48 }],
  [3, { curve: 'P-521', size: 66 }],
])
const CRV_ED25519 = 6

/** Never throws. A private key in place of a public one is refused: it is no longer secret. */
export async function readCoseKey(item: CborItem): Promise<VerificationKey | undefined> {
  if (!item.isMap) return undefined
  const members = item.asMap()
  const value = (label: number) => members.get(label)?.decode()
  const [kty, crv, x, y] = [value(KTY), value(CRV), value(X), value(Y)]
  if (members.has(D) || !(x instanceof Uint8Array)) return undefined
  if (kty === KTY_OKP && crv === CRV_ED25519) return importRaw('Ed25519', x)
  const form = EC2_CURVES.get(crv)
  if (kty !== KTY_EC2 || !form || x.length !== form.size) return undefined
  const point = encodePoint(x, y)
  return point && importRaw(form.curve, point)
}

/** SEC 1 § 2.3.3; y is the coordinate, or its sign bit as a boolean. WebCrypto refuses a point that is not on the curve. */
function encodePoint(x: Uint8Array, y: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof y === 'boolean') return Buffer.concat([Uint8Array.of(y ? 3 : 2), x])
  if (!(y instanceof Uint8Array) || y.length !== x.length) return undefined
  const point = new Uint8Array(1 + x.length + y.length)
  point[0] = 4
  point.set(x, 1)
  point.set(y, 1 + x.length)
  return point
}

const importRaw = (curve: Curve, raw: Uint8Array) => importKey('raw', curve, raw)

export async function importKey(format: 'raw' | 'spki', curve: Curve, bytes: Uint8Array): Promise<VerificationKey | undefined> {
  const parameters = curve === 'Ed25519' ? curve : { name: 'ECDSA', namedCurve: curve }
  try {
    return { curve, key: await crypto.subtle.importKey(format, new Uint8Array(bytes), parameters, false, ['verify']) }
  } catch {
    // Not a point of the curve, or not a key at all.
    return undefined
  }
}
