// The parts of a certificate that node's X509Certificate does not show, read from the DER: RFC 5280
// § 4.1 and § 4.2. Nothing is judged here, and no signature is verified. A JavaScript X.509 library
// would be many times slower.

import { hash } from 'node:crypto'
import {
  context,
  type DerElement,
  DerError,
  DerReader,
  readAll,
  readBitString,
  readBoolean,
  readDer,
  readOid,
  readSmallInteger,
  readText,
  readTime,
  TAG,
} from './der.ts'
import { Name } from './distinguished-name.ts'

export type Certificate = {
  der: Uint8Array
  version: number
  /** The bytes of the integer, in hex. */
  serialNumber: string
  subject: Name
  issuer: Name
  subjectAttributes: NameAttributes
  /** Milliseconds; both are within the validity. */
  notBefore: number
  notAfter: number
  signatureAlgorithm: string
  key: PublicKeyDescription
  /** Object identifiers of unknown critical extensions. */
  unknownCritical: string[]
  /** Names of limits for the certificates below it, critical or not. */
  unchecked: string[]
} & Extensions

type NameAttributes = {
  commonName?: string
  country?: string
  state?: string
  organization?: string
  /** EN 319 412-1 § 5.1.4: such as `VATDE-123456789`. */
  organizationIdentifier?: string
}

type PublicKeyDescription = {
  algorithm: 'ec' | 'rsa' | 'rsa-pss' | 'ed25519' | 'other'
  /** Undefined for curves without one of these names, and for explicit parameters. */
  curve?: 'P-256' | 'P-384' | 'P-521'
  /** Size of an RSA modulus. */
  bits?: number
  /** RSAPublicKey (RFC 8017 § A.1.1), where the algorithm of the key is RSA-PSS: the runtime reads no such key by itself. */
  rsaPublicKey?: Uint8Array
  sha1: Uint8Array
}

export type KeyUsage = (typeof KEY_USAGES)[number]

type Extensions = {
  basicConstraints?: { ca: boolean; pathLength: number | undefined; critical: boolean }
  keyUsage?: { usages: KeyUsage[]; critical: boolean }
  extendedKeyUsage?: { purposes: string[]; critical: boolean }
  subjectKeyIdentifier?: Uint8Array
  authorityKeyIdentifier?: Uint8Array
  hasIssuerAltName: boolean
  /**
   * Addresses of complete lists by the issuer itself, of any scheme; undefined without the
   * extension, empty if it names no such address.
   */
  crlUris?: string[]
  /** Object identifiers of its policies; empty for an unreadable extension, which restricts nothing either. */
  policies: string[]
  dnsNames: string[]
  emails: string[]
  uris: string[]
}

export type Extension = { oid: string; critical: boolean; value: Uint8Array }

// RFC 5280 § 4.2.1.3, in the order of the bits.
const KEY_USAGES = [
  'digitalSignature',
  'contentCommitment',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const

const NAME_ATTRIBUTES: Record<string, keyof NameAttributes> = {
  '2.5.4.3': 'commonName',
  '2.5.4.6': 'country',
  '2.5.4.8': 'state',
  '2.5.4.10': 'organization',
  '2.5.4.97': 'organizationIdentifier',
}

const KEY_ALGORITHMS: Record<string, PublicKeyDescription['algorithm']> = {
  '1.2.840.10045.2.1': 'ec',
  '1.2.840.113549.1.1.1': 'rsa',
  '1.2.840.113549.1.1.10': 'rsa-pss',
  '1.3.101.112': 'ed25519',
}

const CURVES: Record<string, PublicKeyDescription['curve']> = {
  '1.2.840.10045.3.1.7': 'P-256',
  '1.3.132.0.34': 'P-384',
  '1.3.132.0.35': 'P-521',
}

const OID = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  issuerAltName: '2.5.29.18',
  basicConstraints: '2.5.29.19',
  crlDistributionPoints: '2.5.29.31',
  // Restricts nothing by itself: no policy is required (RFC 5280 § 6.1.1 (c)). The same goes for policy mappings.
  certificatePolicies: '2.5.29.32',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  // Statements of a qualified certificate (RFC 3739 § 3.2.6), which access certificates carry; they restrict nothing.
  qcStatements: '1.3.6.1.5.5.7.1.3',
}
const URI_BYTES_MAX = 2048
const UNDERSTOOD = new Set(Object.values(OID))

// RFC 5280 § 4.2.1.10, § 4.2.1.11 and § 4.2.1.14.
const LIMITS: ReadonlyMap<string, string> = new Map([
  ['2.5.29.30', 'name constraints'],
  ['2.5.29.36', 'policy constraints'],
  ['2.5.29.54', 'an inhibit-any-policy'],
])

/** Undefined when the bytes are not exactly one well-formed certificate. */
export function describeCertificate(der: Uint8Array): Certificate | undefined {
  try {
    return readCertificate(der)
  } catch (error) {
    if (error instanceof DerError) return undefined
    throw error
  }
}

function readCertificate(der: Uint8Array): Certificate {
  const outer = new DerReader(readDer(der, TAG.sequence).content)
  const body = new DerReader(outer.next(TAG.sequence).content)
  const outerAlgorithm = outer.next(TAG.sequence)
  outer.next(TAG.bitString)
  outer.end()

  const version = readVersion(body.optional(context(0, { constructed: true })))
  const serialNumber = serialOf(body.next(TAG.integer))
  const algorithm = body.next(TAG.sequence)
  // RFC 5280 § 4.1.1.2: the signed and the outer algorithm must be the same.
  if (!Buffer.from(algorithm.raw).equals(outerAlgorithm.raw)) throw new DerError('two signature algorithms')
  const issuer = body.next(TAG.sequence)
  const [notBefore, notAfter] = readValidity(body.next(TAG.sequence).content)
  const subject = body.next(TAG.sequence)
  const key = readKey(body.next(TAG.sequence).content)
  body.optional(context(1))
  body.optional(context(2))
  const extensions = readExtensions(body.optional(context(3, { constructed: true })))
  body.end()
  if (extensions.length > 0 && version !== 3) throw new DerError('extensions in a certificate that is not version 3')

  return {
    der,
    version,
    serialNumber,
    subject: new Name(subject.raw),
    issuer: new Name(issuer.raw),
    subjectAttributes: readAttributes(subject.content),
    notBefore,
    notAfter,
    signatureAlgorithm: readOid(new DerReader(algorithm.content).next(TAG.oid).content),
    key,
    unknownCritical: extensions.filter(({ oid, critical }) => critical && !UNDERSTOOD.has(oid)).map(({ oid }) => oid),
    unchecked: extensions.flatMap(({ oid }) => LIMITS.get(oid) ?? []),
    ...readKnownExtensions(extensions),
  }
}

export const serialOf = ({ content }: DerElement): string => Buffer.from(content).toString('hex')

function readVersion(element: DerElement | undefined): number {
  return element ? readSmallInteger(readDer(element.content, TAG.integer).content) + 1 : 1
}

function readValidity(content: Uint8Array): [number, number] {
  const reader = new DerReader(content)
  const validity: [number, number] = [readTime(reader.next()), readTime(reader.next())]
  reader.end()
  return validity
}

function readKey(content: Uint8Array): PublicKeyDescription {
  const reader = new DerReader(content)
  const identifier = new DerReader(reader.next(TAG.sequence).content)
  const algorithm = KEY_ALGORITHMS[readOid(identifier.next(TAG.oid).content)] ?? 'other'
  const parameters = identifier.isDone ? undefined : identifier.next()
  const { bytes } = readBitString(reader.next(TAG.bitString).content)
  reader.end()

  const sha1 = hash('sha1', bytes, 'buffer')
  if (algorithm === 'ec') {
    const curve = parameters?.tag === TAG.oid ? CURVES[readOid(parameters.content)] : undefined
    return { algorithm, sha1, ...(curve && { curve }) }
  }
  const isRsa = algorithm === 'rsa' || algorithm === 'rsa-pss'
  return {
    algorithm,
    sha1,
    ...(isRsa && { bits: modulusBits(bytes) }),
    ...(algorithm === 'rsa-pss' && { rsaPublicKey: bytes }),
  }
}

function modulusBits(rsaPublicKey: Uint8Array): number {
  const modulus = new DerReader(readDer(rsaPublicKey, TAG.sequence).content).next(TAG.integer).content
  const start = modulus.findIndex(byte => byte !== 0)
  return start === -1 ? 0 : (modulus.length - start) * 8 - (Math.clz32(modulus[start] ?? 0) - 24)
}

// The first attribute of each kind counts.
function readAttributes(name: Uint8Array): NameAttributes {
  const attributes: NameAttributes = {}
  for (const set of readAll(name, TAG.set)) {
    for (const pair of readAll(set.content, TAG.sequence)) {
      const reader = new DerReader(pair.content)
      const kind = NAME_ATTRIBUTES[readOid(reader.next(TAG.oid).content)]
      const text = readText(reader.next())
      if (kind && text !== undefined) attributes[kind] ??= text
    }
  }
  return attributes
}

export function readExtensions(element: DerElement | undefined): Extension[] {
  if (!element) return []
  const extensions = readAll(readDer(element.content, TAG.sequence).content, TAG.sequence).map(({ content }) => {
    const reader = new DerReader(content)
    const oid = readOid(reader.next(TAG.oid).content)
    const critical = reader.optional(TAG.boolean)
    const value = reader.next(TAG.octetString).content
    reader.end()
    return { oid, critical: critical !== undefined && readBoolean(critical.content), value }
  })
  // RFC 5280 § 4.2: each extension at most once.
  if (new Set(extensions.map(({ oid }) => oid)).size !== extensions.length) throw new DerError('an extension twice')
  return extensions
}

function readKnownExtensions(extensions: Extension[]): Extensions {
  const known = new Map(extensions.map(extension => [extension.oid, extension]))
  const basicConstraints = known.get(OID.basicConstraints)
  const keyUsage = known.get(OID.keyUsage)
  const extendedKeyUsage = known.get(OID.extendedKeyUsage)
  const subjectKey = known.get(OID.subjectKeyIdentifier)
  const authorityKey = known.get(OID.authorityKeyIdentifier)
  const altName = known.get(OID.subjectAltName)
  const names = altName ? readAll(readDer(altName.value, TAG.sequence).content) : []
  const policies = known.get(OID.certificatePolicies)
  const crlPoints = known.get(OID.crlDistributionPoints)
  const authorityKeyIdentifier = authorityKey && readAuthorityKeyIdentifier(authorityKey.value)
  return {
    ...(basicConstraints && { basicConstraints: readBasicConstraints(basicConstraints) }),
    ...(keyUsage && { keyUsage: { usages: readKeyUsages(keyUsage.value), critical: keyUsage.critical } }),
    ...(extendedKeyUsage && {
      extendedKeyUsage: { purposes: readPurposes(extendedKeyUsage.value), critical: extendedKeyUsage.critical },
    }),
    ...(subjectKey && { subjectKeyIdentifier: readDer(subjectKey.value, TAG.octetString).content }),
    ...(authorityKeyIdentifier && { authorityKeyIdentifier }),
    hasIssuerAltName: known.has(OID.issuerAltName),
    ...(crlPoints && { crlUris: readCrlUris(crlPoints.value) }),
    policies: policies ? readPolicies(policies.value) : [],
    emails: textsOf(names, 1),
    dnsNames: textsOf(names, 2),
    uris: textsOf(names, 6),
  }
}

function readBasicConstraints({ value, critical }: Extension): Extensions['basicConstraints'] {
  const reader = new DerReader(readDer(value, TAG.sequence).content)
  const ca = reader.optional(TAG.boolean)
  const pathLength = reader.optional(TAG.integer)
  reader.end()
  return {
    ca: ca !== undefined && readBoolean(ca.content),
    pathLength: pathLength && readSmallInteger(pathLength.content),
    critical,
  }
}

function readKeyUsages(value: Uint8Array): KeyUsage[] {
  const { bytes } = readBitString(readDer(value, TAG.bitString).content)
  return KEY_USAGES.filter((_, bit) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0)
}

function readPurposes(value: Uint8Array): string[] {
  return readAll(readDer(value, TAG.sequence).content, TAG.oid).map(({ content }) => readOid(content))
}

function readAuthorityKeyIdentifier(value: Uint8Array): Uint8Array | undefined {
  return new DerReader(readDer(value, TAG.sequence).content).optional(context(0))?.content
}

/** § 4.2.1.6: the alternative names of one kind. */
const textsOf = (names: DerElement[], kind: number): string[] =>
  names.filter(({ tag }) => tag === context(kind)).map(({ content }) => Buffer.from(content).toString('latin1'))

function readPolicies(value: Uint8Array): string[] {
  try {
    return readAll(readDer(value, TAG.sequence).content, TAG.sequence).map(({ content }) =>
      readOid(new DerReader(content).next(TAG.oid).content),
    )
  } catch (error) {
    if (error instanceof DerError) return []
    throw error
  }
}

/** § 4.2.1.13. A point for some reasons only, or of another issuer, names no complete list. */
function readCrlUris(value: Uint8Array): string[] {
  return readAll(readDer(value, TAG.sequence).content, TAG.sequence).flatMap(({ content }) => {
    const reader = new DerReader(content)
    const name = reader.optional(context(0, { constructed: true }))
    return name && reader.isDone ? readAll(name.content).flatMap(uriNames) : []
  })
}

/** The addresses in a `fullName` of a distribution point. */
export function uriNames({ tag, content }: DerElement): string[] {
  if (tag !== context(0, { constructed: true })) return []
  return readAll(content)
    .filter(name => name.tag === context(6) && name.content.length <= URI_BYTES_MAX)
    .map(name => Buffer.from(name.content).toString('latin1'))
}
