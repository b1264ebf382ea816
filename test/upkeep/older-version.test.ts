// The data of the version before migration 0005 (test/fixtures/before-0005), brought up to date: nothing is lost, and everything still works.
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { verifyAudit } from '../../src/audit/verify.ts'
import type { Overview } from '../../src/dashboard/verification-schema.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { readWebhookSecrets } from '../../src/tenants/webhook-secret.ts'
import { readProgress, sealAgain } from '../../src/upkeep/seal-again.ts'
import { sweepExpired } from '../../src/verifications/expire.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import type { Delivery } from '../../src/webhooks/schema.ts'
import { cleanUp, temporaryDir } from '../helpers/app.ts'
import { serve, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { openBrowser } from '../helpers/dashboard.ts'
import { enroll, refresh } from '../helpers/devices.ts'
import { contentOf, one } from '../helpers/directories.ts'
import { declined, logOf, receive, startAppFor, stopReceiving, untilAttempted, verified } from '../helpers/receiver.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'
import { checkInvariants } from '../invariants/check.ts'

setDefaultTimeout(60_000)

afterAll(async () => {
  await stopServing()
  stopReceiving()
  await cleanUp()
})

const FIXTURE = resolve(import.meta.dir, '../fixtures/before-0005')
const known = await Bun.file(join(FIXTURE, 'known.json')).json()
const STOPPED_AT = Date.parse(known.stopped_at)
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

function unpack(): string {
  const dir = temporaryDir()
  execFileSync('tar', ['-xzf', join(FIXTURE, 'data.tar.gz'), '-C', dir])
  return dir
}

/** Today's program on it, a minute after the older one was stopped. */
async function startOn(dir: string, now = STOPPED_AT + MINUTE_MS) {
  const receiver = receive()
  const app = await startAppFor([receiver], { dir, now })
  return { app, receiver }
}

const ofShop = (environment: 'test' | 'live') => ({ tenantId: known.tenants.corner, environment })

function rowsOf(dir: string): Record<string, number> {
  const sqlite = new Database(join(dir, 'vidimus.db'))
  const tables = sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
  const counts = tables.map(({ name }) => [
    name,
    sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${name}"`).get()?.n ?? 0,
  ])
  sqlite.close()
  return Object.fromEntries(counts)
}

/** Rows of verifications that are sealed without the key of their verification: the second byte says so. */
async function unkeyedIn(dir: string, table: string): Promise<unknown> {
  const belongs = table === 'audit_records' ? "action LIKE 'verification.%'" : '1'
  return one(
    join(dir, 'vidimus.db'),
    `SELECT count(*) FROM ${table} WHERE length(sealed) > 0 AND substr(sealed, 2, 1) <> x'01' AND ${belongs}`,
  )
}

describe('after an upgrade', () => {
  test('no row is lost, the audit chain goes on from the head it had, and the invariants hold', async () => {
    const dir = unpack()
    const before = rowsOf(dir)
    expect(await vidimusJson<object>(dir, 'upgrade')).toMatchObject({
      migrations: expect.arrayContaining(['0005_second_round', '0006_no_wallet_formats']),
    })
    const after = rowsOf(dir)
    for (const [table, count] of Object.entries(before)) expect([table, after[table]! >= count]).toEqual([table, true])
    expect({ ...after, schema_migrations: 0 }).toMatchObject({
      ...before,
      schema_migrations: 0,
      webhook_secrets: before.webhook_secrets! + 2,
      audit_records: before.audit_records! + 2,
      installation: before.installation! + 1,
    })
    expect(await checkInvariants(dir, { publicKey: known.audit.public_key })).toMatchObject({ violations: [] })
    expect(await vidimusJson<object>(dir, 'audit', 'verify')).toMatchObject({ ok: true, count: known.audit.records + 2 })
    const sqlite = new Database(join(dir, 'vidimus.db'))
    const head = sqlite
      .query<{ hash: unknown }, [number]>('SELECT hash FROM audit_records WHERE seq = ?')
      .get(known.audit.records)
    sqlite.close()
    expect(hexOf(head?.hash)).toBe(known.audit.head)
  })

  test('the API answers for every verification, device and day of usage as the older version did', async () => {
    const { app } = await startOn(unpack(), STOPPED_AT)
    const listed = async (path: string, key: string) => (await app.call<{ data: unknown }>('GET', path, { key })).body.data
    const { keys, before } = known
    expect(await listed('/v1/verifications?limit=100', keys.test)).toEqual(before.verifications)
    expect(await listed('/v1/verifications?limit=100', keys.live)).toEqual(before.live)
    expect(await listed('/v1/verifications?limit=100', keys.bar_test)).toEqual(before.bar)
    expect(await listed('/v1/devices', keys.test)).toEqual(before.devices)
    expect((await app.call('GET', '/v1/usage', { key: keys.test })).body).toEqual(before.usage)
    expect((await app.call('GET', `/v1/verifications/${known.sessions.erased}`, { key: keys.test })).status).toBe(404)
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  })

  test('verifications of the older version get keys of their own once they have ended, and are read as before', async () => {
    const { app } = await startOn(unpack(), STOPPED_AT)
    const { keys, before } = known
    const listed = async () =>
      (await app.call<{ data: unknown }>('GET', '/v1/verifications?limit=100', { key: keys.test })).body.data
    const keyless = () =>
      one(join(app.dir, 'vidimus.db'), 'SELECT count(*) FROM verification_sessions WHERE wrapping_key IS NULL')
    const open = "SELECT count(*) FROM verification_sessions WHERE wrapping_key IS NULL AND status <> 'pending'"
    expect(keyless()).toBe(10)
    await sealAgain(app.deps)
    expect(await listed()).toEqual(before.verifications)
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
    expect(one(join(app.dir, 'vidimus.db'), open)).toBe(0)
    expect(await readProgress(app.deps)).toMatchObject({ isWaiting: true })
    // Open ones are left to the requests that may be under way.
    app.clock.advance(DAY_MS)
    await sweepExpired(app.deps)
    await sealAgain(app.deps)
    expect([keyless(), await readProgress(app.deps)]).toEqual([0, undefined])
    for (const table of ['verification_results', 'verification_events', 'webhook_attempts', 'audit_records']) {
      const unkeyed = await unkeyedIn(app.dir, table)
      expect([table, unkeyed]).toEqual([table, 0])
    }
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  })

  test('keys, tills, passwords, templates, idempotency keys and response codes are worth what they were', async () => {
    const { app } = await startOn(unpack())
    const { keys, devices, users, sessions, idempotency } = known
    const statuses = Object.entries<string>(keys).map(async ([name, key]) => [
      name,
      (await app.call('GET', '/v1/usage', { key })).status,
    ])
    expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
      test: 200,
      live: 200,
      expired: 401,
      revoked: 401,
      rolled: 200,
      successor: 200,
      bar_test: 200,
      bar_live: 200,
    })
    expect((await enroll(app, devices.pending.pairing_code)).status).toBe(200)
    expect((await app.call('GET', '/v1/usage', { key: devices.active.access_token })).status).toBe(200)
    expect((await app.call('GET', '/v1/usage', { key: devices.revoked.access_token })).status).toBe(401)
    expect((await refresh(app, devices.active.refresh_token)).status).toBe(200)
    for (const name of [users.owner, users.member]) expect((await openBrowser(app).logIn(name, users.password)).status).toBe(200)
    for (const template of known.templates)
      expect((await app.call('POST', '/v1/verifications', { key: keys.test, body: { template } })).status).toBe(201)
    const headers = { 'idempotency-key': idempotency.key }
    const replayed = await app.call<Verification>('POST', '/v1/verifications', {
      key: keys.test,
      body: idempotency.body,
      headers,
    })
    expect([replayed.status, replayed.headers.get('idempotent-replayed'), replayed.body.id]).toEqual([
      201,
      'true',
      idempotency.id,
    ])
    const redeemed = await app.call<Verification>('POST', `/v1/verifications/${sessions.redeemable}/redeem`, {
      key: keys.test,
      body: { response_code: sessions.response_code },
    })
    expect([redeemed.status, redeemed.body.status]).toEqual([200, 'completed'])
  })

  test('a session that was open is answered, by the sandbox wallet of before, and what is owed for it is on the log', async () => {
    const { app } = await startOn(unpack())
    const { pending, pending_wallet_uri } = known.sessions
    await answerWith(app, await holderOf(app), pending_wallet_uri)
    const { body } = await app.call<Verification>('GET', `/v1/verifications/${pending}`, { key: known.keys.test })
    expect([body.status, body.metadata, body.claims]).toEqual(['completed', { order: 'o-2' }, { age_over_18: true }])
    expect(logOf(app, pending).delivery?.status).toBe('pending')
  })

  test('a day later it is expired by the clock, as anywhere', async () => {
    const { app } = await startOn(unpack(), STOPPED_AT + DAY_MS)
    const { body } = await app.call<Verification>('GET', `/v1/verifications/${known.sessions.pending}`, { key: known.keys.test })
    expect(body.status).toBe('expired')
  })

  test('the deliveries and their attempts are on the log as before', async () => {
    const dir = unpack()
    await vidimusJson(dir, 'upgrade')
    const { completed, undeliverable, owed, live_owed } = known.sessions
    const { data } = await vidimusJson<{ data: Delivery[] }>(dir, 'deliveries', 'list', '--tenant', known.tenants.corner)
    const told = data.map(({ verification_id, status, attempts }) => [verification_id, `${status} ${attempts.length}`])
    expect(Object.fromEntries(told)).toEqual({
      [completed]: 'delivered 1',
      [undeliverable]: 'failed 6',
      [owed]: 'pending 2',
      [live_owed]: 'pending 1',
    })
    expect(data.flatMap(({ attempts }) => attempts).every(({ address }) => address === '127.0.0.1')).toBe(true)
  })
})

describe('the webhook secret that was for both', () => {
  test('signs live results, its predecessor beside it, and test results have a new one that is no other tenant’s', async () => {
    const { app, receiver } = await startOn(unpack())
    const { corner, corner_before, corner_before_valid_until, bar } = known.webhook_secrets
    expect(await readWebhookSecrets(app.deps, ofShop('live'))).toEqual({
      current: corner,
      previous: { secret: corner_before, validUntil: Date.parse(corner_before_valid_until) },
    })
    const ofTest = await readWebhookSecrets(app.deps, ofShop('test'))
    const ofBar = await readWebhookSecrets(app.deps, { tenantId: known.tenants.bar, environment: 'test' })
    expect(Object.keys(ofTest ?? {})).toEqual(['current'])
    expect(new Set([corner, corner_before, bar, ofTest?.current, ofBar?.current]).size).toBe(5)
    for (const [key, good, bad] of [
      [known.keys.test, ofTest!.current, corner],
      [known.keys.live, corner, ofTest!.current],
    ]) {
      await untilAttempted(app, await declined({ app, key }, receiver.url()), 1)
      const message = receiver.received.at(-1)!
      expect((await verified(message, good, app.clock.now())).type).toBe('verification.failed')
      expect(verified(message, bad, app.clock.now())).rejects.toThrow()
      app.clock.advance(1)
    }
  })

  test('is told on the overview for 30 days, or until the test secret is rotated', async () => {
    const dir = unpack()
    const { app } = await startOn(dir)
    const at = new Date(app.clock.now()).toISOString()
    const boss = openBrowser(app)
    const told = async (tenant: string) => {
      const { body } = await boss.get<Overview>(`/tenants/${tenant}/overview?environment=test`)
      return body.attention.filter(({ code }) => code === 'webhook_secret_split')
    }
    await boss.logIn(known.users.owner, known.users.password)
    app.clock.advance(1)
    const { tenant } = await createTenant(app.deps, { name: 'New' }, 'test')
    expect(await told(known.tenants.corner)).toEqual([{ code: 'webhook_secret_split', at }])
    expect(await told(tenant.id)).toEqual([])
    await boss.post(`/tenants/${known.tenants.corner}/webhook-secret/rotate?environment=test`)
    expect(await told(known.tenants.corner)).toEqual([])
    app.clock.advance(30 * DAY_MS - 2)
    await boss.logIn(known.users.owner, known.users.password)
    expect(await told(known.tenants.bar)).toHaveLength(1)
    app.clock.advance(1)
    await boss.logIn(known.users.owner, known.users.password)
    expect(await told(known.tenants.bar)).toEqual([])
  })

  test('is split once: a second start makes no other secret', async () => {
    const dir = unpack()
    const { app } = await startOn(dir)
    const first = await readWebhookSecrets(app.deps, ofShop('test'))
    await app.stop()
    const { app: again } = await startOn(dir, STOPPED_AT + 2 * MINUTE_MS)
    expect(await readWebhookSecrets(again.deps, ofShop('test'))).toEqual(first)
  })
})

test('anchors that were added without a mode judge by type now, and an explicit one stays', async () => {
  const dir = unpack()
  await vidimusJson(dir, 'upgrade')
  const sqlite = new Database(join(dir, 'vidimus.db'))
  const modes = sqlite.query<{ id: string; mode: string }, []>('SELECT id, mode FROM trust_anchors').all()
  sqlite.close()
  const { anchors } = known
  expect(Object.fromEntries(modes.map(({ id, mode }) => [id, mode]))).toEqual({
    [anchors.plain]: 'auto',
    [anchors.photo]: 'auto',
    [anchors.iso]: 'iso',
    [anchors.driving]: 'iso',
    [anchors.pid]: 'pkix',
  })
})

test('"serve" brings it up to date by itself, with a copy from before, and the commands work from then on', async () => {
  const dir = unpack()
  const server = await serve(dir, [], { VIDIMUS_PUBLIC_URL: known.public_url })
  const { data } = await vidimusJson<{ data: { id: string }[] }>(dir, 'tenant', 'list')
  expect(new Set(data.map(({ id }) => id))).toEqual(new Set(Object.values(known.tenants)))
  const live = await vidimusJson<object>(dir, 'webhook-secret', 'show', '--tenant', known.tenants.corner, '--env', 'live')
  expect(live).toMatchObject({ webhook_secret: known.webhook_secrets.corner })
  server.process.kill()
  await server.process.exited
  expect(await Bun.file(join(dir, 'backups/before-0005_second_round.db')).exists()).toBe(true)
  expect(await checkInvariants(dir)).toMatchObject({ violations: [] })
})

test.each([
  [['tenant', 'list']],
  [['key', 'list', '--tenant', known.tenants.corner]],
  [['device', 'list', '--tenant', known.tenants.corner]],
  [['template', 'list', '--tenant', known.tenants.corner]],
  [['trust', 'list']],
  [['user', 'list']],
  [['signing', 'show']],
  [['webhook-secret', 'show', '--tenant', known.tenants.corner]],
  [['deliveries', 'list', '--tenant', known.tenants.corner]],
  [['audit', 'verify']],
  [['tenant', 'create', '--name', 'Third']],
  [['key', 'create', '--tenant', known.tenants.corner, '--env', 'test']],
])('"%p" on it changes no byte, and names "upgrade" in one sentence', async args => {
  const dir = unpack()
  const before = contentOf(dir)
  const { exitCode, stdout, stderr } = await vidimus(dir, args)
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'vidimus: the database is of an earlier version than this program; stop the service and run "vidimus upgrade"\n',
  })
  expect(contentOf(dir)).toEqual(before)
})

const hexOf = (hash: unknown): string => (typeof hash === 'string' ? hash : Buffer.from(hash as Uint8Array).toString('hex'))
