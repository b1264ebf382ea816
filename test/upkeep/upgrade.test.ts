// Upgrades with data from every earlier schema, also when killed on the way: a copy is made before, and nothing is lost.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../src/db/refusal.ts'
import { holdDirectory, holdFile } from '../../src/db/sqlite/locks.ts'
import { MIGRATIONS } from '../../src/db/sqlite/migrate.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, createVerification, startApp, temporaryDir } from '../helpers/app.ts'
import { serve, vidimus as spawnVidimus, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { HOW, killPoints } from '../helpers/crash/kill-at.ts'
import { withOldSchema } from '../helpers/crash/old-schema.ts'
import { contentOf, copyOf, invariantsOf, modeOf, namesIn, one, SOUND } from '../helpers/directories.ts'
import { receive, startAppFor, stopReceiving } from '../helpers/receiver.ts'
import { seeded } from '../helpers/seeded.ts'
import { verifyWith } from '../helpers/wallet.ts'

setDefaultTimeout(180_000)
afterAll(stopServing)
afterAll(stopReceiving)

type Told = { dry_run: boolean; migrations: string[]; copy: string | null }

const IDS = MIGRATIONS.map(([id]) => id)
const OLDER = 'vidimus: the database is of an earlier version than this program; stop the service and run "vidimus upgrade"\n'
const OLD_SCHEMAS = IDS.map((_, i) => i).slice(1)
/** Tried with kills and restores: the oldest, that of version 0.1, and the last. */
const THOROUGHLY = [1, 5, IDS.length - 1]

const databaseOf = (dir: string) => join(dir, 'vidimus.db')
const copyBefore = (dir: string, known: number) => join(dir, 'backups', `before-${IDS[known]}.db`)

function appliedIn(file: string): string[] {
  const sqlite = new Database(file)
  const rows = sqlite.query<{ id: string }, []>('SELECT id FROM schema_migrations ORDER BY id').all()
  sqlite.close()
  return rows.map(({ id }) => id)
}

let current: string
let key: string
let made: Verification[]

beforeAll(async () => {
  const shop = receive(() => new Response(null, { status: 500 }))
  // Without wrapping keys, as before there were any.
  const app = await startAppFor([shop], { now: Date.now(), config: { keyDir: '/dev/null/none' } })
  ;({ key } = await app.tenant())
  const body = { webhook_url: shop.url(), purpose: 'to sell a bottle', metadata: { order: 'o-1' } }
  made = [
    (await verifyWith(app, key, 'adult', { body })).verification,
    (await verifyWith(app, key, 'minor', { body })).verification,
  ]
  for (let i = 0; i < 100; i++) made.push(await createVerification(app, key, { purpose: `number ${i}` }))
  await app.stop()
  current = app.dir
})

const oldDirs = new Map<number, string>()

/** A directory of its own, as a program left it that knew only the first migrations. */
function oldDir(known: number): string {
  const dir = oldDirs.get(known) ?? withOldSchema(current, known)
  oldDirs.set(known, dir)
  return copyOf(dir)
}

/** The service runs on it, and everything is as it was. */
async function expectUpgraded(dir: string): Promise<void> {
  const server = await serve(dir)
  for (const { id, purpose, metadata, claims, credentials, status } of made.slice(0, 5)) {
    const { body } = await call<Verification>(server.url, 'GET', `/v1/verifications/${id}`, { key })
    // Without what is undefined: toMatchObject would look for it.
    expect(body).toMatchObject(JSON.parse(JSON.stringify({ id, purpose, metadata, claims, credentials, status })))
  }
  expect((await call(server.url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).status).toBe(201)
  server.process.kill('SIGKILL')
  await server.process.exited
  expect(appliedIn(databaseOf(dir))).toEqual(IDS)
  expect(invariantsOf(databaseOf(dir))).toEqual(SOUND)
  expect(one(databaseOf(dir), 'SELECT count(*) FROM webhook_deliveries')).toBe(2)
  expect(await vidimusJson<object>(dir, 'audit', 'verify')).toMatchObject({ ok: true })
}

function expectCopyFromBefore(dir: string, known: number): void {
  const copy = copyBefore(dir, known)
  expect(appliedIn(copy)).toEqual(IDS.slice(0, known))
  expect(invariantsOf(copy)).toEqual(SOUND)
  expect(one(copy, 'SELECT count(*) FROM verification_sessions')).toBe(made.length)
  expect(modeOf(copy)).toBe('600')
}

describe.each(OLD_SCHEMAS)('a database that knows %d migrations', known => {
  test('is brought up to date by the next start, after a copy of it was made', async () => {
    const dir = oldDir(known)
    await expectUpgraded(dir)
    expectCopyFromBefore(dir, known)
    expect(namesIn(join(dir, 'backups'))).toEqual([`before-${IDS[known]}.db`])
  })

  if (!THOROUGHLY.includes(known)) return

  test('is brought up to date by "upgrade", which says what it did', async () => {
    const dir = oldDir(known)
    const told = await vidimusJson<Told>(dir, 'upgrade')
    expect(told).toEqual({ dry_run: false, migrations: IDS.slice(known), copy: copyBefore(dir, known) })
    expectCopyFromBefore(dir, known)
    expect(await vidimusJson<Told>(dir, 'upgrade')).toEqual({ dry_run: false, migrations: [], copy: null })
  })

  test.each([['tenant list'], ['tenant create --name Bar']])('is left as it is by "%s", which names "upgrade"', async line => {
    const args = line.split(' ')
    const dir = oldDir(known)
    const before = contentOf(dir)
    const { exitCode, stdout, stderr } = await vidimus(dir, args)
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 1, stdout: '', stderr: OLDER })
    expect(contentOf(dir)).toEqual(before)
  })

  test('is left as it is by --dry-run, which tells what would be applied', async () => {
    const dir = oldDir(known)
    const before = contentOf(dir)
    const told = await vidimusJson<Told>(dir, 'upgrade', '--dry-run')
    expect(told).toEqual({ dry_run: true, migrations: IDS.slice(known), copy: copyBefore(dir, known) })
    expect(contentOf(dir)).toEqual(before)
    expect(existsSync(join(dir, 'backups'))).toBe(false)
    expect((await vidimus(dir, ['upgrade', '--dry-run'])).stdout).toContain(`To be applied: ${IDS[known]}`)
  })

  test(`killed ${HOW} on the way, is brought up to date by the next one, and the copy is from before`, async () => {
    // An upgrade from the oldest schema takes all the steps of the others: those are killed at fewer steps, each at its own.
    const points = await killPoints(oldDir(known), ['upgrade'], known === 1 ? 5 : 2, (known - 1) / IDS.length)
    let killed = 0
    for (const { name, run } of points) {
      const dir = oldDir(known)
      if ((await run(dir, ['upgrade'])).isKilled) killed++
      expect([name, invariantsOf(databaseOf(dir)).integrity]).toEqual([name, 'ok'])
      expect([name, (await vidimus(dir, ['upgrade'])).exitCode]).toEqual([name, 0])
      expect([name, appliedIn(databaseOf(dir))]).toEqual([name, IDS])
      expect([name, invariantsOf(databaseOf(dir))]).toEqual([name, SOUND])
      // Killed after the last migration there is nothing left to copy; before the first one a copy is made again.
      const copies = IDS.flatMap((_, i) => (existsSync(copyBefore(dir, i)) ? [i] : []))
      expect([name, copies[0]]).toEqual([name, known])
      for (const i of copies) expect([name, appliedIn(copyBefore(dir, i))]).toEqual([name, IDS.slice(0, i)])
      rmSync(dir, { recursive: true })
    }
    expect(killed).toBeGreaterThan(points.length / 2)
  })

  test('killed three times at random while a server starts on it, is served whole by the fourth', async () => {
    const random = seeded(known)
    const dir = oldDir(known)
    for (let kill = 0; kill < 3; kill++) {
      const starting = serve(dir).catch(() => undefined)
      await Bun.sleep(random.below(150))
      await stopServing()
      await starting
    }
    await expectUpgraded(dir)
    expectCopyFromBefore(dir, known)
  })

  test('is restored from a backup of that time, and brought up to date on the way', async () => {
    const old = oldDir(known)
    await vidimusJson(old, 'upgrade')
    const restored = await vidimusJson<{ upgraded: string[] }>(old, 'restore', copyBefore(old, known))
    expect(restored.upgraded).toEqual(IDS.slice(known))
    await expectUpgraded(old)
  })
})

test('an upgrade removes the half copy of a killed one, and leaves that of a running one alone', async () => {
  const dir = oldDir(IDS.length - 1)
  const folder = join(dir, 'backups')
  const [left, held] = ['0a1b2c3d', '0a1b2c3e'].map(word => `before-${IDS.at(-1)}.db.${word}.part`) as [string, string]
  mkdirSync(folder)
  for (const name of [left, `${left}-lock`, held]) writeFileSync(join(folder, name), '')
  const release = holdFile(join(folder, `${held}-lock`))!
  await vidimusJson(dir, 'upgrade')
  expect(namesIn(folder)).toEqual([`before-${IDS.at(-1)}.db`, held, `${held}-lock`])
  release()
})

test('a database of a newer program is refused, by --dry-run too, and nothing is changed', async () => {
  const dir = copyOf(current)
  const sqlite = new Database(databaseOf(dir))
  sqlite.run("INSERT INTO schema_migrations VALUES ('9999_future', 'x', 1)")
  sqlite.close()
  const before = contentOf(dir)
  for (const args of [['upgrade'], ['upgrade', '--dry-run']]) {
    const { exitCode, stderr } = await vidimus(dir, args)
    expect(exitCode).toBe(REFUSALS.schema_newer)
    expect(stderr).toMatch(/^vidimus: [^\n]+9999_future[^\n]+\n$/)
  }
  expect(contentOf(dir)).toEqual(before)
})

test('beside a running server an upgrade is refused, and --dry-run answers; without a database both say so', async () => {
  const dir = copyOf(current)
  const server = await serve(dir)
  const refused = await vidimus(dir, ['upgrade'])
  expect(refused.exitCode).toBe(REFUSALS.directory_in_use)
  expect(refused.stderr).toMatch(/^vidimus: a server uses [^\n]+; stop it, and run this again\n$/)
  expect(await vidimusJson<Told>(dir, 'upgrade', '--dry-run')).toEqual({ dry_run: true, migrations: [], copy: null })
  server.process.kill('SIGKILL')
  const none = join(temporaryDir(), 'data')
  for (const args of [['upgrade'], ['upgrade', '--dry-run']]) {
    const { exitCode, stderr } = await vidimus(none, args)
    expect([exitCode, existsSync(none)]).toEqual([1, false])
    expect(stderr).toMatch(/^vidimus: there is no database in [^\n]+\n$/)
  }
})

test('a command is refused beside a server of an older version, too', async () => {
  const dir = oldDir(1)
  const release = holdDirectory(dir, 'server')
  const before = contentOf(dir)
  const { exitCode, stderr } = await spawnVidimus(dir, ['tenant', 'list'])
  release()
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: OLDER })
  expect(contentOf(dir)).toEqual(before)
})

test('when the copy cannot be made, nothing is applied', async () => {
  const dir = oldDir(1)
  writeFileSync(join(dir, 'backups'), 'in the way')
  const before = contentOf(dir)
  const { exitCode, stderr } = await vidimus(dir, ['upgrade'])
  expect(exitCode).toBe(REFUSALS.directory_unusable)
  expect(stderr).toMatch(/^vidimus: [^\n]+\n$/)
  expect(appliedIn(databaseOf(dir))).toEqual(IDS.slice(0, 1))
  expect(contentOf(dir)).toEqual(before)
})

test('doctor reports a database of an earlier version, and does not upgrade it', async () => {
  const current = temporaryDir()
  const { process } = await serve(current)
  process.kill('SIGTERM')
  await process.exited
  const dir = withOldSchema(current, MIGRATIONS.length - 1)
  const before = contentOf(dir)
  const run = await vidimus(dir, ['doctor'])
  expect(run.exitCode).toBe(1)
  expect(run.stdout).toMatch(/^problem {2}data_directory .*earlier version.*\n +Stop the service and run "vidimus upgrade"/)
  expect(contentOf(dir)).toEqual(before)
})

test('a service that never had another schema makes no copy', async () => {
  const app = await startApp({ dir: temporaryDir() })
  await app.stop()
  expect(namesIn(join(app.dir, 'backups'))).toEqual([])
})
