// Every release's installation, as keep.ts kept it, under the program of today: its upgrade, and then all that its clients know.
// The clock shows the time at which it was made.
import { Database } from 'bun:sqlite'
import { beforeAll, expect, test } from 'bun:test'
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { verifyAudit } from '../../src/audit/verify.ts'
import { sha256Hex } from '../../src/base/hash.ts'
import { loadConfig } from '../../src/config.ts'
import type { DeliveryDetail, WebhookEndpoint } from '../../src/dashboard/developers/webhooks/schema.ts'
import type { AuditRecord } from '../../src/dashboard/settings/audit/schema.ts'
import type { VerificationDetail } from '../../src/dashboard/verifications/schema.ts'
import { databaseFile } from '../../src/db/database-file.ts'
import { MIGRATIONS as ON_SERVER } from '../../src/db/postgres/migrate.ts'
import { MIGRATIONS as IN_FILE } from '../../src/db/sqlite/migrate.ts'
import type { Till, TokenPair } from '../../src/devices/schema.ts'
import type { SignIn } from '../../src/people/security-schema.ts'
import { answerPage } from '../../src/sandbox/wallet/dc-wallet.ts'
import { fetchRequest } from '../../src/sandbox/wallet/wallet.ts'
import { PORTRAIT_MS } from '../../src/verifications/portraits.ts'
import type { HostedVerification, Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, type TestApp, temporaryDir, until } from '../helpers/app.ts'
import { codeAt, STEP_MS } from '../helpers/authenticator-app.ts'
import { vidimus } from '../helpers/cli.ts'
import { giveToPostgres, newDatabase, postgresDir } from '../helpers/cluster.ts'
import { type Browser, openBrowser, outcome, PASSWORD } from '../helpers/dashboard.ts'
import { ask, ORIGIN, tell } from '../helpers/dc.ts'
import { refresh } from '../helpers/devices.ts'
import { postgresOnly, sqliteOnly } from '../helpers/engines.ts'
import { formOf, postTo } from '../helpers/exchange.ts'
import { scan } from '../helpers/in-person.ts'
import { type Receiver, receive, startAppFor, verified } from '../helpers/receiver.ts'
import { runOn, shareCluster } from '../helpers/shared-cluster.ts'
import { answerWith, fetchOf, holderOf } from '../helpers/wallet.ts'
import {
  ANCHOR,
  chainOf,
  type Facts,
  IDEMPOTENCY_KEY,
  logIn,
  ORDER,
  OWNER,
  RECEIVED,
  sandboxOf,
  TEMPLATE,
} from './installation.ts'

type Engine = 'sqlite' | 'postgres'
type Migration = { id: string; sha256: string }

const RELEASES = readdirSync(import.meta.dir).filter(name => /^\d+\.\d+\.\d+$/.test(name))

const cluster = shareCluster({}, cleanUp)

const fileOf = (release: string, name: string): string => join(import.meta.dir, release, name)
const unpacked = (release: string, name: string): Buffer => gunzipSync(readFileSync(fileOf(release, name)))

/** The chain of today, with the checksum of each file. */
const CHAINS: Record<Engine, Migration[]> = {
  sqlite: IN_FILE.map(([id, sql]) => ({ id, sha256: sha256Hex(sql) })),
  postgres: ON_SERVER.map(({ id, sql }) => ({ id, sha256: sha256Hex(sql) })),
}

const KEPT: Record<Engine, (release: string) => Migration[]> = {
  sqlite: release => {
    const file = join(temporaryDir(), 'kept.db')
    writeFileSync(file, unpacked(release, 'sqlite.db.gz'))
    const sqlite = new Database(file)
    const applied = sqlite.query<Migration, []>('SELECT id, sha256 FROM schema_migrations ORDER BY id').all()
    sqlite.close()
    return applied
  },
  postgres: release => {
    const dump = unpacked(release, 'postgres.sql.gz').toString()
    const [, rows = ''] = /^COPY public\.schema_migrations \(id, sha256, .*\n((?:.*\n)*?)\\\.$/m.exec(dump) ?? []
    return [...rows.matchAll(/^(\S+)\t([0-9a-f]{64})\t/gm)].map(([, id = '', sha256 = '']) => ({ id, sha256 }))
  },
}

test('an installation of every release is kept, the first one included', () => {
  expect(RELEASES).toContain('0.1.0')
})

for (const release of RELEASES) {
  test.each(['sqlite', 'postgres'] as const)(`no migration that ${release} released for %s was edited or removed`, engine => {
    const kept = KEPT[engine](release)
    expect(kept.length).toBeGreaterThan(0)
    expect(CHAINS[engine].slice(0, kept.length)).toEqual(kept)
  })

  sqliteOnly('a file').describe(`an installation of ${release}`, () => upgraded(release, 'sqlite'))
  postgresOnly('a database of a server').describe(`an installation of ${release} on PostgreSQL`, () =>
    upgraded(release, 'postgres'),
  )
}

/** Unpacks it, and returns the settings that lead to its database. */
async function unpack(release: string, engine: Engine, dir: string): Promise<Record<string, string>> {
  for (const name of readdirSync(fileOf(release, `keys/${engine}`))) {
    cpSync(fileOf(release, `keys/${engine}/${name}`), join(dir, name))
    // Git does not keep who may read them.
    chmodSync(join(dir, name), 0o600)
  }
  if (engine === 'sqlite') {
    writeFileSync(databaseFile(dir), unpacked(release, 'sqlite.db.gz'), { mode: 0o600 })
    return {}
  }
  const name = `kept_${release}`
  const dump = join(postgresDir(), 'kept.sql')
  writeFileSync(dump, unpacked(release, 'postgres.sql.gz'))
  giveToPostgres(dump, 0o600)
  const url = await newDatabase(cluster, name)
  runOn(cluster, 'psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-f', dump, name])
  return { VIDIMUS_DATABASE_URL: url }
}

function upgraded(release: string, engine: Engine): void {
  const facts: Facts = JSON.parse(readFileSync(fileOf(release, `${engine}.json`), 'utf8'))
  const { key, madeAt, pending, completed, ordered } = facts
  const at = `/tenants/${facts.tenant}`
  const runs: Record<string, Awaited<ReturnType<typeof vidimus>>> = {}
  let app: TestApp
  let receiver: Receiver
  let boss: Browser

  beforeAll(async () => {
    const dir = temporaryDir()
    const env = await unpack(release, engine, dir)
    for (const args of [
      ['upgrade', '--json'],
      ['audit', 'verify', '--json'],
    ])
      runs[args[0]!] = await vidimus(dir, args, env)
    receiver = receive()
    const { database } = loadConfig(env)
    app = await startAppFor([receiver], { dir, now: madeAt, config: database ? { database } : {} })
    boss = openBrowser(app)
    await logIn(app, facts.recoveryCode, boss)
  })

  const read = async (id: string) => (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body
  const detailOf = async (id: string) => (await boss.get<VerificationDetail>(`${at}/verifications/${id}?environment=test`)).body

  test('vidimus upgrade applies the migrations since, and no other', () => {
    const since = CHAINS[engine].slice(KEPT[engine](release).length).map(({ id }) => id)
    const { exitCode, stdout, stderr } = runs.upgrade!
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ migrations: since })
  })

  test('the audit chain is whole, signed at least as far as before, and its details open', async () => {
    const { exitCode, stdout } = runs.audit!
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(stdout).signed_to).toBeGreaterThanOrEqual(facts.signedTo)
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
    const { data } = (await boss.get<{ data: AuditRecord[] }>('/audit?limit=100')).body
    expect(data.filter(({ details }) => details === null)).toEqual([])
    expect(data.filter(({ action }) => action === 'verification.created').length).toBeGreaterThanOrEqual(3)
  })

  test('a result opens with its portrait, its purpose, its metadata and its timeline', async () => {
    const verification = await read(completed.id)
    expect(Object.keys(verification.claims ?? {})).toEqual(completed.claims)
    expect(verification.claims).toHaveProperty('picture')
    expect(verification).toMatchObject({ status: 'completed', purpose: 'to sell a bottle', metadata: { order: 'A-0' } })
    const { timeline } = await detailOf(completed.id)
    expect(timeline.find(({ event }) => event === 'response_posted')).toMatchObject({ status: 'completed' })
  })

  test('the page of a pending session shows its query, and a wallet that had fetched its request answers it', async () => {
    const page = (await app.call<HostedVerification>('GET', `/v/${pending.id}/data`)).body
    expect(page.shares).toMatchObject([{ alternatives: [{ claims: ['family_name'] }] }])
    const again = await fetchRequest(page.wallet_uri ?? '', fetchOf(app), { now: madeAt })
    expect(again.encryption).toEqual(pending.request.encryption!)
    const session = { app, key, created: await read(pending.id), request: pending.request }
    expect(await postTo(session, await formOf(session, await holderOf(app)))).toMatchObject({ status: 200 })
    expect(await read(pending.id)).toMatchObject({ status: 'completed', claims: { family_name: 'Mustermann' } })
  })

  test('the key that signs requests is the one of before', async () => {
    const { id } = await createVerification(app, key)
    expect(await chainOf(app, id)).toEqual(facts.chain)
  })

  test('documents of the sandbox issuer are trusted as before', async () => {
    expect(await sandboxOf(app)).toBe(facts.sandbox)
    const { id, wallet_uri } = await createVerification(app, key)
    await answerWith(app, await holderOf(app), wallet_uri!)
    expect((await read(id)).credentials).toMatchObject([{ trusted: true }])
  })

  test('the requests that a page of the shop got stay the same but for a purpose that nobody gave, and are answered', async () => {
    const { requests } = ordered
    expect(withoutPurposes((await ask(app, ordered.id)).body.requests)).toEqual(withoutPurposes(requests))
    const given = await answerPage({ requests, origin: ORIGIN }, await holderOf(app), { now: madeAt })
    expect(await tell(app, ordered.id, given)).toMatchObject({ status: 200 })
    expect(await read(ordered.id)).toMatchObject({ status: 'completed' })
  })

  // Phones are asked in person since 0.2.0.
  const { scanned } = facts as Partial<Facts>
  if (scanned)
    test('a phone whose code was scanned is sent the same message again', async () => {
      expect((await scan({ app, key }, scanned.id, scanned.code)).body.message).toBe(scanned.message)
    })

  test('a repeated Idempotency-Key gets the answer of before', async () => {
    const headers = { 'idempotency-key': IDEMPOTENCY_KEY }
    const { status, body, ...again } = await app.call<Verification>('POST', '/v1/verifications', { key, body: ORDER, headers })
    expect([status, again.headers.get('idempotent-replayed'), body.id]).toEqual([201, 'true', ordered.id])
  })

  test('a delivery is signed with the webhook secret of before, and the endpoint is still set', async () => {
    expect((await boss.get<WebhookEndpoint>(`${at}/webhook-endpoint?environment=test`)).body.webhook_url).toBe(facts.endpoint)
    // Sessions of one moment are dated one after the other.
    app.clock.advance(1000)
    const { id, wallet_uri } = await createVerification(app, key, { webhook_url: receiver.url() })
    await answerWith(app, await holderOf(app), wallet_uri!)
    await until(async () => receiver.received.length > 0)
    expect((await verified(receiver.received[0]!, facts.webhookSecret, madeAt)).verification.id).toBe(id)
  })

  test('the delivery log shows what the receiver answered', async () => {
    const { body } = await boss.get<DeliveryDetail>(`${at}/deliveries/${completed.delivery}?environment=test`)
    expect(body).toMatchObject({ url: facts.endpoint, attempts: [{ outcome: 'delivered', answer: RECEIVED }] })
  })

  test('the owner logs in with the password and a one-time code, and a recovery code counted once', async () => {
    const login = async (code: string) => outcome(await logIn(app, code))
    expect(await login(facts.recoveryCode)).toBe('401 second_factor_failed')
    expect(await login(await codeAt(facts.totpSecret, madeAt + STEP_MS))).toBe('200')
    expect(outcome(await openBrowser(app).logIn(OWNER, `${PASSWORD}!`))).toBe('401 login_failed')
    const { data } = (await boss.get<{ data: SignIn[] }>('/sign-ins')).body
    expect(data.at(-1)).toMatchObject({ name: OWNER, method: 'setup', network: '127.0.0.0/24' })
  })

  test('the template, the trust anchor and the tokens of a till are still there', async () => {
    expect(await createVerification(app, key, { template: TEMPLATE })).toMatchObject({ status: 'pending' })
    const { data } = (await boss.get<{ data: { label: string }[] }>('/trust')).body
    expect(data.map(({ label }) => label)).toContain(ANCHOR)
    const till = await app.call<Till>('GET', '/till/data', { key: facts.device.access_token })
    expect(till.body.ways).toEqual(['qr', 'in_person', 'dc_api'])
    const fresh = await refresh(app, facts.device.refresh_token)
    expect(fresh.body satisfies TokenPair).toMatchObject({ token_type: 'Bearer' })
  })

  test('a portrait ends a quarter of an hour after its answer, and the result stays', async () => {
    app.clock.advance(PORTRAIT_MS)
    const { picture: _, ...others } = (await read(completed.id)).claims!
    expect(Object.keys(others)).toEqual(completed.claims.filter(name => name !== 'picture'))
  })
}

/** Since 0.2.0 a built-in purpose is said in the language of whoever asks. */
const withoutPurposes = (requests: unknown): unknown =>
  JSON.parse(JSON.stringify(requests, (name, value) => (name === 'purpose' ? undefined : value)))
