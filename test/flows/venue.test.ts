// A venue without internet: a machine at home follows a list, and a stick brings it. The program runs as it is released, on
// two data directories, with the real clock.
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Fetch, type Holder, present } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, cleanUp, NOON, temporaryDir } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { type Served, serve, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { forgeMdoc, holderWith, newLeaf, newRoot, signerFrom } from '../helpers/forger.ts'
import { makeSigner } from '../trust-lists/make.ts'
import { DEPRECATED, makeEtsiList, RECOGNIZED } from '../trust-lists/make-xml.ts'

afterAll(stopServing)
afterAll(cleanUp)

const PROOF_OF_AGE = 'eu.europa.ec.av.1'
const VENUE = 'https://venue.example'
const today = Date.now()
const validNow = { notBefore: today - 30 * DAY_MS, notAfter: today + 300 * DAY_MS }

const operator = await makeSigner({ ...validNow, kind: 'RSA' })
const root = await newRoot(validNow)
const issuer = await signerFrom(await newLeaf(root, validNow), { root })
const remaining = await newRoot(validNow)

/** The operator's list; a withdrawn issuer stays in it with another status. */
function listOf(sequence: number, { issuedAt, status = RECOGNIZED }: { issuedAt: number; status?: string }): Uint8Array {
  const providers = [
    { name: 'Age Office of Utopia', services: [{ certificate: root.der, status, since: issuedAt }] },
    { name: 'Other Office', services: [{ certificate: remaining.der, since: issuedAt }] },
  ]
  return makeEtsiList({ name: 'Age list', sequence, issuedAt, nextUpdate: today + 90 * DAY_MS, providers }, operator)
}

/** Forged documents count their days from noon. */
const daysFromNoon = (days: number): number => (today - NOON) / DAY_MS + days

const holder: Holder = await holderWith(async key => [
  await forgeMdoc(issuer, key, {
    doctype: PROOF_OF_AGE,
    elements: [[PROOF_OF_AGE, 'age_over_18', true]],
    validity: { signed: daysFromNoon(-1), from: daysFromNoon(-1), until: daysFromNoon(30) },
  }),
])

type Item = { what: string; name: string; outcome: string }

test('a stick brings a list to a venue without internet, and the withdrawal of an issuer with the next one', async () => {
  const [home, venue] = [join(temporaryDir(), 'data'), join(temporaryDir(), 'data')]
  const [published, stick] = [join(temporaryDir(), 'list.xml'), temporaryDir()]

  // At home, with internet.
  writeFileSync(published, listOf(1, { issuedAt: today - 2 * DAY_MS }))
  const flags = ['--kind', 'etsi-xml', '--env', 'live', '--label', 'Age list', '--signer', operator.fingerprint]
  const { id: source } = await vidimusJson<{ id: string }>(home, 'trust', 'source', 'add', published, ...flags)
  const first = join(stick, 'first.bundle')
  const { signer } = await vidimusJson<{ signer: string }>(home, 'trust', 'bundle', 'export', first, '--env', 'live')

  // In the venue, which trusts nobody yet.
  const served = await serve(venue, [], { VIDIMUS_TRUST_REFRESH: 'off', VIDIMUS_PUBLIC_URL: VENUE })
  const { id: tenant } = await vidimusJson<{ id: string }>(venue, 'tenant', 'create', '--name', 'Venue')
  const { key } = await vidimusJson<{ key: string }>(venue, 'key', 'create', '--tenant', tenant, '--env', 'live')
  expect(await show(served, key)).toMatchObject({ status: 'failed', error: { code: 'issuer_untrusted' } })

  expect(await importAt(venue, first, '--from', signer)).toEqual(['list Age list added'])
  expect(await show(served, key)).toMatchObject({ status: 'completed', claims: { age_over_18: true } })

  // At home the list has withdrawn the issuer.
  writeFileSync(published, listOf(2, { issuedAt: today - DAY_MS, status: DEPRECATED }))
  await vidimusJson(home, 'trust', 'source', 'refresh', source)
  const second = join(stick, 'second.bundle')
  await vidimusJson(home, 'trust', 'bundle', 'export', second, '--env', 'live')

  // The next stick, without a restart.
  expect(await importAt(venue, second)).toEqual(['list Age list accepted'])
  const refused = await show(served, key)
  expect(refused).toMatchObject({ status: 'failed', error: { code: 'issuer_untrusted' } })
  const detail = refused.credentials?.flatMap(({ findings }) => findings).find(({ check }) => check === 'issuer_chain')?.detail
  expect(detail).toContain('Age list has withdrawn this issuer since')

  // The stick of before does not bring the issuer back, whoever asks for it and whatever the name of the file.
  const renamed = join(stick, 'newest.bundle')
  copyFileSync(first, renamed)
  const old = await vidimus(venue, ['trust', 'bundle', 'import', renamed])
  expect(old).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--older') })
  const forced = await vidimus(venue, ['trust', 'bundle', 'import', renamed, '--older'])
  expect(forced).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('which is not after the accepted one') })
  expect(await show(served, key)).toMatchObject({ status: 'failed', error: { code: 'issuer_untrusted' } })
  expect(await vidimusJson<{ ok: boolean }>(venue, 'audit', 'verify')).toMatchObject({ ok: true })
})

/** Somebody shows the document of the listed issuer at the till. */
async function show({ url }: Served, key: string): Promise<Verification> {
  const body = { template: 'eu_av_age_18', purpose: 'To let you in' }
  const { body: created } = await call<Verification>(url, 'POST', '/v1/verifications', { key, body })
  const here: Fetch = (address, init) => fetch(address.replace(VENUE, url), init)
  await present(created.wallet_uri ?? '', holder, { fetch: here, now: Date.now() })
  return (await call<Verification>(url, 'GET', `/v1/verifications/${created.id}`, { key })).body
}

async function importAt(dir: string, file: string, ...flags: string[]): Promise<string[]> {
  const { items } = await vidimusJson<{ items: Item[] }>(dir, 'trust', 'bundle', 'import', file, ...flags)
  return items.map(({ what, name, outcome }) => `${what} ${name} ${outcome}`)
}
