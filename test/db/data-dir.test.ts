// Every reason to refuse a data directory, met by the program itself: one line, its own exit code, and not one byte changed.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { REFUSALS, StartRefusal } from '../../src/db/refusal.ts'
import { type DataDir, openDataDir } from '../../src/db/sqlite/data-dir.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, createVerification, NOON, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, vidimus } from '../helpers/cli.ts'
import {
  copyWith,
  DAMAGES,
  fileOf,
  keyOf,
  logOf,
  pageSizeOf,
  problemsOfRefusal,
  type Reason,
  sizeOf,
  startOn,
  writeAt,
} from '../helpers/crash/damage.ts'
import { smallDisk, unmountAll } from '../helpers/crash/small-disk.ts'
import { contentOf, copyOf, modeOf, namesIn } from '../helpers/directories.ts'
import { PROGRAM } from '../helpers/program.ts'
import { seeded } from '../helpers/seeded.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(unmountAll)

const HOUR_MS = 3_600_000
const DETAILS = { metadata: { order: 'o-1' }, purpose: 'to sell a bottle', redirect_url: 'https://shop.example/done' }

/** A directory after an orderly stop, and one after a kill: the second has its newest rows in the log only. */
let stopped: string
let killed: string
let key: string
let acknowledged: Verification[]

beforeAll(async () => {
  // No sandbox issuer is in it: the end of its sealed value would fill a page that says nothing of its own damage.
  const app = await startApp({ now: Date.now(), dir: temporaryDir() })
  ;({ key } = await app.tenant())
  const before = await createVerification(app, key, DETAILS)
  await app.stop()
  stopped = app.dir
  killed = copyOf(stopped)
  const service = await serve(killed)
  const after = await call<Verification>(service.url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
  await kill(service)
  acknowledged = [before, after.body]
  expect(sizeOf(logOf(killed))).toBeGreaterThan(0)
})

async function kill({ process: child }: Served): Promise<void> {
  child.kill('SIGKILL')
  await child.exited
}

const expectRefused = async (dir: string, reason: Reason, remedy: string) =>
  expect(await problemsOfRefusal(dir, reason, remedy)).toEqual([])

/** Both kinds of directory, each damaged the same way. */
async function expectBothRefused(reason: Reason, remedy: string, damage: (dir: string) => void): Promise<void> {
  const dirs = [copyOf(stopped), copyOf(killed)]
  for (const dir of dirs) damage(dir)
  await Promise.all(dirs.map(dir => expectRefused(dir, reason, remedy)))
}

async function expectDamageRefused(name: keyof typeof DAMAGES): Promise<void> {
  const { reason, remedy, make } = DAMAGES[name]!
  const random = seeded(1)
  await Promise.all([stopped, killed].map(dir => expectRefused(make(dir, random), reason, remedy)))
}

/** The same through the function itself, for what would take too many processes. */
function open(dir: string, options: Partial<Parameters<typeof openDataDir>[0]> = {}): DataDir {
  const masterKey = { file: keyOf(dir), isGiven: false }
  return openDataDir({ dir, masterKey, now: Date.now(), random: count => randomBytes(count), role: 'server', ...options })
}

function close({ writer, reader, unlock }: DataDir): void {
  reader.close()
  writer.close()
  unlock()
}

function refusalOf(dir: string, options: Parameters<typeof open>[1] = {}): Reason | undefined {
  try {
    close(open(dir, options))
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(StartRefusal)
    return (error as StartRefusal).reason
  }
}

test('each refusal has an exit code of its own, and none that the shell or a wrong call uses', () => {
  const codes = Object.values(REFUSALS)
  expect(new Set<number>(codes).size).toBe(codes.length)
  for (const code of codes) expect(code).toBeWithin(3, 64)
})

describe('a damaged database is refused and left as it is:', () => {
  const refused = (damage: (dir: string) => void) => expectBothRefused('database_damaged', 'put a backup in its place', damage)

  test('garbage where the header was', () => expectDamageRefused('garbage where the header was'))

  test('a zeroed page in the middle', () => expectDamageRefused('a zeroed page'))

  test('a truncated file', () => expectDamageRefused('a truncated file'))

  test('a few bytes that are no database', async () => {
    await refused(dir => writeFileSync(fileOf(dir), 'not a database'))
  })

  test('the database of another program', () => expectDamageRefused('the database of another program'))

  test('the database of another program, with its log', () =>
    expectDamageRefused('the database of another program, with its log'))

  test('an empty or missing file beside a log that still has content', async () => {
    const [empty, missing] = [copyOf(killed), copyOf(killed)]
    truncateSync(fileOf(empty), 0)
    rmSync(fileOf(missing))
    await Promise.all([empty, missing].map(dir => expectRefused(dir, 'database_damaged', 'put a backup in its place')))
    expect(existsSync(fileOf(missing))).toBe(false)
  })

  test('any single page that is zeroed, unless nothing was on it', () => {
    const size = pageSizeOf(stopped)
    const pages = statSync(fileOf(stopped)).size / size
    const accepted: number[] = []
    for (let page = 0; page < pages; page++) {
      const dir = copyOf(stopped)
      writeAt(fileOf(dir), page * size, new Uint8Array(size))
      const before = contentOf(dir)
      const reason = refusalOf(dir)
      if (reason === undefined) accepted.push(page)
      else {
        expect(reason).toBe('database_damaged')
        expect(contentOf(dir)).toEqual(before)
      }
      rmSync(dir, { recursive: true })
    }
    expect(pages).toBeGreaterThan(20)
    expect(accepted).toEqual([])
  })

  test('a file cut short anywhere', () => {
    const size = statSync(fileOf(stopped)).size
    const random = seeded(8)
    for (const length of [
      1,
      15,
      16,
      71,
      72,
      99,
      100,
      4095,
      4096,
      size - 1,
      ...Array.from({ length: 20 }, () => random.below(size)),
    ]) {
      const dir = copyOf(stopped)
      truncateSync(fileOf(dir), length)
      expect([length, refusalOf(dir)]).toEqual([length, 'database_damaged'])
      expect(statSync(fileOf(dir)).size).toBe(length)
      rmSync(dir, { recursive: true })
    }
  })

  test('tables without the list of migrations, and content without the root key', () => {
    for (const change of [
      'DROP TABLE schema_migrations',
      "DELETE FROM installation WHERE name = 'root_key'",
      'DROP TABLE audit_records',
    ]) {
      const dir = copyWith(stopped, sqlite => sqlite.run(change))
      const before = contentOf(dir)
      expect([change, refusalOf(dir)]).toEqual([change, 'database_damaged'])
      expect(contentOf(dir)).toEqual(before)
    }
  })
})

describe('a database that does not belong to this program is refused and left as it is:', () => {
  test('one that a newer version has migrated', () => expectDamageRefused('one that a newer version has migrated'))

  test('one whose first migration is not that of this program', async () => {
    const edited = (sqlite: Database) => sqlite.run("UPDATE schema_migrations SET sha256 = 'x'")
    await expectRefused(copyWith(stopped, edited), 'before_first_release', 'Keep the old program for it')
  })
})

describe('the master key', () => {
  test('of another installation is refused', () => expectDamageRefused('the key of another installation'))

  test('of a wrong length is refused', async () => {
    for (const length of [0, 31, 33]) {
      const dir = copyOf(killed)
      writeFileSync(keyOf(dir), new Uint8Array(length))
      const before = contentOf(dir)
      expect([length, refusalOf(dir)]).toEqual([length, 'key_wrong'])
      expect(contentOf(dir)).toEqual(before)
    }
  })

  test('that is a directory is refused by its own name', async () => {
    const dir = copyOf(stopped)
    rmSync(keyOf(dir))
    mkdirSync(keyOf(dir))
    await expectRefused(dir, 'key_wrong', `${keyOf(dir)} is a directory; put the key itself in its place`)
  })

  test('that is a pipe or a device is refused, and not waited for', async () => {
    const dir = copyOf(stopped)
    rmSync(keyOf(dir))
    expect(Bun.spawnSync(['mkfifo', '-m', '600', keyOf(dir)]).exitCode).toBe(0)
    await expectRefused(dir, 'key_wrong', `${keyOf(dir)} is not a file; put the key itself in its place`)
    const masterKey = { file: '/dev/zero', isGiven: true }
    expect(() => open(copyOf(stopped), { masterKey })).toThrow('/dev/zero is not a file; put the key itself in its place')
  })

  test('opens the database beside a directory that has the name of a new key', () => {
    const dir = copyOf(stopped)
    mkdirSync(`${keyOf(dir)}.new`)
    expect(refusalOf(dir)).toBeUndefined()
    expect(existsSync(`${keyOf(dir)}.new`)).toBe(true)
  })

  test('that others can read is refused with the command that mends it', () => expectDamageRefused('a key that others can read'))

  test('may be read by its owner only, and need not be writable', () => {
    for (const [mode, reason] of [
      [0o640, 'key_readable_by_others'],
      [0o604, 'key_readable_by_others'],
      [0o620, 'key_readable_by_others'],
      [0o601, 'key_readable_by_others'],
      [0o600, undefined],
      [0o400, undefined],
    ] as const) {
      const dir = copyOf(stopped)
      chmodSync(keyOf(dir), mode)
      expect([mode.toString(8), refusalOf(dir)]).toEqual([mode.toString(8), reason])
    }
  })

  test('that the operator named may be read by a group, never by others', () => {
    for (const [mode, reason] of [
      [0o440, undefined],
      [0o640, undefined],
      [0o660, 'key_readable_by_others'],
      [0o644, 'key_readable_by_others'],
      [0o444, 'key_readable_by_others'],
    ] as const) {
      const dir = copyOf(stopped)
      const file = join(temporaryDir(), 'key')
      renameSync(keyOf(dir), file)
      chmodSync(file, mode)
      const masterKey = { file, isGiven: true }
      expect([mode.toString(8), refusalOf(dir, { masterKey })]).toEqual([mode.toString(8), reason])
    }
  })

  test('that the operator named is not made at the first start, and the refusal says how to make it', () => {
    const dir = temporaryDir()
    const masterKey = { file: join(dir, 'given.key'), isGiven: true }
    expect(() => open(dir, { masterKey })).toThrow(`head -c 32 /dev/urandom > ${masterKey.file}`)
    expect(namesIn(dir)).toEqual(['server.lock'])
    writeFileSync(masterKey.file, randomBytes(32), { mode: 0o440 })
    expect(refusalOf(dir, { masterKey })).toBeUndefined()
    expect(existsSync(keyOf(dir))).toBe(false)
  })

  test('is made in the key directory, which is made for its owner only', () => {
    const dir = temporaryDir()
    const keyDir = join(temporaryDir(), 'keys')
    expect(refusalOf(dir, { masterKey: { file: join(keyDir, 'master.key'), isGiven: false } })).toBeUndefined()
    expect([modeOf(keyDir), modeOf(join(keyDir, 'master.key')), existsSync(keyOf(dir))]).toEqual(['700', '600', false])
  })

  test('that cannot be made is refused with the setting of its directory', () => {
    const above = join(temporaryDir(), 'file')
    writeFileSync(above, '')
    const masterKey = { file: join(above, 'keys', 'master.key'), isGiven: false }
    expect(() => open(temporaryDir(), { masterKey })).toThrow(/^cannot use .* with VIDIMUS_KEY_DIR$/)
    expect(refusalOf(temporaryDir(), { masterKey })).toBe('directory_unusable')
  })

  test('that cannot be made because a directory has its name is refused with what to remove', () => {
    const dir = temporaryDir()
    mkdirSync(`${keyOf(dir)}.new`)
    expect(() => open(dir)).toThrow(`${keyOf(dir)}.new is a directory, and a new key needs this name; remove it`)
    expect(refusalOf(dir)).toBe('directory_unusable')
  })

  test('that is missing is refused, and no new one is made', async () => {
    await expectBothRefused('key_missing', 'put the key back', dir => rmSync(keyOf(dir)))
    const dir = copyOf(stopped)
    rmSync(keyOf(dir))
    expect(refusalOf(dir)).toBe('key_missing')
    expect(existsSync(keyOf(dir))).toBe(false)
  })
})

describe('a clock far behind the last audit record', () => {
  const future = (sqlite: Database) =>
    sqlite.run(`UPDATE audit_records SET at = ${Date.now() + 25 * HOUR_MS} WHERE seq = (SELECT max(seq) FROM audit_records)`)

  test('is refused', async () => {
    const dirs = [copyWith(stopped, future), copyWith(killed, future)]
    await Promise.all(dirs.map(dir => expectRefused(dir, 'clock_behind', 'set the clock right')))
  })

  test('is one that is more than a day behind', () => {
    const reader = new Database(fileOf(stopped), { readonly: true })
    const { at } = reader.query<{ at: number }, []>('SELECT max(at) AS at FROM audit_records').get()!
    reader.close()
    for (const [now, reason] of [
      [at + 365 * 24 * HOUR_MS, undefined],
      [at, undefined],
      [at - 24 * HOUR_MS, undefined],
      [at - 24 * HOUR_MS - 1, 'clock_behind'],
      [0, 'clock_behind'],
    ] as const) {
      expect([now, refusalOf(copyOf(stopped), { now })]).toEqual([now, reason])
    }
  })
})

describe('a directory that cannot be used is refused:', () => {
  test('one that is a file', async () => {
    const file = join(temporaryDir(), 'file')
    writeFileSync(file, 'mine')
    const { exitCode, stdout, stderr } = await startOn(file)
    expect({ exitCode, stdout }).toEqual({ exitCode: REFUSALS.directory_unusable, stdout: '' })
    expect(stderr).toMatch(/^vidimus: cannot use [^\n]*: a file is in its place, or above it; [^\n]*VIDIMUS_DATA_DIR\n$/)
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  const disk = smallDisk(16 * 1024 * 1024)
  test.skipIf(!disk)(
    `${disk ? '' : 'SKIPPED, because nobody may mount a disk here: '}one that is mounted read-only, without blame for a file in it; a backup is still made`,
    async () => {
      const { dir, makeReadOnly } = disk!
      cpSync(stopped, dir, { recursive: true })
      makeReadOnly()
      const remedy = 'mount it for writing, or choose another directory with VIDIMUS_DATA_DIR'
      const backup = join(temporaryDir(), 'rescued.db')
      expect((await vidimus(dir, ['backup', backup])).exitCode).toBe(0)
      const refused = [startOn(dir), vidimus(dir, ['user', 'list']), vidimus(dir, ['restore', backup])]
      for (const { exitCode, stderr } of await Promise.all(refused)) {
        expect(stderr).toBe(`vidimus: cannot use ${dir} (EROFS): its file system is mounted read-only; ${remedy}\n`)
        expect(exitCode).toBe(REFUSALS.directory_unusable)
      }
      const absent = join(dir, 'absent')
      const { stderr } = await startOn(absent)
      expect(stderr).toBe(`vidimus: cannot use ${absent} (EROFS): its file system is mounted read-only; ${remedy}\n`)
    },
  )

  test('one whose database is a directory', async () => {
    const dir = copyOf(stopped)
    rmSync(fileOf(dir))
    mkdirSync(fileOf(dir), { mode: 0o700 })
    await expectRefused(dir, 'directory_unusable', 'VIDIMUS_DATA_DIR')
  })
})

describe('one directory, one server:', () => {
  test('a second one is refused, and the first goes on', async () => {
    const dir = copyOf(stopped)
    const first = await serve(dir)
    await expectRefused(dir, 'directory_in_use', 'give this one its own VIDIMUS_DATA_DIR')
    // An earlier version left it so: tightening it must not release it.
    chmodSync(join(dir, 'server.lock'), 0o644)
    await expectRefused(dir, 'directory_in_use', 'give this one its own VIDIMUS_DATA_DIR')
    expect(modeOf(join(dir, 'server.lock'))).toBe('600')
    expect((await call(first.url, 'GET', '/readyz')).status).toBe(200)
    await kill(first)
  })

  test('after a kill -9 the next one starts at once, and everything acknowledged is there', async () => {
    const dir = copyOf(stopped)
    const made: string[] = []
    for (let round = 0; round < 3; round++) {
      const service = await serve(dir)
      for (const id of made) {
        expect((await call(service.url, 'GET', `/v1/verifications/${id}`, { key })).status).toBe(200)
      }
      const { body } = await call<Verification>(service.url, 'POST', '/v1/verifications', {
        key,
        body: { template: 'age_over_18' },
      })
      made.push(body.id)
      await kill(service)
    }
    expect(new Set(made).size).toBe(3)
  })

  test('a file without a log that was killed amid a write is rolled back by the next one', async () => {
    const dir = copyOf(stopped)
    const sqlite = new Database(fileOf(dir))
    sqlite.run('PRAGMA journal_mode = DELETE')
    sqlite.run('PRAGMA cache_size = 1')
    sqlite.run('BEGIN')
    sqlite.run('CREATE TABLE half_written AS SELECT randomblob(2000) AS bytes FROM sqlite_schema a, sqlite_schema b LIMIT 500')
    sqlite.run("UPDATE tenants SET name = 'half written'")
    sqlite.run('UPDATE half_written SET bytes = randomblob(2000)')
    // As a kill would leave it: pages of an open transaction in the file, and the old ones in its journal.
    const left = copyOf(dir)
    sqlite.run('ROLLBACK')
    sqlite.close()
    expect(statSync(`${fileOf(left)}-journal`).size).toBeGreaterThan(0)
    const service = await serve(left)
    expect((await call(service.url, 'GET', '/v1/verifications', { key })).status).toBe(200)
    await kill(service)
    expect((await vidimus(left, ['tenant', 'list'])).stdout).not.toContain('half written')
  })

  test('a directory that was killed is taken over with what stood in its log', async () => {
    const service = await serve(copyOf(killed))
    for (const { id, created_at } of acknowledged) {
      const { body } = await call<Verification>(service.url, 'GET', `/v1/verifications/${id}`, { key })
      expect(body).toMatchObject({ id, created_at })
    }
    await kill(service)
  })
})

describe('a first start', () => {
  test('makes the directory for its owner only, with database and master key, even under an open umask', async () => {
    const dir = join(temporaryDir(), 'deep', 'data')
    const child = Bun.spawn(['sh', '-c', 'umask 000; exec "$0" "$@"', PROGRAM, 'serve', '--json'], {
      env: { PATH: process.env.PATH ?? '', PORT: '0', VIDIMUS_DATA_DIR: dir, VIDIMUS_LOG: 'silent' },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    for await (const chunk of child.stdout) {
      expect(new TextDecoder().decode(chunk)).toContain('listening')
      expect(modeOf(dir)).toBe('700')
      for (const name of ['vidimus.db', 'vidimus.db-wal', 'vidimus.db-shm', 'master.key', 'server.lock']) {
        expect([name, modeOf(join(dir, name))]).toEqual([name, '600'])
      }
      expect(statSync(keyOf(dir)).size).toBe(32)
      child.kill('SIGKILL')
    }
  })

  test('leaves the mode of a directory that was there', () => {
    const dir = temporaryDir()
    chmodSync(dir, 0o750)
    expect(refusalOf(dir)).toBeUndefined()
    expect(modeOf(dir)).toBe('750')
  })

  test('takes a database of no length for a new one, and keeps a master key that is there', () => {
    const dir = temporaryDir()
    writeFileSync(fileOf(dir), '', { mode: 0o644 })
    writeFileSync(keyOf(dir), seeded(4).bytes(32), { mode: 0o600 })
    const opened = open(dir)
    expect(opened.isNew).toBe(true)
    close(opened)
    expect(readFileSync(keyOf(dir)).equals(seeded(4).bytes(32))).toBe(true)
    expect(modeOf(fileOf(dir))).toBe('600')
    const again = open(dir)
    expect(again.isNew).toBe(false)
    close(again)
  })

  test('that was killed anywhere is finished by the next one', () => {
    const blank = (dir: string) => {
      const sqlite = new Database(fileOf(dir))
      sqlite.run('PRAGMA application_id = 0x56494449')
      writeFileSync(keyOf(dir), seeded(5).bytes(32), { mode: 0o600 })
      return sqlite
    }
    const leftovers: Record<string, (dir: string) => void> = {
      'half a master key': dir => writeFileSync(`${keyOf(dir)}.new`, new Uint8Array(7), { mode: 0o600 }),
      'an empty database': dir => writeFileSync(fileOf(dir), '', { mode: 0o600 }),
      'a master key alone': dir => writeFileSync(keyOf(dir), seeded(5).bytes(32), { mode: 0o600 }),
      'a database with nothing but its mark': dir => blank(dir).close(),
      'a database in which no migration was applied yet': dir => {
        const sqlite = blank(dir)
        sqlite.run('PRAGMA journal_mode = WAL')
        sqlite.run(
          'CREATE TABLE schema_migrations (id TEXT PRIMARY KEY, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
        )
        sqlite.close()
      },
      'everything but the root key': dir => {
        close(open(dir))
        const sqlite = new Database(fileOf(dir))
        sqlite.run("DELETE FROM installation WHERE name = 'root_key'")
        sqlite.close()
      },
    }
    for (const [name, leave] of Object.entries(leftovers)) {
      const dir = temporaryDir()
      leave(dir)
      expect([name, refusalOf(dir)]).toEqual([name, undefined])
      const opened = open(dir)
      expect(opened.reader.query('SELECT count(*) AS count FROM tenants').get()).toEqual({ count: 0 })
      close(opened)
    }
  })

  test('is none where backups of a database are: the newest is named with the command that brings it back', async () => {
    const dir = copyOf(stopped)
    const folder = join(dir, 'backups')
    mkdirSync(folder, { recursive: true })
    for (const name of [
      'hourly-20260304T110000Z.db',
      'hourly-20260304T120000Z.db',
      'daily-20260304.db',
      'replaced-20260305T120000Z.db',
    ])
      copyFileSync(fileOf(dir), join(folder, name))
    rmSync(fileOf(dir))
    await expectRefused(dir, 'database_damaged', `vidimus restore ${join(folder, 'hourly-20260304T120000Z.db')}`)
    for (const args of [
      ['tenant', 'list'],
      ['tenant', 'create', '--name', 'Shop'],
      ['audit', 'verify'],
    ]) {
      const { exitCode, stderr } = await vidimus(dir, args)
      expect([args, exitCode]).toEqual([args, REFUSALS.database_damaged])
      expect(stderr).toContain('hourly-20260304T120000Z.db')
    }
    expect(existsSync(fileOf(dir))).toBe(false)
    rmSync(folder, { recursive: true })
    expect(refusalOf(dir)).toBeUndefined()
  })

  test('holds the still empty database while it makes the master key, so that another one waits and uses it', () => {
    const dir = temporaryDir()
    const states: string[] = []
    const random = (count: number) => {
      if (!existsSync(keyOf(dir))) states.push(`${sizeOf(fileOf(dir))} bytes, ${isHeld(fileOf(dir)) ? 'held' : 'free'}`)
      return randomBytes(count)
    }
    close(open(dir, { random }))
    expect(states).toEqual(['0 bytes, held'])
    expect(isHeld(fileOf(dir))).toBe(false)
  })

  function isHeld(file: string): boolean {
    const rival = new Database(file)
    try {
      rival.run('PRAGMA busy_timeout = 0')
      rival.run('BEGIN EXCLUSIVE')
      return false
    } catch {
      return true
    } finally {
      rival.close()
    }
  }

  test('of the server and of commands at the same moment gives one installation, and none of them fails', async () => {
    const dir = join(temporaryDir(), 'data')
    const commands = [1, 2, 3].map(i => vidimus(dir, ['tenant', 'create', '--name', `Shop ${i}`, '--json']))
    const service = await serve(dir)
    const ends = (await Promise.all(commands)).map(({ exitCode, stderr }) => ({ exitCode, stderr }))
    expect(ends).toEqual(new Array(3).fill({ exitCode: 0, stderr: '' }))
    await kill(service)
    const opened = open(dir)
    expect(opened.reader.query('SELECT count(*) AS count FROM tenants').get()).toEqual({ count: 3 })
    close(opened)
  })
})

// What is sealed is authenticated: claims, credentials, findings, metadata, purposes, addresses. Ids, times, status and template
// keys stand in clear columns, where SQLite has no checksum either: a flip there can go unnoticed, and is not promised here.
describe('a flipped bit in a stopped database', () => {
  const FLIPS = 50
  type Sealed = Pick<Verification, 'claims' | 'credentials' | 'error' | 'metadata' | 'purpose' | 'redirect_url'>

  let dir: string
  let testKey: string
  let written: Map<string, Verification>

  beforeAll(async () => {
    const app = await startApp()
    testKey = (await app.tenant()).key
    const made = [
      await verifyWith(app, testKey, 'adult', { body: DETAILS }),
      await verifyWith(app, testKey, 'minor', { body: { ...DETAILS, metadata: { order: 'o-2' } } }),
      await verifyWith(app, testKey, 'revoked', { body: DETAILS }),
    ].map(({ verification }) => verification)
    for (let i = 0; i < 5; i++) made.push(await createVerification(app, testKey, { ...DETAILS, metadata: { order: `p-${i}` } }))
    await app.stop()
    dir = app.dir
    written = new Map(made.map(verification => [verification.id, verification]))
    expect(made.map(({ status }) => status).slice(0, 4)).toEqual(['completed', 'failed', 'failed', 'pending'])
  })

  const sealedOf = ({ claims, credentials, error, metadata, purpose, redirect_url }: Sealed): Sealed => ({
    claims,
    credentials,
    error,
    metadata,
    purpose,
    redirect_url,
  })

  function flipped(offset: number, bit: number): string {
    const copy = copyOf(dir)
    writeAt(fileOf(copy), offset, Uint8Array.of(readFileSync(fileOf(dir))[offset]! ^ (1 << bit)))
    return copy
  }

  /** Nothing when it does not start: how a refusal reads is tested above. */
  const start = (copy: string): Promise<TestApp | undefined> => startApp({ dir: copy, now: NOON }).catch(() => undefined)

  /** The service's answers for everything written: each is what was written, or says that it failed. */
  async function readAll(app: TestApp): Promise<number[]> {
    const answers = [...written.values()].map(async verification => {
      const { status, body } = await app.call('GET', `/v1/verifications/${verification.id}`, { key: testKey })
      if (status === 200) expect(sealedOf(body as Verification)).toEqual(sealedOf(verification))
      else expect(body).toEqual({ error: { code: expect.any(String), message: expect.any(String) } })
      return status
    })
    return await Promise.all(answers)
  }

  test(`anywhere is refused at the start, or no sealed value is ever served wrong (${FLIPS} flips)`, async () => {
    const random = seeded(88)
    const size = statSync(fileOf(dir)).size
    for (let i = 0; i < FLIPS; i++) {
      const app = await start(flipped(random.below(size), random.below(8)))
      if (!app) continue
      for (const status of await readAll(app)) expect([200, 401, 404, 500]).toContain(status)
      await app.stop()
    }
  })

  test('in the index of results is never taken for a verdict without claims', async () => {
    const reader = new Database(fileOf(dir), { readonly: true })
    const [result] = reader.query<{ id: string }, []>('SELECT verification_id AS id FROM verification_results').all()
    const name = 'sqlite_autoindex_verification_results_1'
    const page = reader.query<{ pgoffset: number }, [string]>('SELECT pgoffset FROM dbstat WHERE name = ?').get(name)!.pgoffset
    reader.close()
    const at = readFileSync(fileOf(dir)).indexOf(result!.id, page)
    expect(at).toBeLessThan(page + 4096)
    for (const place of [5, 9, 14]) {
      const app = await start(flipped(at + place, 1))
      if (!app) continue
      const statuses = await readAll(app)
      expect(statuses[[...written.keys()].indexOf(result!.id)]).toBe(500)
      expect(statuses.filter(status => status === 200)).toHaveLength(written.size - 1)
      await app.stop()
    }
  })

  test('inside a sealed value gives 500 in the envelope for its session, and the others are served', async () => {
    const file = readFileSync(fileOf(dir))
    const reader = new Database(fileOf(dir), { readonly: true })
    const blobs = reader
      .query<{ id: string; sealed: Uint8Array }, []>(
        `SELECT verification_id AS id, sealed FROM verification_results
         UNION ALL SELECT id, sealed FROM verification_sessions WHERE sealed IS NOT NULL`,
      )
      .all()
    reader.close()
    const random = seeded(99)
    const chosen = blobs.filter((_, i) => i % 2 === 0)
    expect(chosen.length).toBeGreaterThanOrEqual(5)
    for (const { id, sealed } of chosen) {
      // The first bytes are enough to find it; a large one goes on in overflow pages.
      const at = file.indexOf(sealed.subarray(0, 24))
      expect(at).toBeGreaterThan(0)
      const app = await start(flipped(at + random.below(24), random.below(8)))
      const statuses = await readAll(app!)
      expect(statuses).toEqual([...written.keys()].map(each => (each === id ? 500 : 200)))
      await app!.stop()
    }
  })
})
