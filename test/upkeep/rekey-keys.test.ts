// "rekey --data" and the keys beside rows: what it prints, and what users still have afterwards.
import { afterAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { exportAudit, verifyExport } from '../../src/audit/export.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { PURPOSES } from '../../src/base/seal.ts'
import { recoveryHash, replaceRecoveryCodes } from '../../src/people/factors/recovery-codes.ts'
import { sealSandboxAgain } from '../../src/sandbox/world.ts'
import { listFiles } from '../../src/session-keys/files.ts'
import { turnWrappingKey } from '../../src/session-keys/turn.ts'
import { exportBundle } from '../../src/trust/bundle/export.ts'
import { sealAgain } from '../../src/upkeep/seal-again.ts'
import { browseVerifications } from '../../src/verifications/browse/browse.ts'
import { readErasureLog } from '../../src/verifications/erasure/erasures.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createTerms } from '../../src/verifications/terms.ts'
import { cleanUp, createVerification, startApp, type TestApp } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/cli.ts'
import { openBrowser, setUpOwner } from '../helpers/dashboard.ts'
import { AUDIT_ENTRIES, rowsOf } from '../helpers/database.ts'

afterAll(cleanUp)

const BLOCK = { environment: 'live', fingerprint: 'ab'.repeat(32), reason: 'stolen key' }

type Rekeyed = {
  turned: string[]
  bundle_signer: { before: string; after: string } | null
  audit_signer: { before: string; after: string } | null
}

async function installation() {
  const app = await startApp({ now: Date.now() })
  const boss = await setUpOwner(app)
  const [user] = rowsOf<{ id: string }>(app.home, 'SELECT id FROM dashboard_users')
  const codes = await app.deps.writeSettings(tx => replaceRecoveryCodes(app.deps, tx, user!.id))
  return { app, boss, user: user!.id, codes, signer: await signerOf(app) }
}

const signerOf = async ({ deps }: TestApp) => (await exportBundle(deps, {}, 'test')).signer
const hashes = ({ home }: TestApp) => rowsOf<{ hash: string }>(home, 'SELECT hash FROM recovery_codes').map(({ hash }) => hash)

test('rekey --data turns every key, prints each, and names bundles and audit exports that were signed before', async () => {
  const { app, signer } = await installation()
  await app.stop()
  const { turned, bundle_signer, audit_signer } = await vidimusJson<Rekeyed>(app.home, 'rekey', '--data')
  // Rows are one more.
  expect(new Set(turned).size).toBe(Object.keys(PURPOSES).length + 1)
  expect(bundle_signer?.before).toBe(signer)
  expect(bundle_signer?.after).not.toBe(signer)
  const again = await startApp({ dir: app.home, now: Date.now() })
  expect(await signerOf(again)).toBe(bundle_signer!.after)
  await again.stop()
  const { stdout } = await vidimus(app.home, ['rekey', '--data'])
  expect(stdout).toContain(`Trust bundles that were made before are signed by ${bundle_signer!.after}, new ones by `)
  expect(stdout).toContain('\n  signatures of trust bundles\n')
  expect(stdout).toContain('\n  search by metadata, with each row that is sealed again\n')
  expect(stdout).toContain(`Audit exports that were made before are signed by ${audit_signer!.after}, new ones by `)
  expect(await vidimusJson<Rekeyed>(app.home, 'rekey')).toMatchObject({ turned: [], bundle_signer: null, audit_signer: null })
})

test('recovery codes stay good after two rekeys, under keys that the old master key does not give', async () => {
  const { app, user, codes } = await installation()
  const before = hashes(app)
  await app.stop()
  for (let round = 0; round < 2; round++) await vidimusJson(app.home, 'rekey', '--data')
  const again = await startApp({ dir: app.home, now: Date.now() })
  const stored = hashes(again)
  expect(stored.toSorted()).toEqual(codes.map(code => recoveryHash(again.deps, user, code)!).toSorted())
  expect(stored.some(hash => before.includes(hash))).toBe(false)
  const fresh = await again.deps.writeSettings(tx => replaceRecoveryCodes(again.deps, tx, user))
  expect(hashes(again)).toContain(recoveryHash(again.deps, user, fresh[0]!)!)
})

test('nobody is signed out after rekey --data: the page is loaded again, and acts', async () => {
  const { app, boss } = await installation()
  await app.stop()
  await vidimusJson(app.home, 'rekey', '--data')
  const again = await startApp({ dir: app.home, now: Date.now() })
  const page = openBrowser(again)
  Object.assign(page.state, boss.state)
  expect((await page.post('/trust/blocks', BLOCK)).status).toBe(403)
  // What a page does when it is loaded.
  expect((await page.get('/session')).status).toBe(200)
  expect((await page.post('/trust/blocks', BLOCK)).status).toBe(201)
})

/** A shop with two verifications; what its keys gave before, and what they give after "rekey --data". */
async function rekeyedShop() {
  const app = await startApp({ now: Date.now() })
  const shop = await app.tenant()
  const body = { metadata: { order: 'A-1', till: 'A-1' } }
  const made = [await createVerification(app, shop.key, body), await createVerification(app, shop.key)] as const
  const again = async () => {
    await app.stop()
    await vidimusJson(app.home, 'rekey', '--data')
    return await startApp({ dir: app.home, now: Date.now() })
  }
  return { app, shop, made, again, place: { tenantId: shop.id, environment: 'test' as const } }
}

const sealAll = ({ deps }: TestApp) => sealAgain(deps, tx => sealSandboxAgain(deps, tx))
const termsIn = ({ home }: TestApp) =>
  rowsOf<{ term: Buffer }>(home, 'SELECT term FROM verification_terms').map(({ term }) => Buffer.from(term).toString('hex'))
const subjectsIn = ({ home }: TestApp, action: string) =>
  rowsOf<{ subject: string }>(home, `SELECT subject FROM ${AUDIT_ENTRIES} WHERE action = '${action}'`).map(
    ({ subject }) => subject,
  )

test('a metadata value finds sessions before, while and after terms are written again, and none is left of the old key', async () => {
  const { app, made, again, place, shop } = await rekeyedShop()
  const old = createTerms(app.deps).wholeOf(place, ['A-1']).toString('hex')
  expect(termsIn(app)).toEqual([old])
  const since = await again()
  const fresh = await createVerification(since, shop.key, { metadata: { order: 'A-1' } })
  const found = async (filter = {}) => {
    const { verifications } = await browseVerifications(since.deps, place, { search: 'A-1', limit: 5, ...filter })
    return verifications.map(({ verification }) => verification.id)
  }
  const both = [fresh.id, made[0].id]
  expect([await found(), await found({ status: 'pending' })]).toEqual([both, both])
  expect(termsIn(since)).toContain(old)
  await sealAll(since)
  expect([await found(), await found({ status: 'pending' })]).toEqual([both, both])
  const now = createTerms(since.deps).wholeOf(place, ['A-1']).toString('hex')
  expect(termsIn(since)).toEqual([now, now])
  expect((await since.call('DELETE', `/v1/verifications/${made[0].id}`, { key: shop.key })).status).toBe(200)
  expect(termsIn(since)).toEqual([now])
  await since.stop()
  expect((await startApp({ dir: app.home, now: Date.now() })).deps.sealer.key('metadata term')).toHaveLength(32)
})

test('an Idempotency-Key of before rekey --data still answers, and the old key does not give its name', async () => {
  const { app, shop, again } = await rekeyedShop()
  const ask = (on: TestApp, name: string, body: object = { template: 'age_over_18' }) =>
    on.call<Verification>('POST', '/v1/verifications', { key: shop.key, body, headers: { 'idempotency-key': name } })
  const [first, erased] = [await ask(app, 'order-1'), await ask(app, 'order-2')]
  const namesIn = ({ home }: TestApp) =>
    rowsOf<{ hash: string }>(
      home,
      `SELECT hash FROM idempotency_keys UNION SELECT idempotency_hash FROM verification_sessions WHERE idempotency_hash IS NOT NULL
       UNION SELECT fingerprint FROM idempotency_keys`,
    ).map(({ hash }) => hash)
  const before = namesIn(app)
  expect(before).toHaveLength(3)
  const since = await again()
  expect(namesIn(since).filter(name => before.includes(name))).toEqual([])
  expect(namesIn(since)).toHaveLength(3)
  const repeated = await ask(since, 'order-1')
  expect([repeated.status, repeated.headers.get('idempotent-replayed'), repeated.body.id]).toEqual([201, 'true', first.body.id])
  expect((await ask(since, 'order-1', { template: 'age_over_16' })).status).toBe(422)
  expect((await since.call('DELETE', `/v1/verifications/${erased.body.id}`, { key: shop.key })).status).toBe(200)
  expect(await ask(since, 'order-2')).toMatchObject({
    status: 422,
    body: { error: { message: expect.stringContaining('erased') } },
  })
  // Once more, beside answers that were made since.
  const third = await ask(since, 'order-3')
  await since.stop()
  await vidimusJson(app.home, 'rekey', '--data')
  const last = await startApp({ dir: app.home, now: Date.now() })
  expect([(await ask(last, 'order-1')).body.id, (await ask(last, 'order-3')).body.id]).toEqual([first.body.id, third.body.id])
  // Two days later nothing of it is needed.
  last.clock.advance(2 * 86_400_000)
  await sealAll(last)
  expect(rowsOf(last.home, 'SELECT 1 FROM verification_sessions WHERE idempotency_hash IS NOT NULL')).toEqual([])
})

test('checkpoints are signed again: the chain and old exports are whole, and the old key signs nothing that counts', async () => {
  const { app, again } = await rekeyedShop()
  const before = await linesOf(app)
  const { publicKey: old } = await verifyAudit(app.deps)
  const since = await again()
  const { publicKey, problem, signedTo } = await verifyAudit(since.deps)
  expect([problem, publicKey === old, signedTo > 0]).toEqual([undefined, false, true])
  for (const [lines, key] of [
    [before, old],
    [await linesOf(since), publicKey],
  ] as const)
    expect(await verifyExport(linesAgain(lines))).toMatchObject({ problem: undefined, publicKey: key })
  const [first = '', ...records] = await linesOf(since)
  const forged = JSON.stringify({ ...JSON.parse(first), public_key: old })
  expect((await verifyExport(linesAgain([forged, ...records]))).problem).toEqual({
    seq: signedTo,
    problem: 'the signature of its checkpoint is not valid',
  })
})

async function linesOf({ deps }: TestApp): Promise<string[]> {
  const lines: string[] = []
  for await (const line of exportAudit(deps)) lines.push(line)
  return lines
}

async function* linesAgain(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

test('a verification keeps its name on the chain, new ones have names that the old key does not give, and erasures explain both', async () => {
  const { app, shop, made, again } = await rekeyedShop()
  const key = app.deps.sealer.key('audit subject')
  const named = (id: string) => createHmac('sha256', key).update(id).digest('hex')
  const since = await again()
  const fresh = await createVerification(since, shop.key)
  expect(subjectsIn(since, 'verification.created').toSorted()).toEqual(
    [...made.map(({ id }) => named(id)), since.deps.audit.subjectOf(fresh.id)].toSorted(),
  )
  expect(since.deps.audit.subjectOf(fresh.id)).not.toBe(named(fresh.id))
  expect((await since.call('POST', `/v1/verifications/${made[0].id}/cancel`, { key: shop.key })).status).toBe(200)
  expect(subjectsIn(since, 'verification.failed')).toEqual([named(made[0].id)])
  for (const { id } of [made[0], fresh])
    expect((await since.call('DELETE', `/v1/verifications/${id}`, { key: shop.key })).status).toBe(200)
  expect(subjectsIn(since, 'verification.erased')).toEqual([named(made[0].id), since.deps.audit.subjectOf(fresh.id)])
  expect((await verifyAudit(since.deps)).problem).toBeUndefined()
  // A backup of before knows only the old name, one of since the new one.
  const log = readErasureLog(`${since.home}/backups/erasures.log`)
  for (const { id } of [made[0], fresh])
    expect([...log!.subjects.keys()]).toEqual(expect.arrayContaining(since.deps.audit.namesOf(id)))
  expect(since.deps.audit.namesOf(fresh.id)[0]).toBe(named(fresh.id))
})

test('wrapping keys of before stay readable, and the first look after rekey --data makes one of the new name', async () => {
  const { app, shop, made, again } = await rekeyedShop()
  const before = listFiles(app.home).length
  const since = await again()
  const names = since.deps.sessionKeys.names
  expect([names.length, since.deps.sessionKeys.isOfNewestName(before)]).toEqual([2, false])
  expect((await since.call('GET', `/v1/verifications/${made[0].id}`, { key: shop.key })).status).toBe(200)
  await turnWrappingKey(since.deps)
  expect(listFiles(app.home)).toHaveLength(before + 1)
  expect(since.deps.sessionKeys.isOfNewestName(before + 1)).toBe(true)
  since.clock.advance(11 * 60_000)
  await turnWrappingKey(since.deps)
  expect(since.deps.sessionKeys.current()).toBe(before + 1)
  await turnWrappingKey(since.deps)
  expect(listFiles(app.home)).toHaveLength(before + 1)
})
