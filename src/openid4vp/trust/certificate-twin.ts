// An ECDSA signature (r, s) is also valid as (r, n - s). So the sender of a certificate can give it
// a second form, with another fingerprint, without the key of its issuer.

import { DerReader, readBitString, readDer, TAG } from '../x509/der.ts'
import type { Certificate } from '../x509/x509.ts'

/** SEC 2 § 2: the order n of each curve. */
const ORDERS = {
  'P-256': 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  'P-384': 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  'P-521':
    0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
}

/**
 * The other form of a certificate that this issuer signed, as DER; undefined for a signature that
 * is not ECDSA.
 */
export function twinOf({ der }: Pick<Certificate, 'der'>, { key: { curve } }: Pick<Certificate, 'key'>): Uint8Array | undefined {
  if (!curve) return undefined
  const outer = new DerReader(readDer(der, TAG.sequence).content)
  const [signed, algorithm] = [outer.next(), outer.next()]
  const signature = new DerReader(readDer(readBitString(outer.next(TAG.bitString).content).bytes, TAG.sequence).content)
  const r = signature.next(TAG.integer)
  const s = BigInt(`0x${Buffer.from(signature.next(TAG.integer).content).toString('hex')}`)
  const twin = element(TAG.sequence, r.raw, integer(ORDERS[curve] - s))
  return element(TAG.sequence, signed.raw, algorithm.raw, element(TAG.bitString, Uint8Array.of(0), twin))
}

/** A positive number; a zero keeps its first bit from being a sign. */
function integer(value: bigint): Uint8Array {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return bytes[0]! < 0x80 ? element(TAG.integer, bytes) : element(TAG.integer, Uint8Array.of(0), bytes)
}

/** An element of less than 64 KiB, which certificates stay below. */
function element(tag: number, ...parts: Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts)
  const { length } = content
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Uint8Array.of(tag, ...head), content])
}
