import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeProtectedHeader } from 'jose'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, temporaryDir } from '../helpers/app.ts'
import { CertificateRequest, DAY_MS, issue, issueAccess, issueAuthority, pemOf, purposes } from '../helpers/certificates.ts'
import { serve, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { makeRoot, openssl } from '../helpers/openssl.ts'

afterAll(stopServing)

type Signing = {
  client_id: string
  subject: string
  is_own: boolean
  days_left: number
  expires_soon: boolean
  chain: string
  authority: string | null
  next: { client_id: string; starts_at: string } | null
  pending_since: string | null
  notes: string[]
}

const files = temporaryDir()
const file = (name: string) => join(files, name)

beforeAll(() => {
  makeRoot(files, 'ca', '/CN=Test Root/C=UT')
  makeRoot(files, 'other', '/CN=Other Root')
  writeFileSync(file('nonsense.pem'), 'nonsense')
})

/** The authority's certificate for a request. */
function sign(request: string, certificate: string, days: number): void {
  const authority = `-CA ${file('ca.pem')} -CAkey ${file('ca.key')} -set_serial ${days}`
  openssl(`x509 -req -in ${file(request)} ${authority} -days ${days} -out ${file(certificate)}`)
}

test('signing import beside a running server: new sessions use the new certificate at once, open ones keep theirs', async () => {
  const own = temporaryDir()
  const env = { VIDIMUS_PUBLIC_URL: 'https://verify.shop.example' }
  const { url, first } = await serve(own, ['--dev'], env)
  const key = first.test_key ?? ''
  const create = async () =>
    (await call<Verification>(url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).body
  const x5c = async ({ id }: Verification) => decodeProtectedHeader((await call(url, 'GET', `/wallet/request/${id}`)).text).x5c
  const clientId = ({ wallet_uri }: Verification) => new URL(wallet_uri ?? '').searchParams.get('client_id') ?? ''

  const before = await vidimusJson<Signing>(own, 'signing', 'show')
  expect(before).toMatchObject({
    subject: 'CN=Vidimus verify.shop.example',
    days_left: 729,
    expires_soon: false,
    authority: expect.stringContaining('BEGIN'),
  })
  const open = await create()
  expect(clientId(open)).toBe(before.client_id)
  const [openLeaf] = (await x5c(open)) ?? []

  const csr = await vidimus(own, ['signing', 'csr'], env)
  expect(csr.exitCode).toBe(0)
  writeFileSync(file('request.pem'), csr.stdout)
  expect(openssl(`req -in ${file('request.pem')} -noout -verify -text`)).toContain('DNS:verify.shop.example')
  sign('request.pem', 'leaf.pem', 20)
  writeFileSync(file('chain.pem'), readFileSync(file('leaf.pem'), 'utf8') + readFileSync(file('ca.pem'), 'utf8'))

  const after = await vidimusJson<Signing>(own, 'signing', 'import', '--chain', file('chain.pem'))
  expect(after).toMatchObject({ subject: 'CN=verify.shop.example', authority: null, expires_soon: false })
  expect(after.client_id).not.toBe(before.client_id)
  const fresh = await create()
  expect(clientId(fresh)).toBe(after.client_id)
  // The root is not sent (HAIP § 5), and the open session keeps the certificate it began with.
  expect(await x5c(fresh)).toHaveLength(1)
  expect(await x5c(open)).toEqual([openLeaf ?? ''])
  const { text } = await call(url, 'GET', '/metrics')
  expect(Number(/^vidimus_signing_certificate_seconds_left (\d+)$/m.exec(text)?.[1])).toBeLessThanOrEqual(20 * 86_400)
})

test('signing csr --new-key, a tenant’s own certificate, and a start: new sessions of the tenant use it from then on', async () => {
  const own = temporaryDir()
  const { url, first } = await serve(own, ['--dev'])
  const create = async () =>
    (await call<Verification>(url, 'POST', '/v1/verifications', { key: first.test_key, body: { template: 'age_over_18' } })).body
  const clientId = async () => new URL((await create()).wallet_uri ?? '').searchParams.get('client_id')
  const before = await clientId()
  const { data } = await vidimusJson<{ data: { id: string }[] }>(own, 'tenant', 'list')
  const tenant = data[0]!.id
  const asked = await vidimusJson<{ csr: string }>(
    own,
    'signing',
    'csr',
    '--new-key',
    '--subject',
    'CN=Corner Shop',
    '--tenant',
    tenant,
  )
  const request = new CertificateRequest(asked.csr)
  expect(request.subject).toBe('CN=Corner Shop')
  const waiting = await vidimus(own, ['signing', 'show', '--tenant', tenant])
  expect(waiting.stdout).toMatch(/^The tenant has no certificate of its own yet/)
  expect(waiting.stdout).toMatch(/A key of \S+ waits for its certificate\./)

  const issuer = await issueAuthority({ notAfter: Date.now() + 900 * DAY_MS })
  const keys = { ...issuer.keys, publicKey: await request.publicKey.export() }
  const leaf = await issueAccess({ issuer, keys, notBefore: Date.now() - DAY_MS, notAfter: Date.now() + 90 * DAY_MS })
  writeFileSync(file('shop.pem'), pemOf(leaf.der) + pemOf(issuer.der))
  const scheduled = await vidimus(own, [
    'signing',
    'import',
    '--chain',
    file('shop.pem'),
    '--tenant',
    tenant,
    '--from',
    '2099-01-01',
  ])
  expect(scheduled).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('the certificate ends before that') })
  const from = new Date(Date.now() + 40 * DAY_MS).toISOString().slice(0, 10)
  const later = await vidimus(own, ['signing', 'import', '--chain', file('shop.pem'), '--tenant', tenant, '--from', from])
  expect(later.stdout).toContain(`From ${from}T00:00:00.000Z new sessions use x509_hash:`)
  expect(later.stderr).toContain('Left out of the chain, because wallets have it: C=NL, CN=Test Root.')
  expect(await clientId()).toBe(before)
  const now = await vidimusJson<Signing>(own, 'signing', 'import', '--chain', file('shop.pem'), '--tenant', tenant)
  expect(now).toMatchObject({ is_own: true, next: null, pending_since: null, notes: [expect.stringContaining('Left out')] })
  expect(await clientId()).toBe(now.client_id)
  expect((await vidimusJson<Signing>(own, 'signing', 'show')).client_id).toBe(before ?? '')

  await vidimusJson(own, 'signing', 'import', '--chain', file('shop.pem'), '--tenant', tenant, '--from', from)
  expect(await vidimusJson<Signing>(own, 'signing', 'cancel', '--tenant', tenant)).toMatchObject({ is_own: true, next: null })
  await vidimusJson(own, 'signing', 'csr', '--new-key', '--tenant', tenant)
  const removed = await vidimusJson<Signing>(own, 'signing', 'remove', '--tenant', tenant)
  expect(removed).toMatchObject({ tenant, is_own: false, pending_since: null, client_id: before ?? '' })
  expect(await vidimus(own, ['signing', 'remove', '--tenant', tenant])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('this tenant has no certificate or key of its own'),
  })
})

test('signing import --reader takes a reader certificate beside the others, show lists it, and remove takes it away', async () => {
  const own = temporaryDir()
  await serve(own)
  const issuer = await issueAuthority({ notAfter: Date.now() + 900 * DAY_MS })
  const life = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + 90 * DAY_MS }
  const leaf = await issue({ name: 'CN=Shop Reader', issuer, ...life, extensions: [purposes(['1.0.18013.5.1.6'])] })
  writeFileSync(file('reader.pem'), pemOf(leaf.der))
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', leaf.keys.privateKey)).toString('base64')
  writeFileSync(file('reader.key'), `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`)
  const given = ['--reader', '--chain', file('reader.pem'), '--key', file('reader.key')]
  const reader = await vidimusJson<{ fingerprint: string }>(own, 'signing', 'import', ...given)
  expect(reader).toMatchObject({ subject: 'CN=Shop Reader', issuer: 'C=NL, CN=Test Root' })
  expect(await vidimus(own, ['signing', 'import', ...given, '--from', '2099-01-01'])).toMatchObject({ exitCode: 2 })
  const shown = await vidimus(own, ['signing', 'show'])
  expect(shown.stdout).toContain(`Reader      CN=Shop Reader, until`)
  expect(shown.stdout).toContain(reader.fingerprint)
  expect(await vidimus(own, ['signing', 'remove'])).toMatchObject({ exitCode: 2 })
  const removed = await vidimusJson<{ readers: unknown[] }>(own, 'signing', 'remove', '--fingerprint', reader.fingerprint)
  expect(removed.readers).toEqual([])
})

test('signing import takes a key of your own, and serve logs a certificate that expires soon', async () => {
  const own = temporaryDir()
  const first = await serve(own)
  first.process.kill('SIGTERM')
  await first.process.exited
  const issuer = await issueAuthority({ notAfter: Date.now() + 900 * DAY_MS })
  const life = { notBefore: Date.now() - 90 * DAY_MS, notAfter: Date.now() + 9.5 * DAY_MS }
  const leaf = await issueAccess({ name: 'CN=own.example', issuer, ...life })
  writeFileSync(file('own.pem'), pemOf(leaf.der))
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', leaf.keys.privateKey)).toString('base64')
  writeFileSync(file('own.key'), `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`)
  const imported = await vidimusJson<Signing>(own, 'signing', 'import', '--chain', file('own.pem'), '--key', file('own.key'))
  expect(imported).toMatchObject({ subject: 'CN=own.example', days_left: 9 })
  expect((await vidimus(own, ['signing', 'show'])).stdout).toContain('It expires soon')
  const { process: child } = await serve(own)
  child.kill('SIGTERM')
  expect(await new Response(child.stderr).text()).toContain('signing.certificate_expires')
})

test.each([
  ['signing import', 2, /--chain is missing/],
  ['signing import --chain ca.pem --from tomorrow', 2, /--from: write it like 2026-12-01/],
  ['signing import --chain ca.pem --tenant ten_none', 1, /there is no tenant ten_none/],
  ['signing import --chain ca.pem --key other.key', 1, /not for this key; put the leaf first/],
  ['signing import --chain ca.pem --key ca.key', 1, /self-signed/],
  ['signing import --chain nonsense.pem', 1, /no readable certificate/],
  ['signing import --chain ca.pem --key nonsense.pem', 1, /no readable private key/],
])('"%s" exits with %d and says what to do', async (call, exitCode, says) => {
  const args = call.split(' ').map(word => (/\.(pem|key)$/.test(word) ? file(word) : word))
  expect(await vidimus(join(files, 'data'), args)).toEqual({ exitCode, stdout: '', stderr: expect.stringMatching(says) })
})
