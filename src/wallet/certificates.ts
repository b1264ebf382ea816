// The certificate of the first start: a leaf under a small authority of its own, because wallets refuse a self-signed leaf (HAIP § 5). The
// authority is never sent; an operator hands it to wallets that should trust this service.
import { KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import type { Random } from '../ids.ts'

const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 3650
const LEAF_DAYS = 730
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

export type IssuedCertificate = { chain: string; der: Uint8Array; privateKey: KeyObject; notAfter: number }

type Making = { host: string; at: number; random: Random }

export async function issueOwnCertificates({
  host,
  at,
  random,
}: Making): Promise<{ authority: IssuedCertificate; leaf: IssuedCertificate }> {
  // Loaded only here: building certificates is rare, and the library is large.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const [authorityKeys, leafKeys] = await Promise.all([newKeyPair(), newKeyPair()])

  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(random),
    name: `CN=Vidimus ${host} Authority`,
    notBefore: new Date(at - DAY_MS),
    notAfter: new Date(at + AUTHORITY_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys: authorityKeys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(random),
    subject: `CN=Vidimus ${host}`,
    issuer: authority.subject,
    notBefore: new Date(at - DAY_MS),
    notAfter: new Date(at + LEAF_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    publicKey: leafKeys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.SubjectAlternativeNameExtension([{ type: isIP(host) ? 'ip' : 'dns', value: host }]),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(leafKeys.publicKey),
    ],
  })
  return { authority: issued(authority, authorityKeys), leaf: issued(leaf, leafKeys) }
}

const newKeyPair = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

/** Positive and unguessable (RFC 5280 § 4.1.2.2). */
function serialNumber(random: Random): string {
  const bytes = Buffer.from(random(16))
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes.toString('hex')
}

type Certificate = { toString(format: 'pem'): string; rawData: ArrayBuffer; notAfter: Date }

const issued = (certificate: Certificate, { privateKey }: CryptoKeyPair): IssuedCertificate => ({
  chain: certificate.toString('pem'),
  der: new Uint8Array(certificate.rawData),
  privateKey: KeyObject.from(privateKey),
  notAfter: certificate.notAfter.getTime(),
})
