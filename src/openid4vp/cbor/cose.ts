// COSE_Sign1 (RFC 9052 § 4.2) as mdocs and CWT status lists use it: asymmetric algorithms of a
// fixed list, each bound to its curve, verified over the bytes as received. WebCrypto verifies on
// other threads, so the event loop stays free.

import { CERTIFICATE_BYTES_MAX, CERTIFICATES_MAX } from '../credential.ts'
import { parseCbor } from './cbor.ts'
import type { Curve, VerificationKey } from './cose-key.ts'
import { type Cbor, encodeCbor } from './encode.ts'
import { CborError, CborItem, type CborMap } from './item.ts'

export type Sign1 = {
  /** The content of the byte string, as received: these bytes are signed. */
  protectedBytes: Uint8Array
  protected: CborMap
  unprotected: CborMap
  /** Null when detached. */
  payload: Uint8Array | null
  signature: Uint8Array
  /** DER, leaf first; empty when there is none, or when it exceeds the limits. */
  x5chain: Uint8Array[]
}

const ALG = 1
const CRIT = 2
const X5CHAIN = 33
const SIGN1_TAG = 18

type Algorithm = { curve: Curve; hash: string; signatureBytes: number }
const P256 = { curve: 'P-256', hash: 'SHA-256', signatureBytes: 64 } as const
const P384 = { curve: 'P-384', hash: 'SHA-384', signatureBytes: 96 } as const
const P521 = { curve: 'P-521', hash: 'SHA-512', signatureBytes: 132 } as const
const ED25519 = { curve: 'Ed25519', hash: '', signatureBytes: 64 } as const

/**
 * RFC 9053 § 2, and the fully specified ones of RFC 9864. The older ones name no curve and are
 * bound as in ISO/IEC 18013-5 § 9.1.2.4.
 */
const ALGORITHMS = new Map<unknown, Algorithm>([
  [-7, P256],
  [-9, P256],
  [-35, P384],
  [-51, P384],
  [-36, P521],
  [-52, P521],
  [-8, ED25519],
  [-19, ED25519],
])

/** Accepts tagged and untagged input. Throws CborError for anything else than a COSE_Sign1. */
export function parseSign1(input: Uint8Array | CborItem): Sign1 {
  const item = input instanceof CborItem ? input : parseCbor(input)
  const parts = (item.tag === undefined ? item : item.asTagged(SIGN1_TAG)).asArray()
  const [protectedItem, unprotectedItem, payload, signature] = parts
  if (parts.length !== 4 || !protectedItem || !unprotectedItem || !payload || !signature) throw new CborError('not a COSE_Sign1')
  const protectedBytes = protectedItem.asBytes()
  const protectedHeaders: CborMap = protectedBytes.length === 0 ? new Map() : protectedItem.embedded().asMap()
  const unprotectedHeaders = unprotectedItem.asMap()
  for (const label of protectedHeaders.keys()) if (unprotectedHeaders.has(label)) throw new CborError('a header in two places')
  return {
    protectedBytes,
    protected: protectedHeaders,
    unprotected: unprotectedHeaders,
    payload: payload.isNull ? null : payload.asBytes(),
    signature: signature.asBytes(),
    // RFC 9360 allows either header; ISO/IEC 18013-5 § 9.1.2.4 uses the unprotected one.
    x5chain: readX5chain(unprotectedHeaders.get(X5CHAIN) ?? protectedHeaders.get(X5CHAIN)),
  }
}

function readX5chain(item: CborItem | undefined): Uint8Array[] {
  if (!item || (!item.isBytes && !item.isArray)) return []
  const items = item.isBytes ? [item] : item.asArray()
  if (items.length > CERTIFICATES_MAX || !items.every(({ isBytes }) => isBytes)) return []
  const certificates = items.map(certificate => certificate.asBytes())
  return certificates.every(({ length }) => length > 0 && length <= CERTIFICATE_BYTES_MAX) ? certificates : []
}

/** The algorithm is accepted, and is the one of this key. */
export const fitsKey = (sign1: Sign1, key: VerificationKey): boolean => algorithmOf(sign1)?.curve === key.curve

/** The accepted algorithm that the protected header names. */
export const algorithmOf = (sign1: Sign1): Algorithm | undefined => ALGORITHMS.get(sign1.protected.get(ALG)?.decode())

/** No critical header is known here, and an unknown one must be refused (RFC 9052 § 3.1). */
export const hasCritical = (sign1: Sign1): boolean => sign1.protected.has(CRIT) || sign1.unprotected.has(CRIT)

/** True if the signature is valid; never throws. A detached payload must not be embedded as well. */
export async function verifySign1(
  input: Uint8Array | Sign1,
  key: VerificationKey,
  { detachedPayload }: { detachedPayload?: Uint8Array } = {},
): Promise<boolean> {
  try {
    const sign1 = input instanceof Uint8Array ? parseSign1(input) : input
    const algorithm = algorithmOf(sign1)
    const payload = detachedPayload ?? sign1.payload
    if (!algorithm || !payload || (detachedPayload && sign1.payload)) return false
    if (!fitsKey(sign1, key) || hasCritical(sign1)) return false
    if (sign1.signature.length !== algorithm.signatureBytes) return false
    const parameters = algorithm.curve === 'Ed25519' ? 'Ed25519' : { name: 'ECDSA', hash: algorithm.hash }
    return await crypto.subtle.verify(
      parameters,
      key.key,
      new Uint8Array(sign1.signature),
      sigStructure(sign1.protectedBytes, payload),
    )
  } catch {
    // An error of WebCrypto or the parser means that the signature is not valid.
    return false
  }
}

const NO_EXTERNAL_DATA = new Uint8Array()

/** The signed bytes, RFC 9052 § 4.4. */
export const sigStructure = (protectedBytes: Uint8Array, payload: Uint8Array) =>
  encodeCbor(['Signature1', protectedBytes, NO_EXTERNAL_DATA, payload])

const ES256 = -7

/** A COSE_Sign1 over a payload that is not in it, with the chain in the unprotected header (RFC 9360 § 2). */
export async function signDetached(key: CryptoKey, chain: readonly Uint8Array[], payload: Uint8Array): Promise<Cbor> {
  const protectedBytes = encodeCbor(new Map([[ALG, ES256]]))
  const signed = sigStructure(protectedBytes, payload)
  const signature = new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, signed))
  return [protectedBytes, new Map([[X5CHAIN, chain.length === 1 ? chain[0]! : chain]]), null, signature]
}
