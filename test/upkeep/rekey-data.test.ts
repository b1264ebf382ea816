// `vidimus rekey --data`: all rows are sealed again in the background, and the old key is worth nothing for what came later.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { verifyAudit } from '../../src/audit/verify.ts'
import { SEALED } from '../../src/db/sealed-columns.ts'
import { draftAddress } from '../../src/people/users/addresses.ts'
import { inviteUser } from '../../src/people/users/users.ts'
import { sealSandboxAgain } from '../../src/sandbox/world.ts'
import { readProgress, sealAgain } from '../../src/upkeep/seal-again.ts'
import { browseVerifications } from '../../src/verifications/browse/browse.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { rowsOf } from '../helpers/database.ts'
import { copyOf, one } from '../helpers/directories.ts'
import { examine } from '../helpers/doctor.ts'
import { answerOf, pass } from '../helpers/in-person.ts'
import { textsAbout, timeWrites } from '../helpers/keys.ts'
import { QUERIES } from '../helpers/queries.ts'
import { receive, startAppFor, stopReceiving, untilAttempted } from '../helpers/receiver.ts'
import { holderOf, verifyWith } from '../helpers/wallet.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

const databaseOf = (own: string) => join(own, 'vidimus.db')

let dir: string
let key: string
let made: Verification[]
/** A phone that was asked in person, and what it answers. */
let waiting: { id: string; answer: Uint8Array }

beforeAll(async () => {
  const shop = receive()
  const app = await startAppFor([shop], { now: Date.now() })
  ;({ key } = await app.tenant())
  const body = { webhook_url: shop.url(), purpose: 'to sell a bottle', metadata: { order: 'A-1' } }
  made = [(await verifyWith(app, key, 'adult', { body })).verification]
  await untilAttempted(app, made[0]!.id, 1)
  for (let i = 0; i < 59; i++) made.push(await createVerification(app, key, { purpose: `number ${i}` }))
  made.push(await createVerification(app, key, { ...QUERIES['dc+sd-jwt'], template: undefined }))
  const { id } = made[1]!
  // A second fetch is kept beside the first.
  for (let i = 0; i < 2; i++) await app.call('GET', `/wallet/request/${id}`)
  waiting = { id, ...(await answerOf({ app, key }, id, await holderOf(app))) }
  const { user } = await inviteUser(app.deps, { name: 'olivia', memberOf: null }, 'test')
  await draftAddress(app.deps, user.id, { address: 'olivia@shop.example', language: 'en' })
  await app.stop()
  dir = app.dir
})

const sealAll = (app: TestApp) => sealAgain(app.deps, tx => sealSandboxAgain(app.deps, tx))

/** Sealed columns of every table that has some, by table. */
function sealedIn(file: string): Map<string, Uint8Array[]> {
  const sqlite = new Database(file)
  const columns = [
    ['verification_sessions', 'sealed'],
    ['verification_sessions', 'sealed_query'],
    ['verification_sessions', 'sealed_in_person'],
    ['verification_sessions', 'sealed_fetches'],
    ['verification_results', 'sealed'],
    ['verification_events', 'sealed'],
    ['webhook_attempts', 'sealed'],
    ['webhook_secrets', 'sealed'],
    ['signing_keys', 'sealed'],
    ['mail_addresses', 'sealed'],
    ['audit_records', 'sealed'],
  ]
  const rows = columns.map(([table, column]) => {
    const found = sqlite
      .query<{ sealed: Uint8Array }, []>(`SELECT ${column} AS sealed FROM ${table} WHERE length(${column}) > 0`)
      .all()
    return [`${table} ${column}`, found.map(({ sealed }) => sealed)] as const
  })
  sqlite.close()
  return new Map(rows)
}

test('a database that a command made has nothing to seal again after its first verifications', async () => {
  const own = temporaryDir()
  await vidimusJson(own, 'tenant', 'create', '--name', 'Shop')
  const app = await startApp({ dir: own, now: Date.now() })
  await createVerification(app, (await app.tenant()).key)
  expect(await readProgress(app.deps)).toBeUndefined()
})

test('rekey --data seals every row again in the background, and everything still opens', async () => {
  const own = copyOf(dir)
  const before = sealedIn(databaseOf(own))
  expect(await vidimusJson<object>(own, 'rekey', '--data')).toMatchObject({ data: true })
  const app = await startApp({ dir: own, now: Date.now() })
  const fresh = await createVerification(app, key, { purpose: 'new' })
  const check = async () => (await examine(app.deps, true)).find(({ name }) => name === 'wrapping_keys')
  expect(await check()).toMatchObject({ status: 'warning', detail: expect.stringMatching(/^0 of 62 verifications are sealed/) })
  await sealAll(app)
  expect(await check()).toMatchObject({ status: 'ok' })
  expect(await readProgress(app.deps)).toBeUndefined()
  for (const [table, rows] of sealedIn(databaseOf(own))) {
    expect([table, rows.length >= before.get(table)!.length && rows.length > 0]).toEqual([table, true])
    const kept = rows.filter(row => before.get(table)!.some(old => Buffer.from(old).equals(Buffer.from(row))))
    expect([table, kept.length]).toEqual([table, 0])
  }
  await app.stop()

  const again = await startApp({ dir: own, now: Date.now() })
  for (const { id, purpose, claims } of [...made.slice(0, 3), fresh]) {
    const { body } = await again.call<Verification>('GET', `/v1/verifications/${id}`, { key })
    expect(body).toMatchObject(JSON.parse(JSON.stringify({ id, purpose, claims })))
  }
  const { body: page } = await again.call<{ shares: object[] }>('GET', `/v/${made.at(-1)!.id}/data`)
  expect(page.shares).toMatchObject([{ alternatives: [{ claims: ['family_name', 'given_name'] }] }])
  const [owner] = rowsOf<{ id: string }>(again, 'SELECT id FROM tenants')
  const place = { tenantId: owner!.id, environment: 'test' as const }
  const { verifications: found } = await browseVerifications(again.deps, place, { search: 'A-1', limit: 5 })
  expect(found.map(({ verification }) => verification.id)).toEqual([made[0]!.id])
  expect((await verifyAudit(again.deps)).problem).toBeUndefined()
  expect((await pass({ app: again, key }, waiting.id, waiting.answer)).body.status).toBe('completed')
  expect((await verifyWith(again, key, 'adult')).verification.status).toBe('completed')
  // The old row key is gone for good: not even the new master key opens a row of an old copy.
  const id = String(one(databaseOf(dir), 'SELECT id FROM signing_keys LIMIT 1'))
  const [salt, old, renewed] = [
    [dir, 'salt'],
    [dir, 'sealed'],
    [own, 'sealed'],
  ].map(([from = '', column]) => one(databaseOf(from), `SELECT ${column} FROM signing_keys WHERE id = ?`, id) as Uint8Array)
  expect(again.deps.sealer.open(SEALED.signingKey(id, salt!), renewed!)).not.toBe('')
  expect(() => again.deps.sealer.open(SEALED.signingKey(id, salt!), old!)).toThrow('sealed under a key that is gone')
})

test('the old master key with an old backup opens nothing that was written since', async () => {
  const own = copyOf(dir)
  const old = temporaryDir()
  cpSync(own, old, { recursive: true })
  const id = made[0]!.id
  expect(await textsAbout(databaseOf(old), old, id)).not.toEqual([])
  await vidimusJson(own, 'rekey', '--data')
  const app = await startApp({ dir: own, now: Date.now() })
  await sealAll(app)
  const fresh = await createVerification(app, key, { purpose: 'written since' })
  await app.stop()

  // The attacker has the old root key and gets the new database with all wrapping keys, but not the new master key.
  const stolen = temporaryDir()
  cpSync(own, stolen, { recursive: true })
  const withOldRoot = (sqlite: Database) => {
    sqlite.run(`ATTACH '${databaseOf(old)}' AS old`)
    sqlite.run(
      "UPDATE installation SET value = (SELECT value FROM old.installation WHERE name = 'root_key') WHERE name = 'root_key'",
    )
  }
  const sqlite = new Database(databaseOf(stolen))
  withOldRoot(sqlite)
  sqlite.close()
  const oldKey = join(old, 'master.key')
  expect(await textsAbout(databaseOf(stolen), stolen, id, oldKey)).toEqual([])
  expect(await textsAbout(databaseOf(stolen), stolen, fresh.id, oldKey)).toEqual([])
  expect(await textsAbout(databaseOf(own), own, id)).not.toEqual([])

  // After a plain rekey the same attack works: this is why there is --data.
  const plain = copyOf(dir)
  await vidimusJson(plain, 'rekey')
  const other = new Database(databaseOf(plain))
  withOldRoot(other)
  other.close()
  expect(await textsAbout(databaseOf(plain), plain, id, oldKey)).not.toEqual([])
})

test('sealing again leaves most of the time to requests: it rests after each few verifications', async () => {
  const own = copyOf(dir)
  await vidimusJson(own, 'rekey', '--data')
  const app = await startApp({ dir: own, now: Date.now() })
  const timed = timeWrites(app)
  await sealAgain(timed.deps, tx => sealSandboxAgain(app.deps, tx))
  expect(timed.pauses()).toBeGreaterThan(made.length / 5)
})

test('sealing again continues after each write at which it was cut off, without beginning again', async () => {
  const own = copyOf(dir)
  await vidimusJson(own, 'rekey', '--data')
  const app = await startApp({ dir: own, now: Date.now() })
  let counts: number[] = []
  for (let cut = 0; (await readProgress(app.deps)) !== undefined; cut++) {
    let writes = 0
    const write: typeof app.deps.write = work => {
      // One write succeeds, the next is cut off.
      if (writes++ === 1) throw new Error('killed')
      return app.deps.write(work)
    }
    await sealAgain({ ...app.deps, write, writeSettings: write }, tx => sealSandboxAgain(app.deps, tx)).catch(() => {})
    counts.push((await readProgress(app.deps))?.count ?? made.length)
    expect(cut).toBeLessThan(100)
  }
  expect(counts).toEqual(counts.toSorted((one, other) => one - other))
  counts = [...new Set(counts)]
  expect(counts.length).toBeGreaterThan(3)
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  for (const { id, purpose } of made.slice(0, 3))
    expect((await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body.purpose).toBe(purpose)
})

test('a server that is killed while rows are sealed again leaves a database that opens, and the next one finishes', async () => {
  const own = copyOf(dir)
  await vidimusJson(own, 'rekey', '--data')
  const child = Bun.spawn([process.execPath, join(import.meta.dir, '../helpers/crash/keys-child.ts'), own, 'seal'], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let lines = 0
  for await (const chunk of child.stdout) {
    lines += Buffer.from(chunk).toString().split('\n').length - 1
    if (lines >= 4) break
  }
  child.kill('SIGKILL')
  await child.exited
  expect((await vidimus(own, ['audit', 'verify'])).exitCode).toBe(0)
  const app = await startApp({ dir: own, now: Date.now() })
  await sealAll(app)
  expect(await readProgress(app.deps)).toBeUndefined()
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  expect((await app.call<Verification>('GET', `/v1/verifications/${made[0]!.id}`, { key })).body).toMatchObject({
    claims: made[0]!.claims!,
  })
})

test('a backup from before rekey --data is restored with the old key in its place', async () => {
  const own = copyOf(dir)
  const backup = join(temporaryDir(), 'before.db')
  const oldKey = join(temporaryDir(), 'old.key')
  await vidimusJson(own, 'backup', backup)
  copyFileSync(join(own, 'master.key'), oldKey)
  await vidimusJson(own, 'rekey', '--data')
  expect((await vidimus(own, ['restore', backup])).stderr).toMatch(/does not open .*; put the key in place that was used then/)
  copyFileSync(oldKey, join(own, 'master.key'))
  await vidimusJson(own, 'restore', backup, '--without-erasures')
  const app = await startApp({ dir: own, now: Date.now() })
  expect((await app.call<Verification>('GET', `/v1/verifications/${made[0]!.id}`, { key })).body.purpose).toBe('to sell a bottle')
})

test('an erasure after rekey --data is repeated when a backup from before is restored with the old key', async () => {
  const own = copyOf(dir)
  const oldKey = join(temporaryDir(), 'old.key')
  const backup = join(temporaryDir(), 'before.db')
  // Its start begins the log of erasures.
  await (await startApp({ dir: own, now: Date.now() })).stop()
  await vidimusJson(own, 'backup', backup)
  copyFileSync(join(own, 'master.key'), oldKey)
  await vidimusJson(own, 'rekey', '--data')
  const app = await startApp({ dir: own, now: Date.now() })
  const { id } = made[5]!
  expect((await app.call('DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)
  await app.stop()
  copyFileSync(oldKey, join(own, 'master.key'))
  expect(await vidimusJson<object>(own, 'restore', backup)).toMatchObject({ erased_again: 1 })
  const restored = await startApp({ dir: own, now: Date.now() })
  expect((await restored.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(404)
  expect((await verifyAudit(restored.deps)).problem).toBeUndefined()
})
