// Certificates made for a test: what is not given is that of a plain, valid one.
import 'reflect-metadata'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  CertificatePolicyExtension,
  CRLDistributionPointsExtension,
  cryptoProvider,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
  X509CrlGenerator,
  X509CrlReason,
} from '@peculiar/x509'

cryptoProvider.set(crypto)

export const NOW = Date.parse('2026-11-15T00:00:00Z')
export const DAY_MS = 86_400_000
export const DOCUMENT_SIGNER = '1.0.18013.5.1.2'

export type Named = string | Name

/** With string types of one's choice, and several attributes in a relative name. */
export const nameOf = (relativeNames: Record<string, { [type: string]: string }[] | string[]>[]): Name =>
  new Name(relativeNames as ConstructorParameters<typeof Name>[0])

export type Issued = { der: Uint8Array; keys: CryptoKeyPair; name: Named }

export type Wanted = {
  name?: Named
  /** Self-signed without one. */
  issuer?: Pick<Issued, 'keys' | 'name'>
  keys?: CryptoKeyPair
  notBefore?: number
  notAfter?: number
  extensions?: Extension[]
  /** Hash of the signature. */
  hash?: 'SHA-256' | 'SHA-1'
}

type Algorithm = EcKeyGenParams | RsaHashedKeyGenParams

const P256: Algorithm = { name: 'ECDSA', namedCurve: 'P-256' }

export async function makeKeys(algorithm: Algorithm = P256): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

let serial = 0

export async function issue(wanted: Wanted): Promise<Issued> {
  const keys = wanted.keys ?? (await makeKeys())
  const name = wanted.name ?? 'C=NL, CN=Test Issuer'
  const signer = wanted.issuer ?? { keys, name }
  const hash = signer.keys.publicKey.algorithm.name === 'Ed25519' ? {} : { hash: wanted.hash ?? 'SHA-256', saltLength: 32 }
  const certificate = await X509CertificateGenerator.create({
    serialNumber: (++serial).toString(16).padStart(4, '0'),
    subject: name,
    issuer: signer.name,
    notBefore: new Date(wanted.notBefore ?? NOW - 30 * DAY_MS),
    notAfter: new Date(wanted.notAfter ?? NOW + 300 * DAY_MS),
    publicKey: keys.publicKey,
    signingKey: signer.keys.privateKey,
    signingAlgorithm: { name: signer.keys.publicKey.algorithm.name, ...hash },
    extensions: wanted.extensions ?? [],
  })
  return { der: new Uint8Array(certificate.rawData), keys, name }
}

/** A certificate authority: CA and keyCertSign, unless `extensions` says otherwise. */
export async function issueAuthority({ pathLength, ...wanted }: Wanted & { pathLength?: number } = {}): Promise<Issued> {
  return issue({ name: 'C=NL, CN=Test Root', extensions: [isAuthority(pathLength), signsCertificates()], ...wanted })
}

export const isAuthority = (pathLength?: number, critical = true) => new BasicConstraintsExtension(true, pathLength, critical)
export const isNoAuthority = () => new BasicConstraintsExtension(false, undefined, true)
export const signsCertificates = () => new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true)
export const usages = (flags: KeyUsageFlags, critical = true) => new KeyUsagesExtension(flags, critical)
export const purposes = (oids: string[], critical = true) => new ExtendedKeyUsageExtension(oids, critical)
export const keyIdentifier = ({ publicKey }: CryptoKeyPair) => SubjectKeyIdentifierExtension.create(publicKey)
export const authorityKey = ({ publicKey }: CryptoKeyPair) => AuthorityKeyIdentifierExtension.create(publicKey)
export const wrongKeyIdentifier = () => new SubjectKeyIdentifierExtension('00'.repeat(20))
export const unknownCritical = () => new Extension('1.3.6.1.4.1.99999.1', true, Uint8Array.of(5, 0))
/** One e-mail address. */
export const issuerAltName = () =>
  new Extension('2.5.29.18', false, Uint8Array.of(0x30, 0x06, 0x81, 0x04, 0x61, 0x40, 0x62, 0x63))
export const crlPoint = (...uris: string[]) =>
  new CRLDistributionPointsExtension(uris.length > 0 ? uris : ['https://issuer.example/crl'])

/** ETSI TS 119 411-8: natural or legal person, with or without a qualified certificate. */
export const ACCESS_POLICY = '0.4.0.194118.1.2'
export const policies = (...oids: string[]) => new CertificatePolicyExtension(oids)
export const contacts = (...names: { type: 'email' | 'url' | 'dns'; value: string }[]) =>
  new SubjectAlternativeNameExtension(names)
/** One statement: the certificate is a qualified one (EN 319 412-5 § 4.2.1). */
export const qcStatements = (critical: boolean) =>
  new Extension('1.3.6.1.5.5.7.1.3', critical, Buffer.from('300a3008060604008e460101', 'hex'))

/** A relying party's access certificate in the profile of TS 119 411-8, unless `wanted` says otherwise. */
export async function issueAccess(wanted: Wanted & { organization?: string } = {}): Promise<Issued> {
  const name = `C=DE, O=Corner Shop GmbH, 2.5.4.97=${wanted.organization ?? 'VATDE-123456789'}, CN=Corner Shop`
  return await issue({ name, extensions: accessExtensions(), ...wanted })
}

export const accessExtensions = () => [
  usages(KeyUsageFlags.digitalSignature | KeyUsageFlags.nonRepudiation),
  contacts({ type: 'email', value: 'help@shop.example' }, { type: 'dns', value: 'verify.example' }),
  policies(ACCESS_POLICY),
  crlPoint('https://access.example/crl'),
  qcStatements(false),
]

export const pemOf = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der)
    .toString('base64')
    .replace(/(.{64})(?=.)/g, '$1\n')}\n-----END CERTIFICATE-----\n`

export type WantedCrl = { revoked?: string[]; thisUpdate?: number; nextUpdate?: number; extensions?: Extension[]; name?: string }

/** A revocation list, DER. `revoked` are serial numbers in hex. */
export async function makeCrl(
  { keys, name }: Pick<Issued, 'keys' | 'name'>,
  wanted: WantedCrl = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const at = wanted.thisUpdate ?? NOW - DAY_MS
  const crl = await X509CrlGenerator.create({
    issuer: wanted.name ?? name,
    thisUpdate: new Date(at),
    nextUpdate: new Date(wanted.nextUpdate ?? NOW + DAY_MS),
    entries: (wanted.revoked ?? []).map(serialNumber => ({
      serialNumber,
      revocationDate: new Date(at),
      reason: X509CrlReason.keyCompromise,
    })),
    signingAlgorithm: Object.assign({ hash: 'SHA-256', saltLength: 32 }, keys.publicKey.algorithm),
    signingKey: keys.privateKey,
    extensions: wanted.extensions ?? [],
  })
  return new Uint8Array(crl.rawData)
}

export { Extension, KeyUsageFlags as Usage, Pkcs10CertificateRequest as CertificateRequest }
