// `vidimus restore`, by real processes: nobody who was erased comes back, a kill loses nothing, and what is no good backup changes no byte.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../src/db/refusal.ts'
import { holdDirectory } from '../../src/db/sqlite/locks.ts'
import { preparedFile, replaceDatabase } from '../../src/db/sqlite/replace.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, createVerification, type ErrorBody, startApp, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, vidimus as spawnVidimus, vidimusJson as spawnVidimusJson, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { HOW, killPoints } from '../helpers/crash/kill-at.ts'
import { contentOf, copyOf, invariantsOf, modeOf, namesIn, one, SOUND } from '../helpers/directories.ts'
import { filesContaining } from '../helpers/files.ts'
import { receive, startAppFor, stopReceiving } from '../helpers/receiver.ts'
import { seeded } from '../helpers/seeded.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(stopServing)
afterAll(stopReceiving)

type Restored = {
  file: string
  taken_at: string
  verifications: number
  audit_records: number
  erased_again: number
  upgraded: string[]
  replaced: string | null
}
type Verdict = { ok: boolean; count: number }

const CANARY = 'canary-of-a-person-5cd1'

const databaseOf = (dir: string) => join(dir, 'vidimus.db')
const logOf = (dir: string) => join(dir, 'backups', 'erasures.log')

async function kill({ process: child }: Served): Promise<void> {
  child.kill('SIGKILL')
  await child.exited
}

/** Everything a database has of a session that would be recognised in a file: its id, and what is sealed with it. */
function tracesOf(file: string, id: string): (string | Uint8Array)[] {
  const sqlite = new Database(file)
  const rows = [
    'SELECT nonce, salt, sealed FROM verification_sessions WHERE id = ?',
    'SELECT salt, sealed FROM verification_results WHERE verification_id = ?',
    'SELECT salt, sealed FROM verification_events WHERE verification_id = ?',
    `SELECT salt, sealed FROM audit_records WHERE seq IN (SELECT audit_seq FROM verification_sessions WHERE id = ?1
       UNION SELECT audit_seq FROM verification_results WHERE verification_id = ?1)`,
    `SELECT salt, sealed FROM idempotency_keys WHERE hash = (SELECT idempotency_hash FROM verification_sessions WHERE id = ?)`,
    'SELECT id FROM webhook_deliveries WHERE verification_id = ?',
  ].flatMap(sql => sqlite.query<Record<string, string | Uint8Array | null>, [string]>(sql).all(id))
  sqlite.close()
  return [id, ...rows.flatMap(row => Object.values(row).filter(value => value !== null))]
}

/** A stopped directory with a backup, and with sessions that were erased after it. */
let dir: string
let backup: string
let key: string
let erased: string[]
let kept: Verification[]
let traces: (string | Uint8Array)[]

beforeAll(async () => {
  const shop = receive()
  const app = await startAppFor([shop], { now: Date.now() })
  ;({ key } = await app.tenant())
  const body = { webhook_url: shop.url(), purpose: CANARY, metadata: { person: CANARY } }
  const finished = await Promise.all(['adult', 'minor'].map(persona => verifyWith(app, key, persona as 'adult', { body })))
  const headers = { 'idempotency-key': 'order-1' }
  const waiting = await app.call<Verification>('POST', '/v1/verifications', {
    key,
    headers,
    body: { template: 'age_over_18', purpose: CANARY, metadata: { person: CANARY } },
  })
  kept = [(await verifyWith(app, key, 'adult', { body })).verification]
  for (let i = 0; i < 20; i++) kept.push(await createVerification(app, key, { purpose: `number ${i}` }))
  await app.stop()
  dir = app.dir
  erased = [...finished.map(({ verification }) => verification.id), waiting.body.id]

  const server = await serve(dir)
  backup = join(temporaryDir(), 'backup.db')
  const busy = { on: true }
  const later: string[] = []
  const load = Array.from({ length: 8 }, async () => {
    while (busy.on) {
      const made = await call<Verification>(server.url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
      later.push(made.body.id)
    }
  })
  await spawnVidimusJson(dir, 'backup', backup)
  traces = erased.flatMap(id => tracesOf(backup, id))
  expect(traces.length).toBeGreaterThan(20)
  for (const id of erased) expect((await call(server.url, 'DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)
  busy.on = false
  await Promise.all(load)
  await kill(server)
  expect(later.length).toBeGreaterThan(0)
})

const sessionsIn = (own: string) => Number(one(databaseOf(own), 'SELECT count(*) FROM verification_sessions'))
const foundIn = (own: string) => traces.flatMap(trace => filesContaining(own, trace))

async function statusOf(own: string, ids: string[]): Promise<number[]> {
  const server = await serve(own)
  const answers = await Promise.all(ids.map(id => call(server.url, 'GET', `/v1/verifications/${id}`, { key })))
  await kill(server)
  return answers.map(({ status }) => status)
}

describe('a restore', () => {
  test('brings back what the backup has, and nobody who was erased since: neither in an answer nor in a file', async () => {
    const own = copyOf(dir)
    const records = Number(one(backup, 'SELECT count(*) FROM audit_records'))
    const sessions = Number(one(backup, 'SELECT count(*) FROM verification_sessions'))
    const restored = await vidimusJson<Restored>(own, 'restore', backup)
    expect(restored).toEqual({
      file: backup,
      taken_at: expect.stringMatching(/Z$/),
      verifications: sessions - erased.length,
      audit_records: records + erased.length + 1,
      erased_again: erased.length,
      upgraded: [],
      replaced: expect.stringMatching(/replaced-\d{8}T\d{6}Z\.db$/),
    })
    expect(invariantsOf(databaseOf(own))).toEqual(SOUND)
    expect(await vidimusJson<Verdict>(own, 'audit', 'verify')).toMatchObject({ ok: true, count: records + erased.length + 1 })

    const server = await serve(own)
    for (const id of erased) {
      for (const path of ['', '/status']) {
        const answer = await call<ErrorBody>(server.url, 'GET', `/v1/verifications/${id}${path}`, { key })
        expect([answer.status, answer.body.error?.code]).toEqual([404, 'session_not_found'])
      }
    }
    // The key of an erased creation stays taken: a repeat must not create anything.
    const again = await call<ErrorBody>(server.url, 'POST', '/v1/verifications', {
      key,
      headers: { 'idempotency-key': 'order-1' },
      body: { template: 'age_over_18', purpose: CANARY, metadata: { person: CANARY } },
    })
    expect([again.status, again.body.error?.code]).toEqual([422, 'idempotency_key_reused'])
    for (const { wallet_uri: _, request_uri: __, ...verification } of kept as (Verification & { request_uri?: string })[]) {
      const { body } = await call<Verification>(server.url, 'GET', `/v1/verifications/${verification.id}`, { key })
      expect(body).toMatchObject({ id: verification.id, created_at: verification.created_at, purpose: verification.purpose })
      if (verification.claims) expect(body.claims).toEqual(verification.claims)
    }
    await kill(server)
    expect(foundIn(own)).toEqual([])
    expect(filesContaining(own, CANARY)).toEqual([])
    // The search itself can find: the backup from before the erasures has all of it.
    expect(foundIn(join(backup, '..')).length).toBe(traces.length)
  })

  test('appends to the chain who was erased again and which backup was restored', async () => {
    const own = copyOf(dir)
    await vidimusJson(own, 'restore', backup)
    const sqlite = new Database(databaseOf(own))
    const last = sqlite.query('SELECT action, actor, tenant_id FROM audit_records ORDER BY seq DESC LIMIT 4').all()
    sqlite.close()
    expect(last.map(row => (row as { action: string }).action)).toEqual([
      'backup.restored',
      'verification.erased',
      'verification.erased',
      'verification.erased',
    ])
  })

  test('keeps the replaced database with its log, and that one can be restored in turn', async () => {
    const own = copyOf(dir)
    const { replaced } = await vidimusJson<Restored>(own, 'restore', backup)
    const between = sessionsIn(own)
    const back = await vidimusJson<Restored>(own, 'restore', replaced ?? '')
    // The newest of them stood in the log only.
    expect(sessionsIn(own)).toBe(sessionsIn(copyOf(dir)))
    expect(sessionsIn(own)).toBeGreaterThan(between)
    expect(back.erased_again).toBe(0)
    expect(invariantsOf(databaseOf(own))).toEqual(SOUND)
    expect(await statusOf(own, [...erased, kept[0]!.id])).toEqual([404, 404, 404, 200])
  })

  test('keeps both of two databases that are replaced within a second', () => {
    const own = temporaryDir()
    const replaceBy = (content: string) => {
      writeFileSync(preparedFile(own), content)
      utimesSync(preparedFile(own), 1_800_000_000, 1_800_000_000)
      return replaceDatabase(own)
    }
    writeFileSync(databaseOf(own), 'first')
    const kept = [replaceBy('second'), replaceBy('third')]
    expect(kept.map(file => readFileSync(file ?? '', 'utf8'))).toEqual(['first', 'second'])
    expect(readFileSync(databaseOf(own), 'utf8')).toBe('third')
  })

  test('leaves files for their owner only, and nothing half-made', async () => {
    const own = copyOf(dir)
    await vidimusJson(own, 'restore', backup)
    expect(namesIn(own).filter(name => !/^(backups|master\.key|wrapping-1\.key|server\.lock|vidimus\.db)$/.test(name))).toEqual(
      [],
    )
    expect(namesIn(join(own, 'backups')).filter(name => !/^(erasures\.log|replaced-.*)$/.test(name))).toEqual([])
    for (const path of [databaseOf(own), logOf(own), ...namesIn(join(own, 'backups')).map(name => join(own, 'backups', name))])
      expect([path, modeOf(path)]).toEqual([path, '600'])
    expect(modeOf(join(own, 'backups'))).toBe('700')
  })
})

describe('the list of people erased since the backup is read', () => {
  test('from the log when the database is damaged, or gone', async () => {
    const [damaged, gone] = [copyOf(dir), copyOf(dir)]
    writeFileSync(databaseOf(damaged), seeded(1).bytes(50_000))
    for (const name of ['vidimus.db', 'vidimus.db-wal', 'vidimus.db-shm']) rmSync(join(gone, name), { force: true })
    for (const own of [damaged, gone]) {
      expect((await vidimusJson<Restored>(own, 'restore', backup)).erased_again).toBe(erased.length)
      expect(await statusOf(own, [...erased, kept[0]!.id])).toEqual([404, 404, 404, 200])
    }
  })

  test('from the audit chain when the log is gone', async () => {
    const own = copyOf(dir)
    rmSync(join(own, 'backups'), { recursive: true })
    expect((await vidimusJson<Restored>(own, 'restore', backup)).erased_again).toBe(erased.length)
    // And the log is there again, for the next time.
    for (const name of ['vidimus.db', 'vidimus.db-wal', 'vidimus.db-shm']) rmSync(join(own, name), { force: true })
    expect((await vidimusJson<Restored>(own, 'restore', backup)).erased_again).toBe(erased.length)
  })

  test('from the audit chain of a newer version, on the way back to the earlier one', async () => {
    const own = copyOf(dir)
    rmSync(join(own, 'backups'), { recursive: true })
    const sqlite = new Database(databaseOf(own))
    sqlite.run("INSERT INTO schema_migrations VALUES ('9999_future', 'x', 1)")
    sqlite.run('ALTER TABLE audit_records ADD COLUMN colour text')
    sqlite.close()
    expect((await vidimusJson<Restored>(own, 'restore', backup)).erased_again).toBe(erased.length)
    expect(await statusOf(own, [...erased, kept[0]!.id])).toEqual([404, 404, 404, 200])
  })

  test('from the log beside the backup, on a new machine that has only the keys', async () => {
    const own = join(temporaryDir(), 'data')
    const folder = temporaryDir()
    mkdirSync(own)
    for (const name of ['master.key', 'wrapping-1.key']) copyFileSync(join(dir, name), join(own, name))
    copyFileSync(backup, join(folder, 'backup.db'))
    copyFileSync(logOf(dir), join(folder, 'erasures.log'))
    expect(await vidimusJson<Restored>(own, 'restore', join(folder, 'backup.db'))).toMatchObject({
      erased_again: erased.length,
      replaced: null,
    })
    expect(await statusOf(own, [...erased, kept[0]!.id])).toEqual([404, 404, 404, 200])
    expect(readFileSync(logOf(own), 'utf8')).toContain(readFileSync(logOf(dir), 'utf8').trim().split('\n').at(-1)!)
  })

  test('from nowhere when all are gone: the restore is refused unless the operator insists', async () => {
    const own = join(temporaryDir(), 'data')
    mkdirSync(own)
    for (const name of ['master.key', 'wrapping-1.key']) copyFileSync(join(dir, name), join(own, name))
    const { exitCode, stdout, stderr } = await vidimus(own, ['restore', backup])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^vidimus: the erasures since [^\n]+erasures\.log[^\n]+, or say --without-erasures\n$/)
    expect(namesIn(own)).toEqual(['master.key', 'server.lock', 'wrapping-1.key'])
    const restored = await vidimusJson<Restored>(own, 'restore', backup, '--without-erasures')
    expect(restored.erased_again).toBe(0)
    expect(await statusOf(own, erased)).toEqual([200, 200, 200])
  })

  test('not from the log of another installation, which was started here before the restore', async () => {
    const { deps, dir: own, stop } = await startApp({ now: Date.now() })
    await deps.erasures.ensure()
    await stop()
    for (const name of ['master.key', 'wrapping-1.key']) copyFileSync(join(dir, name), join(own, name))
    const { exitCode, stderr } = await vidimus(own, ['restore', backup])
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('was made are not known') })
    const folder = temporaryDir()
    copyFileSync(backup, join(folder, 'backup.db'))
    copyFileSync(logOf(dir), join(folder, 'erasures.log'))
    expect((await vidimusJson<Restored>(own, 'restore', join(folder, 'backup.db'))).erased_again).toBe(erased.length)
    // From now on the log here is of the restored installation.
    expect((await vidimusJson<Restored>(own, 'restore', backup)).erased_again).toBe(erased.length)
  })

  test('not from a log that begins after the backup, or that has lost its heading', async () => {
    const lines = readFileSync(logOf(dir), 'utf8').split('\n')
    const later = lines[0]!.replace(/since \d+/, `since ${Date.now()}`)
    for (const heading of [later, 'something else']) {
      const own = copyOf(dir)
      for (const name of ['vidimus.db', 'vidimus.db-wal', 'vidimus.db-shm']) rmSync(join(own, name), { force: true })
      writeFileSync(logOf(own), [heading, ...lines.slice(1)].join('\n'))
      const before = contentOf(own)
      const { exitCode, stderr } = await vidimus(own, ['restore', backup])
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('was made are not known') })
      expect(contentOf(own)).toEqual(before)
    }
  })
})

describe('a restore is refused and changes no byte of the data directory:', () => {
  type Reason = keyof typeof REFUSALS

  async function expectRefused(own: string, file: string, reason: Reason | 'wrong_file', says: RegExp): Promise<void> {
    const before = contentOf(own)
    const { exitCode, stdout, stderr } = await vidimus(own, ['restore', file])
    expect({ exitCode, stdout }).toEqual({ exitCode: reason === 'wrong_file' ? 1 : REFUSALS[reason], stdout: '' })
    expect(stderr).toMatch(/^vidimus: [^\n]+\n$/)
    expect(stderr).toMatch(says)
    expect(contentOf(own)).toEqual(before)
  }

  /** A copy of the backup, with something done to it. */
  function changed(change: (file: string) => void): string {
    const file = join(temporaryDir(), 'backup.db')
    copyFileSync(backup, file)
    change(file)
    return file
  }

  const withRows = (sql: string) =>
    changed(file => {
      const sqlite = new Database(file)
      sqlite.run('PRAGMA foreign_keys = OFF')
      sqlite.run(sql)
      sqlite.close()
    })

  test('from a file that is cut off, damaged, empty, or of another program', async () => {
    const random = seeded(3)
    const size = readFileSync(backup).length
    const own = copyOf(dir)
    const unfit = [
      ...[0, 50, 4096, size - 4096, size - 1, random.below(size)].map(length => changed(file => truncateSync(file, length))),
      changed(file => writeFileSync(file, 'not a database')),
      changed(file => {
        const bytes = readFileSync(file)
        bytes.set(new Uint8Array(4096), 4096 * Math.floor(bytes.length / 8192))
        writeFileSync(file, bytes)
      }),
      changed(file => {
        rmSync(file)
        const foreign = new Database(file)
        foreign.run('CREATE TABLE bookmarks (url TEXT)')
        foreign.close()
      }),
    ]
    // A value that must not be missing, and that only the check of its table finds: the schema says NOT NULL again when it is gone.
    const noName = changed(file => {
      const replaceInSchema = (from: string, to: string) => {
        const bytes = readFileSync(file)
        const at = bytes.indexOf(from, bytes.indexOf('CREATE TABLE `tenants`'))
        bytes.write(to, at)
        writeFileSync(file, bytes)
      }
      replaceInSchema('`name` text NOT NULL', '`name` text         ')
      const sqlite = new Database(file)
      sqlite.run('UPDATE tenants SET name = NULL')
      sqlite.close()
      replaceInSchema('`name` text         ', '`name` text NOT NULL')
    })
    expect(one(noName, 'SELECT name FROM tenants')).toBeNull()
    for (const file of [...unfit, noName])
      await expectRefused(own, file, 'database_damaged', /is damaged, or no backup of this program/)
  })

  test('from one whose chain was changed, that lacks a session, or has a reference to nothing', async () => {
    const own = copyOf(dir)
    for (const sql of [
      "UPDATE audit_records SET actor = 'somebody else' WHERE seq = 2",
      'DELETE FROM audit_records WHERE seq = (SELECT max(seq) FROM audit_records) - 1',
      "DELETE FROM verification_sessions WHERE id = (SELECT max(id) FROM verification_sessions WHERE status = 'pending')",
      "INSERT INTO verification_results VALUES ('vs_none', 'ten_none', x'00', x'00', 1, 1)",
    ]) {
      await expectRefused(own, withRows(sql), 'database_damaged', /is damaged, or no backup of this program; choose another one/)
    }
  })

  test('from one of a newer version', async () => {
    const newer = withRows("INSERT INTO schema_migrations VALUES ('9999_future', 'x', 1)")
    await expectRefused(copyOf(dir), newer, 'schema_newer', /; restore it with that version/)
  })

  test('from one that was made before 0.1.0', async () => {
    const older = withRows("UPDATE schema_migrations SET sha256 = 'x' WHERE id = '0000_ground'")
    await expectRefused(
      copyOf(dir),
      older,
      'before_first_release',
      /^vidimus: This database was made before 0\.1\.0, which cannot/,
    )
  })

  test('from one of another installation, or without a master key to open it', async () => {
    const app = await startApp({ now: Date.now() })
    await app.stop()
    await expectRefused(app.dir, backup, 'key_wrong', /does not open .*; put the key in place that was used then/)
    const own = copyOf(dir)
    rmSync(join(own, 'master.key'))
    await expectRefused(own, backup, 'key_missing', /put the key back/)
  })

  test('from one whose wrapping key is not there', async () => {
    const own = copyOf(dir)
    rmSync(join(own, 'wrapping-1.key'))
    await expectRefused(
      own,
      backup,
      'key_missing',
      /needs a wrapping key that is not in .*; put your safe copy of the wrapping keys there/,
    )
  })

  test('from a missing file, a directory, or the database itself', async () => {
    const own = copyOf(dir)
    for (const file of [join(own, 'none.db'), own])
      await expectRefused(own, file, 'wrong_file', /there is no file .*; give the path of a backup/)
    await expectRefused(own, databaseOf(own), 'wrong_file', /is the database itself; give the path of a backup/)
  })

  test('while a server runs, which continues, and while a command is at work', async () => {
    const own = copyOf(dir)
    const server = await serve(own)
    const { exitCode, stderr } = await vidimus(own, ['restore', backup])
    expect(exitCode).toBe(REFUSALS.directory_in_use)
    expect(stderr).toMatch(/^vidimus: a server uses [^\n]+; stop it, and run this again\n$/)
    expect((await call(server.url, 'GET', `/v1/verifications/${kept[0]!.id}`, { key })).status).toBe(200)
    await kill(server)
    const release = holdDirectory(own, 'command')
    await expectRefused(own, backup, 'directory_in_use', /another process uses .*; wait until it is done/)
    release()
    await vidimusJson(own, 'restore', backup)
  })
})

test('during a restore neither a server nor a command can open the directory', async () => {
  const own = copyOf(dir)
  const release = holdDirectory(own, 'alone')
  const [server, command] = await Promise.all([
    spawnVidimus(own, ['serve'], { PORT: '0' }),
    spawnVidimus(own, ['tenant', 'list']),
  ])
  release()
  expect([server.exitCode, command.exitCode]).toEqual([REFUSALS.directory_in_use, REFUSALS.directory_in_use])
  expect(command.stderr).toContain('is being restored; try again')
})

test(`a restore killed ${HOW} leaves the old or the restored database, brings nobody back, and can be repeated`, async () => {
  const points = await killPoints(copyOf(dir), ['restore', backup], 3)
  const old = sessionsIn(copyOf(dir))
  const restored = Number(one(backup, 'SELECT count(*) FROM verification_sessions')) - erased.length
  expect(old).toBeGreaterThan(restored)
  const ends = { killed: 0, old: 0, restored: 0 }
  for (const [i, { name, run }] of points.entries()) {
    const own = copyOf(dir)
    if ((await run(own, ['restore', backup])).isKilled) ends.killed++
    // The next command finishes the restore, whichever it is; a backup opens the directory differently.
    if (i % 2) await vidimusJson(own, 'backup', join(temporaryDir(), 'backup.db'))
    expect([name, await vidimusJson<Verdict>(own, 'audit', 'verify')]).toEqual([name, expect.objectContaining({ ok: true })])
    expect([name, invariantsOf(databaseOf(own))]).toEqual([name, SOUND])
    expect([name, [old, restored]]).toEqual([name, expect.arrayContaining([sessionsIn(own)])])
    ends[sessionsIn(own) === old ? 'old' : 'restored']++
    for (const id of erased)
      expect([name, one(databaseOf(own), 'SELECT count(*) FROM verification_sessions WHERE id = ?', id)]).toEqual([name, 0])
    await vidimusJson(own, 'restore', backup)
    expect([name, invariantsOf(databaseOf(own)), foundIn(own)]).toEqual([name, SOUND, []])
    expect(existsSync(join(own, 'vidimus.db.restoring'))).toBe(false)
    rmSync(own, { recursive: true })
  }
  expect(ends.killed).toBeGreaterThan(points.length / 2)
  expect(Math.min(ends.old, ends.restored)).toBeGreaterThan(0)
})
