// erasures.log: a line for every erasure, durable before the erasure is done, so that no restore brings anybody back.
import { afterAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readErasureLog } from '../../src/verifications/erasure/erasures.ts'
import { sweepRetention } from '../../src/verifications/erasure/retain.ts'
import { call, createVerification, NOON, startApp, type TestApp, temporaryDir, until } from '../helpers/app.ts'
import { serve, stopServing } from '../helpers/cli.ts'
import { canTrace } from '../helpers/crash/kill-at.ts'
import { rowsOf } from '../helpers/database.ts'
import { modeOf } from '../helpers/directories.ts'
import { filesContaining } from '../helpers/files.ts'

afterAll(stopServing)

const DAY_MS = 86_400_000

const logOf = (dir: string) => join(dir, 'backups', 'erasures.log')
const linesIn = (dir: string) =>
  existsSync(logOf(dir)) ? readFileSync(logOf(dir), 'utf8').split('\n').slice(1).filter(Boolean) : []
const erase = (app: TestApp, key: string, id: string) => app.call('DELETE', `/v1/verifications/${id}`, { key })

describe('an erasure', () => {
  test('leaves an HMAC and a time in the log, and not the id', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    const { id } = await createVerification(app, key)
    expect((await erase(app, key, id)).status).toBe(200)
    const subject = createHmac('sha256', app.deps.sealer.key('audit subject')).update(id).digest('hex')
    expect(linesIn(app.dir)).toEqual([`${subject} ${NOON}`])
    expect(modeOf(logOf(app.dir))).toBe('600')
    expect(filesContaining(app.dir, id)).toEqual([])
  })

  test('is noted before it is done: when it then fails, the note stays and the session does too', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    const { id } = await createVerification(app, key)
    const { write } = app.deps
    app.deps.write = async () => {
      throw new Error('out of order')
    }
    expect((await erase(app, key, id)).status).toBe(500)
    app.deps.write = write
    expect(linesIn(app.dir)).toHaveLength(1)
    expect((await app.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(200)
    expect((await erase(app, key, id)).status).toBe(200)
  })

  test('that cannot be noted is not done', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    const { id } = await createVerification(app, key)
    mkdirSync(logOf(app.dir), { recursive: true })
    expect((await erase(app, key, id)).status).toBe(500)
    expect((await app.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(200)
    rmSync(logOf(app.dir), { recursive: true })
    expect((await erase(app, key, id)).status).toBe(200)
    expect(linesIn(app.dir)).toHaveLength(1)
  })

  test("of another tenant's session, another environment's, or none, is not noted", async () => {
    const app = await startApp()
    const [shop, other] = [await app.tenant(), await app.tenant()]
    const { id } = await createVerification(app, shop.key)
    for (const [key, target] of [
      [other.key, id],
      [shop.liveKey, id],
      [shop.key, `vs_${'0'.repeat(22)}`],
    ] as const) {
      expect((await erase(app, key, target)).status).toBe(404)
    }
    expect(linesIn(app.dir)).toEqual([])
  })

  test('by retention is noted like any other', async () => {
    const app = await startApp()
    const { key } = await app.tenant({ name: 'Shop', retentionDays: 1 })
    const made = await Promise.all(Array.from({ length: 150 }, () => createVerification(app, key)))
    app.clock.advance(3 * DAY_MS)
    await sweepRetention(app.deps)
    const { subjects } = readErasureLog(logOf(app.dir))!
    expect(made.filter(({ id }) => !subjects.has(app.deps.audit.subjectOf(id)))).toEqual([])
    expect(subjects.size).toBe(150)
  })

  test('of many at once is noted for each of them', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    const made = await Promise.all(Array.from({ length: 60 }, () => createVerification(app, key)))
    const answers = await Promise.all(made.map(({ id }) => erase(app, key, id)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const { subjects } = readErasureLog(logOf(app.dir))!
    expect(made.filter(({ id }) => !subjects.has(app.deps.audit.subjectOf(id)))).toEqual([])
    expect(linesIn(app.dir)).toHaveLength(60)
  })

  const ERASURES = 30
  test.skipIf(!canTrace)(
    `${canTrace ? '' : 'SKIPPED, because strace is not here: '}is synced to the disk before it is acknowledged`,
    async () => {
      const trace = join(temporaryDir(), 'trace')
      const script = resolve(import.meta.dir, '../helpers/crash/sequential-erasures.ts')
      const child = Bun.spawn(
        [
          'strace',
          '-f',
          '-y',
          '-o',
          trace,
          '-e',
          'trace=fsync,fdatasync',
          process.execPath,
          script,
          temporaryDir(),
          String(ERASURES),
        ],
        { stdout: 'pipe', stderr: 'pipe' },
      )
      expect(await new Response(child.stdout).text()).toBe('erased\n')
      const synced = readFileSync(trace, 'utf8')
        .split('\n')
        .filter(line => /sync\(\d+<[^>]*erasures\.log>/.test(line))
      expect(synced.length).toBeGreaterThanOrEqual(ERASURES)
    },
  )
})

describe('the log', () => {
  test('goes on after a line that was cut off, which is taken for nobody', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    const made = [await createVerification(app, key), await createVerification(app, key)]
    await erase(app, key, made[0]!.id)
    appendFileSync(logOf(app.dir), `${'a'.repeat(64)} 17726`)
    appendFileSync(logOf(app.dir), `\n${'b'.repeat(40)}`)
    await erase(app, key, made[1]!.id)
    const { subjects } = readErasureLog(logOf(app.dir))!
    expect(made.every(({ id }) => subjects.has(app.deps.audit.subjectOf(id)))).toBe(true)
    expect([...subjects.keys()].some(subject => subject.startsWith('bbbb'))).toBe(false)
  })

  test('that is lost is written again from the audit chain, with everybody in it', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    const made = await Promise.all(Array.from({ length: 5 }, () => createVerification(app, key)))
    for (const { id } of made.slice(0, 3)) await erase(app, key, id)
    rmSync(logOf(app.dir))
    await erase(app, key, made[3]!.id)
    const log = readErasureLog(logOf(app.dir))!
    expect([log.since, log.subjects.size]).toEqual([0, 4])
  })

  test('has, after kills of the server, everybody who is gone from the database', async () => {
    const app = await startApp({ now: Date.now() })
    const { key } = await app.tenant()
    const made = await Promise.all(Array.from({ length: 300 }, () => createVerification(app, key)))
    const { audit } = app.deps
    await app.stop()
    const waiting = made.map(({ id }) => id)
    const acknowledged = new Set<string>()
    for (let kill = 0; kill < 5; kill++) {
      const server = await serve(app.dir)
      let isKilled = false
      const erasing = Array.from({ length: 6 }, async () => {
        while (!isKilled) {
          const id = waiting.pop()!
          const answer = await call(server.url, 'DELETE', `/v1/verifications/${id}`, { key }).catch(() => undefined)
          if (answer?.status === 200) acknowledged.add(id)
        }
      })
      const before = acknowledged.size
      await until(async () => acknowledged.size > before + kill * 4)
      server.process.kill('SIGKILL')
      isKilled = true
      await server.process.exited
      await Promise.all(erasing)
    }
    const { subjects } = readErasureLog(logOf(app.dir))!
    const left = new Set(rowsOf<{ id: string }>(app.dir, 'SELECT id FROM verification_sessions').map(({ id }) => id))
    const isThere = (id: string) => left.has(id)
    const gone = made.filter(({ id }) => !isThere(id))
    expect(gone.length).toBeGreaterThan(5)
    expect(gone.filter(({ id }) => !subjects.has(audit.subjectOf(id)))).toEqual([])
    expect([...acknowledged].filter(isThere)).toEqual([])
  })
})
