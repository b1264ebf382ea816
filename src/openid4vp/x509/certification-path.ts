// RFC 5280 § 6.1, for a chain in order (RFC 7515 § 4.1.6, RFC 9360 § 2): leaf first, each
// certificate issued by the next. There is no path search: an unordered chain or an unrelated
// certificate is refused. The caller checks dates and revocation lists.

import { X509Certificate } from 'node:crypto'
import { CERTIFICATE_BYTES_MAX, CERTIFICATES_MAX } from '../credential.ts'
import { isSameName } from './distinguished-name.ts'
import { findKeyPurposeProblem, type TrustUse } from './key-purposes.ts'
import { type Certificate, describeCertificate, type KeyUsage } from './x509.ts'

export type LinkedChain = { ok: true; certificates: [Certificate, ...Certificate[]] } | { ok: false; detail: string }

const RSA_BITS_MIN = 2048

/**
 * ECDSA, RSA and RSA-PSS with SHA-2, and Ed25519, with their hash; nothing with SHA-1 or older.
 * RSA-PSS names its hash in its parameters.
 */
export const SIGNATURE_HASHES: ReadonlyMap<string, string | null> = new Map([
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  ['1.2.840.113549.1.1.10', null],
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.3.101.112', null],
])

const SIGNING: readonly KeyUsage[] = ['digitalSignature', 'contentCommitment']

/** The chain as sent, if every certificate is sound and issued by the next one. Trust is not judged. */
export function linkChain(chain: readonly Uint8Array[]): LinkedChain {
  if (chain.length === 0) return refuse('The credential came without the certificate of its issuer.')
  if (chain.length > CERTIFICATES_MAX) {
    return refuse(`The issuer sent more than ${CERTIFICATES_MAX} certificates, which is more than any issuer needs.`)
  }
  if (chain.some(der => der.length > CERTIFICATE_BYTES_MAX)) return refuse('A certificate of the issuer is too large.')
  // Copies: a remembered path must not keep the whole presentation in memory.
  const [leaf, ...others] = chain.flatMap(der => describeCertificate(new Uint8Array(der)) ?? [])
  if (!leaf || others.length + 1 !== chain.length) return refuse('A certificate of the issuer cannot be read.')

  const certificates: [Certificate, ...Certificate[]] = [leaf, ...others]
  if (new Set(chain.map(der => Buffer.from(der).toString('latin1'))).size !== chain.length) {
    return refuse('The issuer sent the same certificate twice.')
  }
  if (!certificates.every(hasStrongKey)) {
    return refuse(`A certificate of the issuer has a key that is too weak or of a kind that is not accepted (${ACCEPTED_KEYS}).`)
  }
  const isLinked = others.every((issuer, index) => isIssuedBy(certificates[index] ?? leaf, issuer))
  return isLinked
    ? { ok: true, certificates }
    : refuse("The issuer's certificates are not in order: each must be issued by the next.")
}

export const ACCEPTED_KEYS = `P-256, P-384, P-521, Ed25519, or RSA from ${RSA_BITS_MIN} bits`

function refuse(detail: string): LinkedChain {
  return { ok: false, detail }
}

export function hasStrongKey({ key }: Certificate): boolean {
  switch (key.algorithm) {
    case 'ec':
      return key.curve !== undefined
    case 'rsa':
    case 'rsa-pss':
      return (key.bits ?? 0) >= RSA_BITS_MIN
    case 'ed25519':
      return true
    case 'other':
      return false
  }
}

/** Compares the names, the signature, and the key identifiers if both certificates have one. */
export function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  const { authorityKeyIdentifier: wanted } = certificate
  const { subjectKeyIdentifier: offered } = issuer
  return (
    isSameName(certificate.issuer, issuer.subject) &&
    (!wanted || !offered || isSame(wanted, offered)) &&
    SIGNATURE_HASHES.has(certificate.signatureAlgorithm) &&
    isSignedBy(certificate, issuer)
  )
}

export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function isSignedBy(certificate: Certificate, issuer: Certificate): boolean {
  try {
    return new X509Certificate(certificate.der).verify(new X509Certificate(issuer.der).publicKey)
  } catch {
    // A certificate that the library cannot read or verify counts as not signed.
    return false
  }
}

/**
 * The certificates from leaf to anchor, both included; undefined when the chain does not lead
 * there. The anchor may be part of the chain.
 */
export function pathTo(certificates: readonly Certificate[], anchor: Certificate): Certificate[] | undefined {
  for (const [index, certificate] of certificates.entries()) {
    const below = certificates.slice(0, index + 1)
    if (isSame(certificate.der, anchor.der)) return below
    if (isIssuedBy(certificate, anchor)) return [...below, anchor]
  }
  return undefined
}

/**
 * The reason why a path is invalid at any time. A leaf that is its own anchor was chosen by the
 * operator and is accepted as it is.
 */
export function findPathProblem(path: readonly Certificate[], use: TrustUse): string | undefined {
  return path.length < 2 ? undefined : (findLimitProblem(path) ?? findKeyPurposeProblem(path, use))
}

/** The limits that certificates set for those below them, except for purposes. */
export function findLimitProblem([leaf, ...authorities]: readonly Certificate[]): string | undefined {
  const path = leaf ? [leaf, ...authorities] : []
  const limit = path.flatMap(({ unchecked }) => unchecked)[0]
  if (limit) return `A certificate of the issuer has ${limit}, which cannot be checked here.`
  if (path.some(({ unknownCritical }) => unknownCritical.length > 0)) {
    return 'A certificate of the issuer has a critical extension that is not known here, so its limits cannot be checked.'
  }
  if (!authorities.every(hasStrongKey)) return `The trusted certificate has a key that is not accepted (${ACCEPTED_KEYS}).`
  if (authorities.some(({ basicConstraints }) => !basicConstraints?.ca)) {
    return "The issuer's certificate is issued by one that is not a certificate authority."
  }
  // RFC 5280 § 6.1.4 (n): applies only if there is a key usage.
  if (authorities.some(({ keyUsage }) => keyUsage && !keyUsage.usages.includes('keyCertSign'))) {
    return "The issuer's certificate is issued by one that may not issue certificates."
  }
  if (authorities.some((authority, index) => isPathTooLong(authority, authorities.slice(0, index)))) {
    return 'There are more certificates between the issuer and the trusted one than that one allows.'
  }
  return leaf?.keyUsage && !leaf.keyUsage.usages.some(usage => SIGNING.includes(usage))
    ? "The issuer's certificate is not made for signing credentials."
    : undefined
}

// § 6.1.4 (l), (m): self-issued certificates do not count.
function isPathTooLong({ basicConstraints }: Certificate, below: readonly Certificate[]): boolean {
  const length = below.filter(({ subject, issuer }) => !isSameName(subject, issuer)).length
  return length > (basicConstraints?.pathLength ?? CERTIFICATES_MAX)
}
