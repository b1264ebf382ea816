// Signatures of JWTs. The key decides the algorithm and the header has to match (RFC 8725 § 3.1),
// so nobody can choose `none`, an HMAC keyed with public data, or another curve. Key material in a
// header (`jwk`, `jku`, `x5u`, `kid`) is ignored.
import { importJWK } from 'jose'
import type { SignerCertificate } from '../trust/signer-certificate.ts'

const ALGORITHMS = {
  'P-256': { alg: 'ES256', verify: { name: 'ECDSA', hash: 'SHA-256' } },
  'P-384': { alg: 'ES384', verify: { name: 'ECDSA', hash: 'SHA-384' } },
  Ed25519: { alg: 'EdDSA', verify: { name: 'Ed25519' } },
} as const
type Curve = keyof typeof ALGORITHMS

type SignedText = { text: string; alg: unknown; key: CryptoKey }

/** WebCrypto instead of node:crypto: a single call is slower, but it runs on another thread. */
export async function isSignedBy({ text, alg, key }: SignedText): Promise<boolean> {
  const algorithm = algorithmOf(key)
  if (!algorithm || alg !== algorithm.alg) return false
  const end = text.lastIndexOf('.')
  const signature = Buffer.from(text.slice(end + 1), 'base64url')
  return crypto.subtle.verify(algorithm.verify, key, signature, UTF_8.encode(text.slice(0, end)))
}

const UTF_8 = new TextEncoder()

/** The algorithm that a signature with this key must name, if `alg` is another. */
export function otherAlgorithm(alg: unknown, key: CryptoKey): string | undefined {
  const algorithm = algorithmOf(key)?.alg
  return alg === algorithm ? undefined : algorithm
}

function algorithmOf({ algorithm }: CryptoKey): (typeof ALGORITHMS)[Curve] | undefined {
  const curve = 'namedCurve' in algorithm ? algorithm.namedCurve : algorithm.name
  return isCurve(curve) ? ALGORITHMS[curve] : undefined
}

const isCurve = (curve: unknown): curve is Curve => typeof curve === 'string' && Object.hasOwn(ALGORITHMS, curve)

/** The key of a certificate, if JWTs signed with its kind of key are accepted. */
export const jwtKeyOf = ({ key }: SignerCertificate): CryptoKey | undefined => (key && isCurve(key.curve) ? key.key : undefined)

/** Undefined unless it is a public key of an accepted kind. Other members (`use`, `alg`, `kid` …) are ignored. */
export async function importPublicJwk({ kty, crv, x, y, d }: Record<string, unknown>): Promise<CryptoKey | undefined> {
  if (d !== undefined || typeof x !== 'string' || !isCurve(crv)) return undefined
  const isEdwards = crv === 'Ed25519'
  if (kty !== (isEdwards ? 'OKP' : 'EC') || (!isEdwards && typeof y !== 'string')) return undefined
  const jwk = isEdwards ? { kty: 'OKP', crv, x } : { kty: 'EC', crv, x, y: String(y) }
  // A point that is not on the curve is refused.
  const key = await importJWK(jwk, ALGORITHMS[crv].alg).catch(() => undefined)
  return key instanceof CryptoKey ? key : undefined
}
