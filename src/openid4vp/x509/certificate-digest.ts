import { sha256Hex } from '../../base/hash.ts'

/** SHA-256 of certificates. Several caches ask for the digest of the same bytes, which never change: they are hashed once. */
export class CertificateDigests {
  private readonly known = new WeakMap<Uint8Array, string>()

  of(der: Uint8Array): string {
    const known = this.known.get(der)
    if (known !== undefined) return known
    const digest = sha256Hex(der)
    this.known.set(der, digest)
    return digest
  }
}
