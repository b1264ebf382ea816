// The root certificate of a country and its signers, as ISO/IEC 18013-5 Annex B asks for. A second
// set is the issuer that nobody trusts.
import { createECDH } from 'node:crypto'
import type { Random } from '../../base/ids.ts'
import { crlUri } from '../addresses.ts'
import { COUNTRY } from '../documents.ts'
import type { PrivateJwk } from '../es256.ts'

const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 3650
/** Annex B allows 457 days. The validity begins in the past, so that expired documents can be issued. */
const SIGNER_DAYS_BACK = 90
const SIGNER_DAYS_AHEAD = 365
const MDOC_SIGNER = '1.0.18013.5.1.2'
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** A key with its certificate, as JSON. `certificate` is base64 DER; times in milliseconds. */
export type Party = { key: PrivateJwk; certificate: string; keyId: string; notAfter: number }

export type World = { authority: Party; mdocSigner: Party; sdJwtSigner: Party }

export type Making = { publicUrl: string; now: number; random: Random }

export const newAuthority = (name: string, making: Making): Promise<Party> =>
  newParty(undefined, making, { name, days: AUTHORITY_DAYS }, x509 => [
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
  ])

/** ISO/IEC 18013-5 Annex B.1.4: a document signer. */
export const newMdocSigner = (authority: Party, making: Making): Promise<Party> =>
  newSigner(authority, making, 'Sandbox Document Signer', x509 => [
    new x509.ExtendedKeyUsageExtension([MDOC_SIGNER], true),
    new x509.CRLDistributionPointsExtension([crlUri(making.publicUrl)]),
  ])

/** Not self-signed, and sent without its root (HAIP 6.1.1). The alternative name is the `iss` of its credentials. */
export const newSdJwtSigner = (authority: Party, making: Making): Promise<Party> =>
  newSigner(authority, making, 'Sandbox SD-JWT Signer', x509 => [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.SubjectAlternativeNameExtension([{ type: 'url', value: `${making.publicUrl}/sandbox` }]),
  ])

const CRL_MS = 7 * DAY_MS

/** An empty list, DER: no signer of the sandbox is ever revoked. */
export async function newCrl({ key, certificate, keyId }: Party, now: number): Promise<Uint8Array<ArrayBuffer>> {
  const x509 = await loadX509()
  const { privateKey } = await importPair(key)
  const crl = await x509.X509CrlGenerator.create({
    issuer: new x509.X509Certificate(certificate).subject,
    thisUpdate: new Date(now),
    nextUpdate: new Date(now + CRL_MS),
    signingAlgorithm: ALGORITHM,
    signingKey: privateKey,
    extensions: [new x509.AuthorityKeyIdentifierExtension(keyId)],
  })
  return new Uint8Array(crl.rawData)
}

/** Values for `trusted_authorities` in a query (OpenID4VP 1.0 § 6.1.1.1). */
export const authorityKeyIds = ({ keyId }: Party): string[] => [Buffer.from(keyId, 'hex').toString('base64url')]

type X509 = typeof import('@peculiar/x509')
type Extensions = (x509: X509) => InstanceType<X509['Extension']>[]

const newSigner = (authority: Party, making: Making, name: string, further: Extensions): Promise<Party> =>
  newParty(authority, making, { name, days: SIGNER_DAYS_AHEAD }, x509 => [
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    ...further(x509),
  ])

/** Self-signed without an authority. */
async function newParty(
  authority: Party | undefined,
  { publicUrl, now, random }: Making,
  { name, days }: { name: string; days: number },
  further: Extensions,
): Promise<Party> {
  const x509 = await loadX509()
  const key = privateJwkFrom(random)
  const own = await importPair(key)
  const above = authority ? await importPair(authority.key) : own
  const subject = `C=${COUNTRY}, CN=${name}`
  const notAfter = now + days * DAY_MS
  const subjectKeyId = await x509.SubjectKeyIdentifierExtension.create(own.publicKey)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(random),
    subject,
    issuer: authority ? new x509.X509Certificate(authority.certificate).subjectName : subject,
    notBefore: new Date(now - SIGNER_DAYS_BACK * DAY_MS),
    notAfter: new Date(notAfter),
    signingAlgorithm: ALGORITHM,
    publicKey: own.publicKey,
    signingKey: above.privateKey,
    extensions: [
      subjectKeyId,
      ...(authority ? [await x509.AuthorityKeyIdentifierExtension.create(above.publicKey)] : []),
      new x509.IssuerAlternativeNameExtension([{ type: 'url', value: `${publicUrl}/sandbox` }]),
      ...further(x509),
    ],
  })
  return { key, certificate: certificate.toString('base64'), keyId: subjectKeyId.keyId, notAfter }
}

/** Loaded on demand: certificates are rarely made, and the library is large. */
async function loadX509(): Promise<X509> {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

/** The same randomness gives the same key. */
export function privateJwkFrom(random: Random): PrivateJwk {
  const ecdh = createECDH('prime256v1')
  for (;;) {
    const scalar = random(32)
    try {
      ecdh.setPrivateKey(scalar)
    } catch {
      continue // Zero, or not below the order of the curve.
    }
    const point = ecdh.getPublicKey()
    return {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
      d: Buffer.from(scalar).toString('base64url'),
    }
  }
}

async function importPair({ d, ...rest }: PrivateJwk): Promise<CryptoKeyPair> {
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('jwk', { ...rest, d }, ALGORITHM, true, ['sign']),
    crypto.subtle.importKey('jwk', rest, ALGORITHM, true, ['verify']),
  ])
  return { privateKey, publicKey }
}

/** Positive and unguessable (RFC 5280 § 4.1.2.2). */
function serialNumber(random: Random): string {
  const bytes = Buffer.from(random(16))
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes.toString('hex')
}
