// The small local authority. A leaf of its own is not enough: wallets refuse a self-signed leaf
// (HAIP § 5), and people should install one authority once rather than each leaf. The authority is
// never sent; the operator hands it out.
import { KeyObject } from 'node:crypto'
import type { Random } from '../base/ids.ts'
import { isIP } from '../base/ip.ts'

const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 3650
const LEAF_DAYS = 730
export const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

export type IssuedCertificate = { chain: string; der: Uint8Array; privateKey: KeyObject; notAfter: number }

type Making = { at: number; random: Random }

/** The certificates of the first start. */
export async function issueOwnCertificates({
  host,
  at,
  random,
}: Making & { host: string }): Promise<{ authority: IssuedCertificate; leaf: IssuedCertificate }> {
  const authority = await issueAuthority({ name: `Vidimus ${host} Authority`, at, random })
  const leaf = await issueLeaf({ authority, name: `Vidimus ${host}`, hosts: [host], days: LEAF_DAYS, at, random })
  return { authority, leaf }
}

/** Valid for ten years; it signs leaves only. */
export async function issueAuthority({ name, at, random }: Making & { name: string }): Promise<IssuedCertificate> {
  const x509 = await library()
  const keys = await newKeyPair()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(random),
    name: `CN=${name}`,
    notBefore: new Date(at - DAY_MS),
    notAfter: new Date(at + AUTHORITY_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return issued(certificate, keys)
}

export type Authority = { chain: string; privateKey: KeyObject }

type Leaf = Making & {
  authority: Authority
  name: string
  /** Names and addresses it is valid for. */
  hosts: string[]
  days: number
  /** Adds serverAuth, which browsers require for https (RFC 5280 § 4.2.1.12). */
  forServers?: boolean
}

export async function issueLeaf({ authority, name, hosts, days, forServers, at, random }: Leaf): Promise<IssuedCertificate> {
  const x509 = await library()
  const keys = await newKeyPair()
  const issuer = new x509.X509Certificate(authority.chain)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(random),
    subject: `CN=${name}`,
    issuer: issuer.subject,
    notBefore: new Date(at - DAY_MS),
    notAfter: new Date(Math.min(at + days * DAY_MS, issuer.notAfter.getTime())),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await signingKeyOf(authority.privateKey),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      ...(forServers ? [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])] : []),
      new x509.SubjectAlternativeNameExtension(
        hosts.map(value => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(await issuer.publicKey.export()),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return issued(certificate, keys)
}

/** Loaded on use: issuing is rare, and the library is large. */
export async function library(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata')
  return await import('@peculiar/x509')
}

const newKeyPair = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

const signingKeyOf = (key: KeyObject) =>
  crypto.subtle.importKey('pkcs8', key.export({ format: 'der', type: 'pkcs8' }), ALGORITHM, false, ['sign'])

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
