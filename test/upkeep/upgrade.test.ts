// Upgrades to the program of a next version, with migrations that were invented, also when killed on the way: a copy is made
// before, and nothing is lost.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../src/db/refusal.ts'
import { holdDirectory, holdFile } from '../../src/db/sqlite/locks.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, createVerification, startApp, temporaryDir } from '../helpers/app.ts'
import { serve, stopServing, vidimus } from '../helpers/cli.ts'
import { HOW, killPoints } from '../helpers/crash/kill-at.ts'
import { copyBefore, IDS_BEFORE, IDS_OF_NEXT, INVENTED, NEXT_VERSION } from '../helpers/crash/next-version.ts'
import { contentOf, copyOf, invariantsOf, modeOf, namesIn, one, SOUND } from '../helpers/directories.ts'
import { receive, startAppFor, stopReceiving } from '../helpers/receiver.ts'
import { seeded } from '../helpers/seeded.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(stopServing)
afterAll(stopReceiving)

type Told = { dry_run: boolean; migrations: string[]; copy: string | null }

const INVENTED_IDS = INVENTED.map(([id]) => id)
const OLDER = 'vidimus: the database is of an earlier version than this program; stop the service and run "vidimus upgrade"\n'

const databaseOf = (dir: string) => join(dir, 'vidimus.db')
const next = (dir: string, ...args: string[]) => vidimus(dir, args, {}, NEXT_VERSION)

async function nextJson<Answer>(dir: string, ...args: string[]): Promise<Answer> {
  const { exitCode, stdout, stderr } = await next(dir, ...args, '--json')
  expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' })
  return JSON.parse(stdout)
}

function appliedIn(file: string): string[] {
  const sqlite = new Database(file)
  const rows = sqlite.query<{ id: string }, []>('SELECT id FROM schema_migrations ORDER BY id').all()
  sqlite.close()
  return rows.map(({ id }) => id)
}

let before: string
let key: string
let made: Verification[]

beforeAll(async () => {
  const shop = receive(() => new Response(null, { status: 500 }))
  const app = await startAppFor([shop], { now: Date.now() })
  ;({ key } = await app.tenant())
  const body = { webhook_url: shop.url(), purpose: 'to sell a bottle', metadata: { order: 'o-1' } }
  made = [
    (await verifyWith(app, key, 'adult', { body })).verification,
    (await verifyWith(app, key, 'minor', { body })).verification,
  ]
  for (let i = 0; i < 100; i++) made.push(await createVerification(app, key, { purpose: `number ${i}` }))
  await app.stop()
  before = app.dir
})

/** The next version serves it, and everything is as it was. */
async function expectUpgraded(dir: string): Promise<void> {
  const server = await serve(dir, [], {}, NEXT_VERSION)
  for (const { id, purpose, metadata, claims, credentials, status } of made.slice(0, 5)) {
    const { body } = await call<Verification>(server.url, 'GET', `/v1/verifications/${id}`, { key })
    // Without what is undefined: toMatchObject would look for it.
    expect(body).toMatchObject(JSON.parse(JSON.stringify({ id, purpose, metadata, claims, credentials, status })))
  }
  expect((await call(server.url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).status).toBe(201)
  server.process.kill('SIGKILL')
  await server.process.exited
  expect(appliedIn(databaseOf(dir))).toEqual([...IDS_OF_NEXT])
  expect(one(databaseOf(dir), "SELECT count(*) FROM notes JOIN tenants ON id = tenant_id AND colour = 'red'")).toBe(1)
  expect(invariantsOf(databaseOf(dir))).toEqual(SOUND)
  expect(one(databaseOf(dir), 'SELECT count(*) FROM webhook_deliveries')).toBe(2)
  expect(await nextJson<object>(dir, 'audit', 'verify')).toMatchObject({ ok: true })
}

function expectCopyFromBefore(dir: string): void {
  const copy = copyBefore(dir)
  expect(appliedIn(copy)).toEqual([...IDS_BEFORE])
  expect(invariantsOf(copy)).toEqual(SOUND)
  expect(one(copy, 'SELECT count(*) FROM verification_sessions')).toBe(made.length)
  expect(modeOf(copy)).toBe('600')
}

test('a database of the version before is brought up to date by the next start, after a copy of it was made', async () => {
  const dir = copyOf(before)
  await expectUpgraded(dir)
  expectCopyFromBefore(dir)
  expect(namesIn(join(dir, 'backups')).filter(name => name.startsWith('before-'))).toEqual([`before-${INVENTED_IDS[0]}.db`])
})

test('a database of the version before is brought up to date by "upgrade", which says what it did', async () => {
  const dir = copyOf(before)
  expect(await nextJson<Told>(dir, 'upgrade')).toEqual({ dry_run: false, migrations: INVENTED_IDS, copy: copyBefore(dir) })
  expectCopyFromBefore(dir)
  expect(await nextJson<Told>(dir, 'upgrade')).toEqual({ dry_run: false, migrations: [], copy: null })
})

test.each([['tenant list'], ['tenant create --name Bar']])(
  'a database of the version before is left as it is by "%s", which names "upgrade"',
  async line => {
    const dir = copyOf(before)
    const content = contentOf(dir)
    expect(await next(dir, ...line.split(' '))).toEqual({ exitCode: 1, stdout: '', stderr: OLDER })
    expect(contentOf(dir)).toEqual(content)
  },
)

test('upgrade --dry-run tells what would be applied, and leaves the database as it is', async () => {
  const dir = copyOf(before)
  const content = contentOf(dir)
  const told = await nextJson<Told>(dir, 'upgrade', '--dry-run')
  expect(told).toEqual({ dry_run: true, migrations: INVENTED_IDS, copy: copyBefore(dir) })
  expect((await next(dir, 'upgrade', '--dry-run')).stdout).toContain(`To be applied: ${INVENTED_IDS[0]}`)
  expect(contentOf(dir)).toEqual(content)
})

/** Ten seconds of processes, on a machine of their own. */
const SHARED_MACHINE_MS = 180_000

test(
  `an upgrade, killed ${HOW} on the way, is brought up to date by the next one, and the copy is from before`,
  async () => {
    const points = await killPoints(copyOf(before), ['upgrade'], 3, { under: NEXT_VERSION })
    let killed = 0
    for (const { name, run } of points) {
      const dir = copyOf(before)
      if ((await run(dir, ['upgrade'])).isKilled) killed++
      expect([name, invariantsOf(databaseOf(dir)).integrity]).toEqual([name, 'ok'])
      expect([name, (await next(dir, 'upgrade')).exitCode]).toEqual([name, 0])
      expect([name, appliedIn(databaseOf(dir))]).toEqual([name, [...IDS_OF_NEXT]])
      expect([name, invariantsOf(databaseOf(dir))]).toEqual([name, SOUND])
      // Killed after the last migration there is nothing left to copy; between the two another copy is made.
      const copies = INVENTED_IDS.flatMap((_, i) => (existsSync(copyBefore(dir, i)) ? [i] : []))
      expect([name, copies[0]]).toEqual([name, 0])
      for (const i of copies)
        expect([name, appliedIn(copyBefore(dir, i))]).toEqual([name, [...IDS_BEFORE, ...INVENTED_IDS.slice(0, i)]])
      rmSync(dir, { recursive: true })
    }
    expect(killed).toBeGreaterThan(points.length / 2)
  },
  SHARED_MACHINE_MS,
)

test('an upgrade killed three times at random while a server starts on it, is served whole by the fourth', async () => {
  const random = seeded(1)
  const dir = copyOf(before)
  for (let kill = 0; kill < 3; kill++) {
    const starting = serve(dir, [], {}, NEXT_VERSION).catch(() => undefined)
    await Bun.sleep(random.below(600))
    await stopServing()
    await starting
  }
  await expectUpgraded(dir)
  expectCopyFromBefore(dir)
})

test('a backup of the version before is restored, and brought up to date on the way', async () => {
  const dir = copyOf(before)
  await nextJson(dir, 'upgrade')
  const restored = await nextJson<{ upgraded: string[] }>(dir, 'restore', copyBefore(dir))
  expect(restored.upgraded).toEqual(INVENTED_IDS)
  await expectUpgraded(dir)
})

test('an upgrade removes the half copy of a killed one, and leaves that of a running one alone', async () => {
  const dir = copyOf(before)
  const folder = join(dir, 'backups')
  const copy = `before-${INVENTED_IDS[0]}.db`
  const [left, held] = ['0a1b2c3d', '0a1b2c3e'].map(word => `${copy}.${word}.part`) as [string, string]
  mkdirSync(folder, { recursive: true })
  for (const name of [left, `${left}-lock`, held]) writeFileSync(join(folder, name), '')
  const release = holdFile(join(folder, `${held}-lock`))!
  await nextJson(dir, 'upgrade')
  expect(namesIn(folder).filter(name => name.startsWith('before-'))).toEqual([copy, held, `${held}-lock`])
  release()
})

test('a database of a newer program is refused, by --dry-run too, and nothing is changed', async () => {
  const dir = copyOf(before)
  await nextJson(dir, 'upgrade')
  const content = contentOf(dir)
  for (const args of [['upgrade'], ['upgrade', '--dry-run']]) {
    const { exitCode, stderr } = await vidimus(dir, args)
    expect(exitCode).toBe(REFUSALS.schema_newer)
    expect(stderr).toMatch(/^vidimus: [^\n]+9000_notes[^\n]+\n$/)
  }
  expect(contentOf(dir)).toEqual(content)
})

test('an upgrade beside a running server is refused, and --dry-run answers; without a database both say so', async () => {
  const dir = copyOf(before)
  const server = await serve(dir)
  const refused = await next(dir, 'upgrade')
  expect(refused.exitCode).toBe(REFUSALS.directory_in_use)
  expect(refused.stderr).toMatch(/^vidimus: a server uses [^\n]+; stop it, and run this again\n$/)
  expect(await nextJson<Told>(dir, 'upgrade', '--dry-run')).toMatchObject({ dry_run: true, migrations: INVENTED_IDS })
  server.process.kill('SIGKILL')
  const none = join(temporaryDir(), 'data')
  for (const args of [['upgrade'], ['upgrade', '--dry-run']]) {
    const { exitCode, stderr } = await next(none, ...args)
    expect([exitCode, existsSync(none)]).toEqual([1, false])
    expect(stderr).toMatch(/^vidimus: there is no database in [^\n]+\n$/)
  }
})

test('a command is refused beside a server of an older version, too', async () => {
  const dir = copyOf(before)
  const release = holdDirectory(dir, 'server')
  const content = contentOf(dir)
  const { exitCode, stderr } = await next(dir, 'tenant', 'list')
  release()
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: OLDER })
  expect(contentOf(dir)).toEqual(content)
})

test('nothing is applied when the copy before an upgrade cannot be made', async () => {
  const dir = copyOf(before)
  rmSync(join(dir, 'backups'), { recursive: true, force: true })
  writeFileSync(join(dir, 'backups'), 'in the way')
  const content = contentOf(dir)
  const { exitCode, stderr } = await next(dir, 'upgrade')
  expect(exitCode).toBe(REFUSALS.directory_unusable)
  expect(stderr).toMatch(/^vidimus: [^\n]+\n$/)
  expect(appliedIn(databaseOf(dir))).toEqual([...IDS_BEFORE])
  expect(contentOf(dir)).toEqual(content)
})

test('doctor reports a database of an earlier version, and does not upgrade it', async () => {
  const dir = copyOf(before)
  const content = contentOf(dir)
  const run = await next(dir, 'doctor')
  expect(run.exitCode).toBe(1)
  expect(run.stdout).toMatch(/^problem {2}data_directory .*earlier version.*\n +Stop the service and run "vidimus upgrade"/)
  expect(contentOf(dir)).toEqual(content)
})

test('a service that never had another schema makes no copy', async () => {
  const app = await startApp({ dir: temporaryDir() })
  await app.stop()
  expect(namesIn(join(app.dir, 'backups'))).toEqual([])
})
