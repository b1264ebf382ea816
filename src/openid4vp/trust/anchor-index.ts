// The anchors of an environment, found by the names and the certificates of a chain: judging with a
// thousand of them costs as much as with ten, also for a chain that leads to none.

import { CertificateDigests } from '../x509/certificate-digest.ts'
import { type Certificate, describeCertificate } from '../x509/x509.ts'
import { covers, isForDocuments, type TrustAnchor } from './trust-anchor.ts'

export type IndexedAnchor = {
  anchor: TrustAnchor
  certificate: Certificate
  /** SHA-256 of the certificate, in hex. */
  digest: string
  order: number
}

/** Reads the certificates of anchors once: many indexes in a row have the same ones. */
export class AnchorCertificates {
  private readonly known = new WeakMap<Uint8Array, Certificate>()
  private readonly digests = new CertificateDigests()

  /** Undefined if it cannot be read. */
  read(der: Uint8Array): { certificate: Certificate; digest: string } | undefined {
    const certificate = this.known.get(der) ?? describeCertificate(der)
    if (!certificate) return undefined
    this.known.set(der, certificate)
    return { certificate, digest: this.digests.of(der) }
  }
}

export class AnchorIndex {
  private readonly bySubject = new Map<string, IndexedAnchor[]>()
  private readonly byDigest = new Map<string, IndexedAnchor[]>()
  /** Types of documents that issuers are trusted for. */
  private readonly trustedFor = new Set<string | null>()

  /** The first of several anchors for a chain counts. `blocked` are the digests of certificates that no path may contain. */
  constructor(
    anchors: readonly TrustAnchor[],
    private readonly blocked: ReadonlySet<string> = new Set(),
    certificates = new AnchorCertificates(),
  ) {
    for (const [order, anchor] of anchors.entries()) {
      if (isForDocuments(anchor)) this.trustedFor.add(anchor.trustedFor)
      const read = certificates.read(anchor.certificate)
      if (!read) continue
      const indexed = { anchor, order, ...read }
      add(this.bySubject, read.certificate.subject.prepared, indexed)
      add(this.byDigest, read.digest, indexed)
    }
  }

  /** True without an issuer of documents. */
  get isEmpty(): boolean {
    return this.trustedFor.size === 0
  }

  hasIssuersFor(type: string): boolean {
    if (this.trustedFor.has(null) || this.trustedFor.has(type)) return true
    for (const trustedFor of this.trustedFor) if (covers(trustedFor, type)) return true
    return false
  }

  /** This anchor alone, with the same blocks. */
  only(anchor: TrustAnchor): AnchorIndex {
    return new AnchorIndex([anchor], this.blocked)
  }

  isBlocked(digest: string): boolean {
    return this.blocked.has(digest)
  }

  /**
   * The anchors that a chain may lead to, in their order: those that are in it, and those whose
   * subject a certificate of it names as its issuer (RFC 5280 § 6.1).
   */
  reachableFrom(chain: readonly Certificate[], digests: readonly string[]): readonly IndexedAnchor[] {
    const found = new Set<IndexedAnchor>()
    for (const [index, { issuer }] of chain.entries()) {
      for (const anchor of this.byDigest.get(digests[index] ?? '') ?? []) found.add(anchor)
      for (const anchor of this.bySubject.get(issuer.prepared) ?? []) found.add(anchor)
    }
    return [...found].sort((a, b) => a.order - b.order)
  }
}

function add(index: Map<string, IndexedAnchor[]>, key: string, anchor: IndexedAnchor): void {
  const others = index.get(key)
  if (others) others.push(anchor)
  else index.set(key, [anchor])
}
