// The key and the dates of the certificate that signed a credential or a status list. Trust in it is judged elsewhere (trust.ts).
import { X509Certificate } from 'node:crypto'
import { Lru } from '../../base/lru.ts'
import { type Curve, importKey, type VerificationKey } from '../cbor/cose-key.ts'
import { CertificateDigests } from '../x509/certificate-digest.ts'

/** Times in milliseconds. No key when it is of a kind that is not accepted. */
export type SignerCertificate = { key: VerificationKey | undefined; notBefore: number; notAfter: number }

const CERTIFICATES_KEPT_MAX = 256

/** The certificates used last: an issuer signs many credentials with the same one. */
export class SignerCertificates {
  private readonly kept = new Lru<Promise<SignerCertificate | undefined>>({ countMax: CERTIFICATES_KEPT_MAX })

  constructor(private readonly digests = new CertificateDigests()) {}

  read(der: Uint8Array): Promise<SignerCertificate | undefined> {
    const digest = this.digests.of(der)
    const known = this.kept.get(digest)
    if (known) return known
    const certificate = readSignerCertificate(der)
    this.kept.set(digest, certificate)
    return certificate
  }
}

const CURVES: Record<string, Curve> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' }

/** Undefined when the bytes are not exactly one DER certificate; never throws. */
export async function readSignerCertificate(der: Uint8Array): Promise<SignerCertificate | undefined> {
  try {
    const certificate = new X509Certificate(der)
    // The class also accepts PEM, and ignores bytes after the certificate.
    if (!certificate.raw.equals(der)) return undefined
    const { publicKey } = certificate
    const curve = publicKey.asymmetricKeyType === 'ed25519' ? 'Ed25519' : CURVES[publicKey.asymmetricKeyDetails?.namedCurve ?? '']
    return {
      key: curve && (await importKey('spki', curve, publicKey.export({ type: 'spki', format: 'der' }))),
      notBefore: Date.parse(certificate.validFrom),
      notAfter: Date.parse(certificate.validTo),
    }
  } catch {
    // Not a certificate.
    return undefined
  }
}
