import { describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import { sha256Hex } from '../../src/base/hash.ts'
import { isSignedBy, jwtKeyOf } from '../../src/openid4vp/sd-jwt/jws.ts'
import { rootViolations, signerViolations } from '../../src/openid4vp/trust/iso-profile.ts'
import { readSignerCertificate } from '../../src/openid4vp/trust/signer-certificate.ts'
import {
  DerError,
  DerReader,
  readBoolean,
  readDer,
  readOid,
  readSmallInteger,
  readTime,
  TAG,
} from '../../src/openid4vp/x509/der.ts'
import { MDL_SIGNER } from '../../src/openid4vp/x509/key-purposes.ts'
import { type Certificate, describeCertificate } from '../../src/openid4vp/x509/x509.ts'
import {
  ACCESS_POLICY,
  authorityKey,
  contacts,
  Extension,
  issue,
  issueAccess,
  issueAuthority,
  keyIdentifier,
  makeKeys,
  qcStatements,
  unknownCritical,
} from '../helpers/certificates.ts'
import { vectors } from '../helpers/vectors.ts'

type Profile = {
  cert: { not_before: string; not_after: string }
  country: string[]
  self_signed: boolean
  validity_days: number
  curve: string
  key_usage: string[] | null
  key_usage_critical: boolean | null
  basic_constraints: { ca: boolean; path_length: number | null; critical: boolean } | null
  eku: string[] | null
  eku_critical: boolean | null
  ski_is_sha1_of_key: boolean | null
  ski_b64u: string | null
  aki_b64u: string | null
  issuer_alt_name: boolean
  crl_distribution_points: boolean
}

type HashInput = { leaf_der_b64: string; request_object?: string }

const CURVES: Record<string, string> = { 'P-256': 'secp256r1', 'P-384': 'secp384r1', 'P-521': 'secp521r1' }
const snake = (name: string): string =>
  name
    .replace('cRL', 'Crl')
    .replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
    .replace(/^_/, '')
const b64u = (bytes: Uint8Array | undefined): string | null => (bytes ? Buffer.from(bytes).toString('base64url') : null)

// Names of broken rules: in the vectors, and ours.
const NOTES: Record<string, string> = {
  'EKU is not exactly 1.0.18013.5.1.2': 'its extended key usage is not exactly 1.0.18013.5.1.2, critical',
  'keyUsage is not digitalSignature only': 'its key usage is not exactly digitalSignature, critical',
  'keyUsage is not keyCertSign+cRLSign': 'its key usage is not exactly keyCertSign and cRLSign, critical',
  'no authorityKeyIdentifier': 'it has no authority key identifier',
  'subjectKeyIdentifier missing or not SHA-1 of the key': 'its subject key identifier is not the SHA-1 of its key',
  'no issuerAltName': 'it has no issuer alternative name',
  'no CRL distribution point': 'it has no CRL distribution point',
}

describe('x509-profile.json', () => {
  for (const { id, title, input, expect: expected } of vectors<{ der_b64: string; role: 'iaca' | 'ds' }>('x509-profile.json')) {
    test(`${id}: ${title}`, () => {
      const certificate = described(Buffer.from(input.der_b64, 'base64'))
      const { cert, ...profile } = expected.profile as Profile
      expect(profileOf(certificate)).toEqual(profile)
      expect([iso(certificate.notBefore), iso(certificate.notAfter)]).toEqual([cert.not_before, cert.not_after])
      const broken = input.role === 'iaca' ? rootViolations(certificate) : signerViolations(certificate, [MDL_SIGNER])
      expect(broken).toEqual((expected.notes as string[]).map(note => NOTES[note] ?? note))
    })
  }
})

describe('x509-hash.json', () => {
  for (const { id, title, input, expect: expected } of vectors<HashInput>('x509-hash.json')) {
    test(`${id}: ${title}`, async () => {
      const der = Buffer.from(input.leaf_der_b64, 'base64')
      const certificate = described(der)
      expect(certificate.dnsNames).toEqual(expected.san_dns as string[])
      expect(isSelfIssued(certificate)).toBe(expected.self_signed as boolean)
      const { not_before, not_after } = expected.cert as Profile['cert']
      expect([iso(certificate.notBefore), iso(certificate.notAfter)]).toEqual([not_before, not_after])
      expect(`x509_hash:${Buffer.from(sha256Hex(der), 'hex').toString('base64url')}`).toBe(expected.x509_hash_client_id as string)
      if (!input.request_object) return
      const key = jwtKeyOf((await readSignerCertificate(der))!)
      expect(key && (await isSignedBy({ text: input.request_object, alg: 'ES256', key }))).toBe(true)
    })
  }
})

function described(der: Uint8Array): Certificate {
  const certificate = describeCertificate(der)
  if (!certificate) throw new Error('not read as a certificate')
  return certificate
}

function profileOf(certificate: Certificate): Omit<Profile, 'cert'> {
  const { basicConstraints, keyUsage, extendedKeyUsage, subjectKeyIdentifier, key, subjectAttributes } = certificate
  return {
    country: [subjectAttributes.country ?? ''],
    self_signed: isSelfIssued(certificate),
    validity_days: Math.floor((certificate.notAfter - certificate.notBefore) / 86_400_000),
    curve: CURVES[key.curve ?? ''] ?? '',
    key_usage: keyUsage?.usages.map(snake) ?? null,
    key_usage_critical: keyUsage?.critical ?? null,
    basic_constraints: basicConstraints
      ? { ca: basicConstraints.ca, path_length: basicConstraints.pathLength ?? null, critical: basicConstraints.critical }
      : null,
    eku: extendedKeyUsage?.purposes ?? null,
    eku_critical: extendedKeyUsage?.critical ?? null,
    ski_is_sha1_of_key: subjectKeyIdentifier ? b64u(subjectKeyIdentifier) === b64u(key.sha1) : null,
    ski_b64u: b64u(subjectKeyIdentifier),
    aki_b64u: b64u(certificate.authorityKeyIdentifier),
    issuer_alt_name: certificate.hasIssuerAltName,
    crl_distribution_points: certificate.crlUris !== undefined,
  }
}

const isSelfIssued = ({ subject, issuer }: Certificate): boolean => Buffer.from(subject.der).equals(issuer.der)
const iso = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z')

describe('a generated certificate', () => {
  test('names, key, key identifiers and unknown critical extensions are described', async () => {
    const root = await issueAuthority()
    const keys = await makeKeys({ name: 'ECDSA', namedCurve: 'P-521' })
    const extensions = [await keyIdentifier(keys), await authorityKey(root.keys), unknownCritical()]
    const { der } = await issue({ name: 'C=FI, ST=Lappi, O=Sähkö, CN=Myöntäjä', issuer: root, keys, extensions })
    const certificate = described(der)
    expect(certificate.subjectAttributes).toEqual({
      country: 'FI',
      state: 'Lappi',
      organization: 'Sähkö',
      commonName: 'Myöntäjä',
    })
    expect(certificate.key).toMatchObject({ algorithm: 'ec', curve: 'P-521' })
    expect(certificate.unknownCritical).toEqual(['1.3.6.1.4.1.99999.1'])
    expect(b64u(certificate.subjectKeyIdentifier)).toBe(b64u(certificate.key.sha1))
    expect(b64u(certificate.authorityKeyIdentifier)).toBe(b64u(described(root.der).key.sha1))
    expect(Buffer.from(certificate.issuer.der).equals(described(root.der).subject.der)).toBe(true)
    expect(certificate.version).toBe(3)
  })

  test('the first of two common names counts, and an unknown extension that is not critical is ignored', async () => {
    const { der } = await issue({ name: 'CN=First, CN=Second', extensions: [unknownCritical()] })
    // Explicitly not critical: invalid DER, but real certificates do it.
    const changed = replaced(der, '0101ff', '010100')
    expect(described(der)).toMatchObject({ subjectAttributes: { commonName: 'First' }, unknownCritical: ['1.3.6.1.4.1.99999.1'] })
    expect(described(changed).unknownCritical).toEqual([])
  })

  test('organisation, policies and contacts of an access certificate are read', async () => {
    const { der } = await issueAccess({
      extensions: [contacts({ type: 'email', value: 'help@shop.example' }, { type: 'url', value: 'https://shop.example/help' })],
    })
    expect(described(der)).toMatchObject({ emails: ['help@shop.example'], uris: ['https://shop.example/help'], dnsNames: [] })
    const access = described((await issueAccess()).der)
    expect(access.subjectAttributes).toMatchObject({
      organization: 'Corner Shop GmbH',
      organizationIdentifier: 'VATDE-123456789',
    })
    expect(access).toMatchObject({ policies: [ACCESS_POLICY], emails: ['help@shop.example'], dnsNames: ['verify.example'] })
  })

  test('statements of a qualified certificate are known, critical or not', async () => {
    for (const critical of [true, false]) {
      expect(described((await issue({ extensions: [qcStatements(critical)] })).der).unknownCritical).toEqual([])
    }
  })

  test('unreadable policies are none, and the certificate is read', async () => {
    const extensions = [new Extension('2.5.29.32', false, Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0x00))]
    expect(described((await issue({ extensions })).der).policies).toEqual([])
  })

  test('a key on an unsupported curve has no curve', async () => {
    const { der } = await issue({})
    // The same length, with an unregistered object identifier.
    const changed = replaced(der, '06082a8648ce3d030107', '06082a8648ce3d030177')
    expect(described(changed).key).toEqual({ algorithm: 'ec', sha1: expect.anything() })
  })

  test('an RSA key has the same size as node reports', async () => {
    for (const modulusLength of [1024, 2048]) {
      const rsa = { name: 'RSASSA-PKCS1-v1_5', modulusLength, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' }
      const { der } = await issue({ keys: await makeKeys(rsa) })
      expect(described(der).key).toMatchObject({ algorithm: 'rsa', bits: modulusLength })
      expect(new X509Certificate(der).publicKey.asymmetricKeyDetails?.modulusLength).toBe(modulusLength)
      // Its first byte is then 1, with seven unused bits.
      const modulus = Buffer.from(der).indexOf(Buffer.from(modulusLength === 2048 ? '0282010100' : '02818100', 'hex'))
      const first = modulus + (modulusLength === 2048 ? 5 : 4)
      expect(described(Buffer.from(der).fill(1, first, first + 1)).key.bits).toBe(modulusLength - 7)
    }
  })
})

describe('malformed certificates', () => {
  test('empty, PEM, extended, truncated and contradictory certificates are not read', async () => {
    const { der } = await issue({})
    const bytes = Buffer.from(der)
    const ecdsaSha256 = Buffer.from('2a8648ce3d040302', 'hex')
    const twoAlgorithms = Buffer.from(der)
    twoAlgorithms[twoAlgorithms.lastIndexOf(ecdsaSha256) + 7] = 3
    const twice = await issue({ extensions: [unknownCritical(), unknownCritical()] })
    const cases = [
      Buffer.alloc(0),
      Buffer.from(new X509Certificate(der).toString()),
      Buffer.concat([bytes, Uint8Array.of(0)]),
      bytes.subarray(0, -1),
      twoAlgorithms,
      twice.der,
    ]
    for (const [index, bad] of cases.entries()) expect([index, describeCertificate(bad)]).toEqual([index, undefined])
    expect(describeCertificate(bytes)).toBeDefined()
  })

  test('an indefinite length, or one that is not the shortest, is not read', async () => {
    const { der } = await issue({})
    // 30 82 LL LL → 30 83 00 LL LL, and → 30 80 … 00 00.
    const long = Buffer.concat([Uint8Array.of(0x30, 0x83, 0), der.subarray(2)])
    const indefinite = Buffer.concat([Uint8Array.of(0x30, 0x80), der.subarray(4), Uint8Array.of(0, 0)])
    expect(describeCertificate(long)).toBeUndefined()
    expect(describeCertificate(indefinite)).toBeUndefined()
  })

  test('additional fields, and extensions in version 2, are not read', async () => {
    const { der } = await issue({ extensions: [unknownCritical()] })
    const outer = readDer(der, TAG.sequence).content
    const body = new DerReader(outer).next(TAG.sequence)
    const more = Uint8Array.of(5, 0)
    expect(describeCertificate(sequence(outer))).toBeDefined()
    expect(describeCertificate(sequence(outer, more))).toBeUndefined()
    expect(describeCertificate(sequence(sequence(body.content), outer.subarray(body.raw.length)))).toBeDefined()
    expect(describeCertificate(sequence(sequence(body.content, more), outer.subarray(body.raw.length)))).toBeUndefined()
    expect(describeCertificate(replaced(der, 'a003020102', 'a003020101'))).toBeUndefined()
  })

  test('random bytes and changed certificates never throw', async () => {
    const { der } = await issue({ extensions: [unknownCritical()] })
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), bytes => describeCertificate(bytes) === undefined))
    fc.assert(
      fc.property(fc.nat(der.length - 1), fc.nat(255), (at, byte) => {
        const changed = Uint8Array.from(der)
        changed[at] = byte
        describeCertificate(changed)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('DER', () => {
  const read = {
    element: (bytes: Uint8Array) => readDer(bytes, TAG.octetString).content.length,
    long: (bytes: Uint8Array) => new DerReader(bytes).next().tag,
    oid: readOid,
    boolean: readBoolean,
    number: readSmallInteger,
    time: (bytes: Uint8Array) => iso(readTime(new DerReader(bytes).next())),
  }
  const time = (text: string) => `${text.length === 13 ? '170d' : '180f'}${Buffer.from(text).toString('hex')}`

  test.each([
    ['element', '0400', 0],
    ['element', '0401', undefined],
    ['element', '048000', undefined],
    ['element', '04810100', undefined],
    ['element', '0500', undefined],
    ['long', '1f01aa', undefined],
    ['long', '0402aa', undefined],
    ['oid', '2a8648ce3d030107', '1.2.840.10045.3.1.7'],
    ['oid', '883703', '2.999.3'],
    ['oid', '0a', '0.10'],
    ['oid', '6983f8bcb6acabe0d5c9a4e1c1e0b8a5d0c6f70f', '2.25.335279197302037371316960899439088745359'],
    ['oid', '2a8001', undefined],
    ['oid', '2a86', undefined],
    ['oid', '', undefined],
    ['boolean', 'ff', true],
    ['boolean', '00', false],
    ['boolean', '01', undefined],
    ['boolean', 'ffff', undefined],
    ['number', '00', 0],
    ['number', '0080', 128],
    ['number', '007f', undefined],
    ['number', 'ff', undefined],
    ['number', '', undefined],
    ['time', time('491231235959Z'), '2049-12-31T23:59:59Z'],
    ['time', time('500101000000Z'), '1950-01-01T00:00:00Z'],
    ['time', time('20500101000000Z'), '2050-01-01T00:00:00Z'],
    ['time', time('20250229000000Z'), undefined],
    ['time', time('250101000060Z'), undefined],
    ['time', time('2501010000+01'), undefined],
  ] as const)('%s %s is %p', (kind, hex, value) => {
    const act = () => read[kind](Buffer.from(hex, 'hex'))
    if (value === undefined) expect(act).toThrow(DerError)
    else expect(act()).toBe(value)
  })
})

function replaced(der: Uint8Array, from: string, to: string): Uint8Array {
  const bytes = Buffer.from(der)
  const at = bytes.indexOf(Buffer.from(from, 'hex'))
  if (at === -1) throw new Error('nothing to replace')
  Buffer.from(to, 'hex').copy(bytes, at)
  return bytes
}

function sequence(...parts: Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts)
  const length = content.length < 256 ? [0x81, content.length] : [0x82, content.length >> 8, content.length]
  return Buffer.concat([Uint8Array.of(0x30, ...length), content])
}
