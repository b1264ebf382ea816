// `vidimus backup` beside a running server: consistent, checked, for its owner only, and there only when it is good.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdPart } from '../../src/db/part-file.ts'
import { holdFile } from '../../src/db/sqlite/locks.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, startApp, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, stopServing, vidimus, vidimusJson } from '../helpers/cli.ts'
import { HOW, killPoints } from '../helpers/crash/kill-at.ts'
import { contentOf, copyOf, invariantsOf, modeOf, namesIn, one, SOUND } from '../helpers/directories.ts'
import { filesContaining } from '../helpers/files.ts'
import { PROGRAM } from '../helpers/program.ts'

afterAll(stopServing)

type Report = { file: string; taken_at: string; bytes: number; verifications: number; audit_records: number; head: string }

let dir: string
let key: string
let server: Served

beforeAll(async () => {
  const app = await startApp({ now: Date.now() })
  ;({ key } = await app.tenant())
  await app.stop()
  dir = app.dir
  server = await serve(dir)
})

const create = async (purpose = 'to sell a bottle') => {
  const body = { template: 'age_over_18', purpose, metadata: { order: 'o-1' } }
  const answer = await call<Verification>(server.url, 'POST', '/v1/verifications', { key, body })
  expect(answer.status).toBe(201)
  return answer.body
}

describe('a backup under load', () => {
  test('has every creation that was acknowledged before it was begun, none in half, and its chain verifies', async () => {
    const acknowledged: string[] = []
    const busy = { on: true }
    const clients = Array.from({ length: 16 }, async () => {
      while (busy.on) acknowledged.push((await create()).id)
    })
    while (acknowledged.length < 300) await Bun.sleep(5)
    const before = [...acknowledged]
    const file = join(temporaryDir(), 'backup.db')
    const report = await vidimusJson<Report>(dir, 'backup', file)
    busy.on = false
    await Promise.all(clients)
    expect(acknowledged.length).toBeGreaterThan(before.length)

    expect(invariantsOf(file)).toEqual(SOUND)
    const kept = new Database(file)
    const ids = new Set(
      kept
        .query<{ id: string }, []>('SELECT id FROM verification_sessions')
        .all()
        .map(({ id }) => id),
    )
    kept.close()
    expect(before.filter(id => !ids.has(id))).toEqual([])
    expect(report).toEqual({
      file,
      taken_at: expect.stringMatching(/Z$/),
      bytes: readFileSync(file).length,
      verifications: ids.size,
      audit_records: Number(one(file, 'SELECT count(*) FROM audit_records')),
      head: String(one(file, 'SELECT hash FROM audit_records ORDER BY seq DESC LIMIT 1')),
    })
  })

  test('is one file for its owner only, even under an open umask, and holds neither the master key nor clear text', async () => {
    await create('canary of a purpose')
    const folder = temporaryDir()
    const file = join(folder, 'backup.db')
    const child = Bun.spawn(['sh', '-c', 'umask 000; exec "$0" "$@"', PROGRAM, 'backup', file], {
      env: { PATH: process.env.PATH ?? '', VIDIMUS_DATA_DIR: dir },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect(await child.exited).toBe(0)
    expect(await new Response(child.stdout).text()).toContain('master.key: keep a copy of that somewhere else')
    expect(namesIn(folder)).toEqual(['backup.db'])
    expect(modeOf(file)).toBe('600')
    expect(filesContaining(folder, readFileSync(join(dir, 'master.key')))).toEqual([])
    expect(filesContaining(folder, 'canary of a purpose')).toEqual([])
  })

  test('does not have what was erased before, sealed or not', async () => {
    const { id } = await create()
    const sealed = one(join(dir, 'vidimus.db'), 'SELECT sealed FROM verification_sessions WHERE id = ?', id) as Uint8Array
    expect((await call(server.url, 'DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)
    const folder = temporaryDir()
    await vidimusJson(dir, 'backup', join(folder, 'backup.db'))
    expect([...filesContaining(folder, id), ...filesContaining(folder, sealed)]).toEqual([])
  })
})

describe('a backup is refused, and nothing is written, when', () => {
  const refused = async (args: string[], says: RegExp, own = dir) => {
    const { exitCode, stdout, stderr } = await vidimus(own, ['backup', ...args])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^vidimus: [^\n]+\n$/)
    expect(stderr).toMatch(says)
  }

  test('the file is there already; --force replaces it', async () => {
    const file = join(temporaryDir(), 'backup.db')
    writeFileSync(file, 'mine')
    await refused([file], /exists already; choose another name, or replace it with --force/)
    expect(readFileSync(file, 'utf8')).toBe('mine')
    await vidimusJson(dir, 'backup', file, '--force')
    expect(invariantsOf(file)).toEqual(SOUND)
    expect(modeOf(file)).toBe('600')
  })

  test('its directory is not there, it is a directory, or it is the database or the key itself', async () => {
    const folder = temporaryDir()
    mkdirSync(join(folder, 'directory'))
    await refused([join(folder, 'none', 'backup.db')], /directory that exists/)
    await refused([join(folder, 'directory'), '--force'], /exists already; choose another name\n/)
    for (const name of ['vidimus.db', 'master.key']) await refused([join(dir, name), '--force'], /is what is to be backed up/)
    expect(namesIn(folder)).toEqual(['directory'])
  })

  test('it is the database, its log or a key, by another name of the directory too', async () => {
    const other = join(temporaryDir(), 'other')
    symlinkSync(dir, other)
    for (const own of [dir, other])
      for (const name of ['vidimus.db', 'vidimus.db-wal', 'master.key', 'wrapping-1.key'])
        await refused([join(own, name), '--force'], /is what is to be backed up/)
  })

  test('there is no database, and none is made', async () => {
    const own = join(temporaryDir(), 'data')
    await refused(
      [join(temporaryDir(), 'backup.db')],
      /there is no database in .*; start the service once, or say where it is/,
      own,
    )
    expect(existsSync(own)).toBe(false)
  })

  test('the audit chain, a reference, or a page of the copy is not whole', async () => {
    const changes = {
      'a record changed': "UPDATE audit_records SET actor = 'somebody else' WHERE seq = 2",
      'a session without its record': "UPDATE audit_records SET action = 'key.created' WHERE action = 'verification.created'",
      'a session that was deleted': 'DELETE FROM verification_sessions WHERE id = (SELECT max(id) FROM verification_sessions)',
      'a result without session': "INSERT INTO verification_results VALUES ('vs_none', 'ten_none', x'00', x'00', 1, 1)",
    }
    await create()
    for (const [name, change] of Object.entries(changes)) {
      const own = copyOf(dir)
      const sqlite = new Database(join(own, 'vidimus.db'))
      sqlite.run('PRAGMA foreign_keys = OFF')
      sqlite.run(change)
      sqlite.close()
      const folder = temporaryDir()
      const { exitCode, stderr } = await vidimus(own, ['backup', join(folder, 'backup.db')])
      expect({ name, exitCode, files: namesIn(folder) }).toEqual({ name, exitCode: 12, files: [] })
      expect(stderr).toMatch(/^vidimus: [^\n]+\n$/)
    }
  })
})

test(`a backup killed ${HOW} leaves no file or a good one, the server continues, and the next backup is made`, async () => {
  await create()
  const folder = temporaryDir()
  const points = await killPoints(dir, ['backup', join(folder, 'first.db')], 6)
  let killed = 0
  for (const { name, run } of points) {
    const file = join(folder, 'backup.db')
    const { isKilled } = await run(dir, ['backup', file, '--force'])
    if (isKilled) killed++
    if (existsSync(file)) expect([name, invariantsOf(file)]).toEqual([name, SOUND])
    for (const each of namesIn(folder)) expect([name, each, modeOf(join(folder, each))]).toEqual([name, each, '600'])
  }
  expect(killed).toBeGreaterThan(points.length / 2)
  expect((await call(server.url, 'GET', '/readyz')).status).toBe(200)
  await create()
  await vidimusJson(dir, 'backup', join(folder, 'backup.db'), '--force')
  expect(namesIn(folder)).toEqual(['backup.db', 'first.db'])
})

test('two backups at once are both good, and change nothing in the data directory', async () => {
  const own = copyOf(dir)
  await vidimusJson(own, 'tenant', 'list')
  const before = contentOf(own)
  const folder = temporaryDir()
  await Promise.all(['a.db', 'b.db'].map(name => vidimusJson(own, 'backup', join(folder, name))))
  expect(contentOf(own)).toEqual(before)
  for (const name of ['a.db', 'b.db']) expect(invariantsOf(join(folder, name))).toEqual(SOUND)
})

test('two backups to one file at once are both made, and leave nothing beside it', async () => {
  const app = await startApp({ now: Date.now() })
  await app.stop()
  const folder = temporaryDir()
  const args = ['backup', join(folder, 'copy.db'), '--force']
  const runs = await Promise.all([vidimus(app.dir, args), vidimus(app.dir, args), vidimus(app.dir, args)])
  expect(runs.map(({ stderr }) => stderr)).toEqual(['', '', ''])
  expect(readdirSync(folder)).toEqual(['copy.db'])
})

test('a backup removes the parts of its file that killed ones left, and no other file', async () => {
  const app = await startApp({ now: Date.now() })
  await app.stop()
  const folder = temporaryDir()
  const killed = 'copy.db.0a1b2c3d.part'
  const left = [killed, `${killed}-lock`, 'copy.db.0a1b2c3e.part-lock', 'copy.db.0a1b2c3f.part-journal']
  const others = ['copy.db.part', 'copy.db.77.part', 'copy.db.old.0a1b2c3d.part', 'copy.db.part-time']
  for (const name of [...left, ...others]) writeFileSync(join(folder, name), '')
  await vidimusJson(app.dir, 'backup', join(folder, 'copy.db'))
  expect(readdirSync(folder).toSorted()).toEqual(['copy.db', ...others].toSorted())
})

test('a backup leaves the part of another one to the same file alone while that one runs', async () => {
  const app = await startApp({ now: Date.now() })
  await app.stop()
  const folder = temporaryDir()
  const part = 'copy.db.0a1b2c3d.part'
  const release = holdFile(join(folder, `${part}-lock`))!
  writeFileSync(join(folder, part), '')
  const backUp = () => vidimusJson(app.dir, 'backup', join(folder, 'copy.db'), '--force')
  await backUp()
  expect(readdirSync(folder).toSorted()).toEqual(['copy.db', part, `${part}-lock`])
  release()
  await backUp()
  expect(readdirSync(folder)).toEqual(['copy.db'])
})

test('the name of a part is drawn from the given randomness', () => {
  const folder = temporaryDir()
  const { part, release } = holdPart(join(folder, 'copy.db'), bytes => new Uint8Array(bytes).fill(0xab))
  release()
  expect(part).toBe(join(folder, 'copy.db.abababab.part'))
})

function refuseLocks(code: string) {
  return () => {
    throw Object.assign(new Error('refused'), { code })
  }
}

test('a part is refused where the file system has no locks, and nothing is left', () => {
  const folder = temporaryDir()
  const locks = spyOn(Database.prototype, 'query').mockImplementation(refuseLocks('SQLITE_BUSY'))
  try {
    expect(() => holdPart(join(folder, 'copy.db'), randomBytes)).toThrow(
      `files in ${folder} cannot be locked; choose a directory on another`,
    )
  } finally {
    locks.mockRestore()
  }
  expect(readdirSync(folder)).toEqual([])
})

test("a lock that is another user's stays, and stops nobody else", () => {
  const folder = temporaryDir()
  const foreign = 'other.db.0a1b2c3d.part-lock'
  writeFileSync(join(folder, foreign), '')
  const locks = spyOn(Database.prototype, 'query').mockImplementationOnce(refuseLocks('SQLITE_CANTOPEN'))
  try {
    holdPart(join(folder, 'copy.db'), randomBytes).release()
  } finally {
    locks.mockRestore()
  }
  expect(readdirSync(folder)).toEqual([foreign])
})

/** In a container of its own each process has the number 1. */
const CONTAINER = ['unshare', '--user', '--map-root-user', '--pid', '--fork']
const hasContainers = Bun.which('unshare') !== null && Bun.spawnSync([...CONTAINER, 'true']).exitCode === 0

test.skipIf(!hasContainers)(
  `${hasContainers ? '' : 'SKIPPED, because nobody may make namespaces here: '}two containers that back up to one file at once both succeed`,
  async () => {
    const app = await startApp({ now: Date.now() })
    await app.stop()
    const folder = temporaryDir()
    const args = ['backup', join(folder, 'copy.db'), '--force']
    const runs = await Promise.all(Array.from({ length: 3 }, () => vidimus(app.dir, args, {}, CONTAINER)))
    expect(runs.map(({ stderr }) => stderr)).toEqual(['', '', ''])
    expect(readdirSync(folder)).toEqual(['copy.db'])
  },
)
