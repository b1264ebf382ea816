import 'reflect-metadata'
import { expect, test } from 'bun:test'
import { createHash, X509Certificate } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { cborDecode, Sign1 } from '@owf/mdoc'
import * as x509 from '@peculiar/x509'
import { compactVerify, decodeProtectedHeader, importX509 } from 'jose'
import type { MdocCredential } from '../../src/sandbox/credential.ts'
import { createIssuer, loadIssuer, makeHolder, renewalDueAt, renewSigners } from '../../src/sandbox/issuer/issuer.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { seeded } from '../helpers/seeded.ts'
import { holderOf, issuer, NOW, PUBLIC_URL, random, state } from './world.ts'

const DAY_MS = 86_400_000
const { authority, mdocSigner, sdJwtSigner } = state.trusted

const parsed = (base64: string) => new x509.X509Certificate(base64)
const extension = (certificate: x509.X509Certificate, oid: string) => certificate.extensions.find(({ type }) => type === oid)
const days = ({ notBefore, notAfter }: x509.X509Certificate) => (notAfter.getTime() - notBefore.getTime()) / DAY_MS

test('the root meets the profile of an IACA root (ISO/IEC 18013-5 Annex B)', async () => {
  const root = parsed(authority.certificate)
  expect(root.subject).toBe(root.issuer)
  expect(root.subject).toBe('C=UT, CN=Vidimus Sandbox Root')
  expect(await root.isSelfSigned()).toBe(true)
  expect(days(root)).toBeLessThanOrEqual(20 * 365)
  const constraints = root.getExtension(x509.BasicConstraintsExtension)!
  expect([constraints.critical, constraints.ca, constraints.pathLength]).toEqual([true, true, 0])
  const usage = root.getExtension(x509.KeyUsagesExtension)!
  expect([usage.critical, usage.usages]).toEqual([true, x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign])
  expect(extension(root, '2.5.29.18')?.critical).toBe(false)
  expect(root.getExtension(x509.SubjectKeyIdentifierExtension)!.keyId).toBe(keyIdOf(root))
  expect(new X509Certificate(issuer.anchor).ca).toBe(true)
})

test('the mdoc signer meets the profile of a document signer', async () => {
  const root = parsed(authority.certificate)
  const signer = parsed(mdocSigner.certificate)
  expect(await signer.verify({ publicKey: root.publicKey, date: new Date(NOW) })).toBe(true)
  expect(signer.issuerName.toArrayBuffer()).toEqual(root.subjectName.toArrayBuffer())
  expect(signer.subjectName.getField('C')).toEqual(root.subjectName.getField('C'))
  expect(days(signer)).toBeLessThanOrEqual(457)
  const purposes = signer.getExtension(x509.ExtendedKeyUsageExtension)!
  expect([purposes.critical, purposes.usages]).toEqual([true, ['1.0.18013.5.1.2']])
  const usage = signer.getExtension(x509.KeyUsagesExtension)!
  expect([usage.critical, usage.usages]).toEqual([true, x509.KeyUsageFlags.digitalSignature])
  expect(signer.getExtension(x509.AuthorityKeyIdentifierExtension)!.keyId).toBe(keyIdOf(root))
  expect(signer.getExtension(x509.SubjectKeyIdentifierExtension)!.keyId).toBe(keyIdOf(signer))
  expect(extension(signer, '2.5.29.18')?.critical).toBe(false)
  expect(extension(signer, '2.5.29.31')?.critical).toBe(false)
  expect(
    signer.extensions
      .filter(({ critical }) => critical)
      .map(({ type }) => type)
      .sort(),
  ).toEqual(['2.5.29.15', '2.5.29.37'])
})

test('the SD-JWT signer is a leaf under the same root, and the root is not sent', async () => {
  const pid = (await holderOf('adult')).credentials.find(({ format }) => format === 'dc+sd-jwt')
  if (pid?.format !== 'dc+sd-jwt') throw new Error('the persona has a PID')
  const { x5c, typ, alg } = decodeProtectedHeader(pid.sdJwt)
  expect([typ, alg]).toEqual(['dc+sd-jwt', 'ES256'])
  expect(x5c).toEqual([sdJwtSigner.certificate])
  const leaf = new X509Certificate(Buffer.from(sdJwtSigner.certificate, 'base64'))
  const root = new X509Certificate(issuer.anchor)
  expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true)
  expect(leaf.verify(leaf.publicKey)).toBe(false)
  expect(pid.authorityKeyIds).toEqual([Buffer.from(keyIdOf(parsed(authority.certificate)), 'hex').toString('base64url')])
})

test('the untrusted issuer has its own signers and root', () => {
  const root = new X509Certificate(issuer.anchor)
  for (const { certificate } of Object.values(state.untrusted)) {
    expect(new X509Certificate(Buffer.from(certificate, 'base64')).verify(root.publicKey)).toBe(false)
  }
})

test('the state can be stored as JSON, and the same randomness gives the same keys and digests', async () => {
  const again = loadIssuer(JSON.parse(JSON.stringify(state)))
  expect(again.anchorPem).toBe(issuer.anchorPem)
  const [one, two] = await Promise.all([
    makeHolder(issuer, 'adult', NOW, seeded(7).bytes),
    makeHolder(again, 'adult', NOW, seeded(7).bytes),
  ])
  expect(one.deviceKey).toEqual(two.deviceKey)
  expect(one.credentials.map(({ claims }) => claims)).toEqual(two.credentials.map(({ claims }) => claims))
  const made = await Promise.all(
    [1, 1, 2].map(seed => createIssuer({ publicUrl: PUBLIC_URL, now: NOW, random: seeded(seed).bytes })),
  )
  const keys = made.map(({ trusted, untrusted }) =>
    [trusted, untrusted].flatMap(world => Object.values(world).map(({ key }) => key.d)),
  )
  expect(keys[0]).toEqual(keys[1]!)
  expect(new Set([...keys[0]!, ...keys[2]!]).size).toBe(12)
})

test('signers are renewed under the same root, before a document could outlive them', async () => {
  const due = renewalDueAt(state)
  expect(due).toBeGreaterThan(NOW + 200 * DAY_MS)
  expect(due + 60 * DAY_MS).toBeLessThan(parsed(mdocSigner.certificate).notAfter.getTime())
  const renewed = await renewSigners(state, { publicUrl: 'https://moved.example', now: due, random })
  expect(renewed.trusted.authority).toEqual(authority)
  expect(renewed.trusted.mdocSigner.key).not.toEqual(mdocSigner.key)
  const root = new X509Certificate(issuer.anchor)
  expect(new X509Certificate(Buffer.from(renewed.trusted.mdocSigner.certificate, 'base64')).verify(root.publicKey)).toBe(true)
  expect(loadIssuer(renewed).statusListUri).toBe('https://moved.example/sandbox/status-list')
})

test('the status list is a signed JWT in which only the revoked persona has its bit set', async () => {
  const token = await issuer.statusListToken(NOW)
  const key = await importX509(pem(sdJwtSigner.certificate), 'ES256')
  const { payload, protectedHeader } = await compactVerify(token, key)
  const claims = JSON.parse(new TextDecoder().decode(payload))
  expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'statuslist+jwt', x5c: [sdJwtSigner.certificate] })
  expect(claims).toMatchObject({ sub: issuer.statusListUri, iat: Math.floor(NOW / 1000), ttl: 300, status_list: { bits: 1 } })
  expect(claims.exp).toBe(claims.iat + 3600)
  const list = inflateSync(Buffer.from(claims.status_list.lst, 'base64url'))
  for (const persona of ['adult', 'revoked', 'minor'] as const) {
    for (const index of await indexesOf(persona)) expect(bitAt(list, index)).toBe(persona === 'revoked' ? 1 : 0)
  }
})

test('the CWT contains the same status list', async () => {
  const cwt = await issuer.statusListCwt(NOW)
  expect(cwt[0]).toBe(0xc0 | 18)
  const { protectedHeaders, payload } = Sign1.decode(cwt.subarray(1))
  expect(protectedHeaders.headers?.get(16)).toBe('application/statuslist+cwt')
  expect(protectedHeaders.headers?.get(33)).toEqual(new Uint8Array(Buffer.from(sdJwtSigner.certificate, 'base64')))
  const claims = cborDecode<Map<number, unknown>>(payload!)
  expect([2, 6, 65534].map(claim => claims.get(claim))).toEqual([issuer.statusListUri, Math.floor(NOW / 1000), 300])
  const { bits, lst } = Object.fromEntries(claims.get(65533) as Map<string, unknown>) as { bits: number; lst: Uint8Array }
  const list = inflateSync(lst)
  expect([bits, list.length]).toEqual([1, 4096])
  for (const index of await indexesOf('revoked')) expect(bitAt(list, index)).toBe(1)
})

test('the list of identifiers has those of the mdocs of one persona', async () => {
  const cwt = await issuer.identifierList(NOW)
  expect(cwt[0]).toBe(0xc0 | 18)
  const { protectedHeaders, payload } = Sign1.decode(cwt.subarray(1))
  expect(protectedHeaders.headers?.get(16)).toBe('application/identifierlist+cwt')
  const claims = cborDecode<Map<number, unknown>>(payload!)
  expect([2, 6, 65534].map(claim => claims.get(claim))).toEqual([issuer.identifierListUri, Math.floor(NOW / 1000), 300])
  const { identifiers } = Object.fromEntries(claims.get(65530) as Map<string, Map<Uint8Array, unknown>>)
  const listed = new Set([...identifiers!.keys()].map(id => Buffer.from(id).toString()))
  expect(listed.size).toBe(1024)
  const { credentials } = await makeHolder(issuer, 'revoked_identifier', NOW, random)
  const ids = credentials.flatMap(credential =>
    credential.format === 'mso_mdoc' ? (statusOf(credential)?.get('identifier_list')?.get('id') ?? []) : [],
  )
  expect([ids.length, ids.every(id => listed.has(Buffer.from(id as Uint8Array).toString()))]).toEqual([4, true])
})

test('each document has its own status, and an untrusted one has none', async () => {
  expect(new Set(await indexesOf('adult')).size).toBe(5)
  expect(await indexesOf('untrusted_issuer')).toEqual([])
})

async function indexesOf(persona: PersonaId): Promise<number[]> {
  const { credentials } = await holderOf(persona)
  return credentials.flatMap(credential =>
    credential.format === 'mso_mdoc' ? mdocIndex(credential) : ((credential.claims as Status).status?.status_list.idx ?? []),
  )
}

type Status = { status?: { status_list: { idx: number } } }

function mdocIndex(credential: MdocCredential): number[] {
  return [statusOf(credential)?.get('status_list')?.get('idx') ?? []].flat() as number[]
}

function statusOf({ issuerAuth }: MdocCredential): Map<string, Map<string, unknown>> | undefined {
  const [, , payload] = cborDecode<[unknown, unknown, Uint8Array]>(new Uint8Array(Buffer.from(issuerAuth, 'base64url')))
  return cborDecode<Map<string, Map<string, Map<string, unknown>>>>(payload).get('status')
}

/** Index 0 is the least significant bit of byte 0 (Token Status List § 4.1). */
const bitAt = (list: Uint8Array, index: number): number => (list[index >> 3]! >> (index & 7)) & 1

/** SHA-1 of the public point (RFC 5280 § 4.2.1.2, method 1). */
function keyIdOf(certificate: x509.X509Certificate): string {
  const { x = '', y = '' } = new X509Certificate(Buffer.from(certificate.rawData)).publicKey.export({ format: 'jwk' })
  return createHash('sha1').update(Buffer.of(4)).update(x, 'base64url').update(y, 'base64url').digest('hex')
}

const pem = (base64: string): string => `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----`
