// Scheduled backups: when they are made, how many are kept, and what is logged when one fails.
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startThread } from '../../src/base/threads.ts'
import { watchSteps } from '../../src/base/time.ts'
import { type BackupFile, listBackups } from '../../src/db/backup-list.ts'
import { holdFile } from '../../src/db/sqlite/locks.ts'
import { isDue, surplusBackups } from '../../src/upkeep/backup-files.ts'
import { noticeClockStep } from '../../src/upkeep/clock.ts'
import { createBackups } from '../../src/upkeep/schedule.ts'
import { readErasureLog } from '../../src/verifications/erasure/erasures.ts'
import { call, createVerification, NOON, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { serve, stopServing, vidimusJson } from '../helpers/cli.ts'
import { smallDisk, unmountAll } from '../helpers/crash/small-disk.ts'
import { invariantsOf, modeOf, namesIn, one, SOUND } from '../helpers/directories.ts'
import { keeping } from '../helpers/kept-threads.ts'

afterAll(stopServing)
afterAll(unmountAll)

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const folderOf = (app: TestApp) => join(app.dir, 'backups')
const backupsOf = (app: TestApp, kind: string) => namesIn(folderOf(app)).filter(name => name.startsWith(kind))
const linesOf = (app: TestApp, event: string) => app.logs.map(line => JSON.parse(line)).filter(line => line.event === event)

/** For tests that make dozens of backups. */
const keptWorker = keeping(() => startThread('upkeep/backup-worker'))

async function metric(app: TestApp, name: string): Promise<string | undefined> {
  const { text } = await app.call('GET', '/metrics')
  return text.split('\n').find(line => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
}

describe('a scheduled backup', () => {
  test('is made as soon as there is none, is sound, for its owner only, and is the day’s too', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    await createVerification(app, key)
    const backups = createBackups(app.deps)
    expect(await metric(app, 'vidimus_backup_age_seconds')).toBe('vidimus_backup_age_seconds +Inf')
    await backups.runWhenDue()
    expect(namesIn(folderOf(app))).toEqual(['daily-20260304.db', 'erasures.log', 'hourly-20260304T120000Z.db'])
    expect(modeOf(folderOf(app))).toBe('700')
    for (const name of namesIn(folderOf(app))) expect([name, modeOf(join(folderOf(app), name))]).toEqual([name, '600'])
    for (const kind of ['hourly', 'daily']) {
      const file = join(folderOf(app), backupsOf(app, kind)[0]!)
      expect(invariantsOf(file)).toEqual(SOUND)
      expect(one(file, 'SELECT count(*) FROM verification_sessions')).toBe(1)
    }
    expect(linesOf(app, 'backup.made')).toMatchObject([{ level: 'info', count: 1 }])
    app.clock.advance(90_000)
    expect(await metric(app, 'vidimus_backup_age_seconds')).toBe('vidimus_backup_age_seconds 90')
    expect(await metric(app, 'vidimus_backups_total')).toBe('vidimus_backups_total{outcome="good"} 1')
  })

  test('comes once an hour; the newest 24 are kept, and one of each day', async () => {
    const app = await startApp()
    const backups = createBackups(app.deps, keptWorker)
    for (let hour = 0; hour < 26; hour++) {
      await backups.runWhenDue()
      app.clock.advance(59 * MINUTE_MS)
      await backups.runWhenDue()
      app.clock.advance(MINUTE_MS)
    }
    expect(linesOf(app, 'backup.failed')).toEqual([])
    expect(backupsOf(app, 'hourly')).toHaveLength(24)
    expect(backupsOf(app, 'hourly').at(-1)).toBe('hourly-20260305T130000Z.db')
    expect(backupsOf(app, 'hourly')[0]).toBe('hourly-20260304T140000Z.db')
    expect(backupsOf(app, 'daily')).toEqual(['daily-20260304.db', 'daily-20260305.db'])
    // The day's first one is kept as its own file, though the hour's name of it is gone.
    expect(invariantsOf(join(folderOf(app), 'daily-20260304.db'))).toEqual(SOUND)
  })

  test('is made by a thread of its own: requests are answered meanwhile', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    await Promise.all(Array.from({ length: 1500 }, () => createVerification(app, key, { purpose: 'x'.repeat(200) })))
    let isDone = false
    let answered = 0
    const backup = createBackups(app.deps)
      .runWhenDue()
      .then(() => {
        isDone = true
      })
    while (!isDone) if ((await app.call('GET', '/healthz')).status === 200) answered++
    await backup
    expect(answered).toBeGreaterThan(5)
    expect(backupsOf(app, 'hourly')).toHaveLength(1)
  })

  test('that fails is logged and counted, keeps what is there, and is tried again ten minutes later', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    await createVerification(app, key)
    const backups = createBackups(app.deps)
    await backups.runWhenDue()
    app.clock.advance(20 * DAY_MS)
    const sqlite = new Database(join(app.dir, 'vidimus.db'))
    sqlite.run('PRAGMA busy_timeout = 5000')
    const actor = one(join(app.dir, 'vidimus.db'), 'SELECT actor FROM audit_records WHERE seq = 2') as string
    sqlite.run("UPDATE audit_records SET actor = 'somebody else' WHERE seq = 2")
    await backups.runWhenDue()
    expect(linesOf(app, 'backup.failed')).toMatchObject([{ level: 'error', failure: expect.stringContaining('record 2') }])
    // However old the good one is: it is all there is.
    const kept = ['daily-20260304.db', 'erasures.log', 'hourly-20260304T120000Z.db']
    expect(namesIn(folderOf(app))).toEqual([...kept, 'last-failure.json'])
    expect(await metric(app, 'vidimus_backup_age_seconds')).toBe(`vidimus_backup_age_seconds ${(20 * DAY_MS) / 1000}`)
    expect((await app.call('GET', '/metrics')).text).toContain('vidimus_backups_total{outcome="failed"} 1')
    sqlite.run('UPDATE audit_records SET actor = ? WHERE seq = 2', [actor])
    sqlite.close()
    app.clock.advance(9 * MINUTE_MS)
    await backups.runWhenDue()
    expect(backupsOf(app, 'hourly')).toHaveLength(1)
    app.clock.advance(MINUTE_MS)
    await backups.runWhenDue()
    expect(backupsOf(app, 'hourly')).toEqual(['hourly-20260324T121000Z.db'])
    expect(namesIn(folderOf(app))).not.toContain('last-failure.json')
  })

  const disk = smallDisk(200 * 1024 * 1024)
  test.skipIf(!disk)(
    `${disk ? '' : 'SKIPPED, because nobody may mount a small disk here: '}that would fill the disk is not made, and that is a failure`,
    async () => {
      const app = await startApp({ dir: disk!.dir })
      await createBackups(app.deps).runWhenDue()
      expect(linesOf(app, 'backup.failed')).toMatchObject([{ failure: 'too little room on the disk' }])
      expect(backupsOf(app, 'hourly')).toEqual([])
      await app.stop()
    },
  )

  test('whose thread is lost, or fails, has failed', async () => {
    for (const code of ['process.exit(3)', 'self.onmessage = () => { throw new Error("out of order") }']) {
      const app = await startApp()
      const url = URL.createObjectURL(new Blob([code], { type: 'application/javascript' }))
      await createBackups(app.deps, () => new Worker(url)).runWhenDue()
      expect(linesOf(app, 'backup.failed')).toMatchObject([{ failure: expect.stringContaining('thread') }])
      expect(backupsOf(app, 'hourly')).toEqual([])
    }
  })

  test('that was cut off by a stop leaves no backup, and what is left of it goes with the next', async () => {
    const app = await startApp()
    const hired = Promise.withResolvers<void>()
    const backups = createBackups(app.deps, () => {
      hired.resolve()
      return startThread('upkeep/backup-worker')
    })
    const running = backups.runWhenDue()
    await hired.promise
    await backups.stop()
    await running
    expect([...linesOf(app, 'backup.failed'), ...linesOf(app, 'backup.made')]).toEqual([])
    const early = createBackups(app.deps, () => {
      throw new Error('it was stopped before it began')
    })
    const soon = early.runWhenDue()
    await early.stop()
    await soon
    mkdirSync(folderOf(app), { recursive: true })
    for (const name of ['hourly-20260304T110000Z.db.0a1b2c3d.part', 'before-0001_x.db.0a1b2c3d.part', 'mine.part'])
      writeFileSync(join(folderOf(app), name), 'half')
    app.clock.advance(HOUR_MS)
    await createBackups(app.deps).runWhenDue()
    expect(namesIn(folderOf(app)).filter(name => name.endsWith('.part'))).toEqual(['mine.part'])
    expect(backupsOf(app, 'hourly')).toContain('hourly-20260304T130000Z.db')
  })

  test('leaves the part of a copy that another process writes alone, and removes it when nobody holds it any more', async () => {
    const app = await startApp()
    mkdirSync(folderOf(app))
    const part = 'before-0001_x.db.0a1b2c3d.part'
    const release = holdFile(join(folderOf(app), `${part}-lock`))!
    writeFileSync(join(folderOf(app), part), 'half')
    const parts = () => namesIn(folderOf(app)).filter(name => name.includes('.part'))
    await createBackups(app.deps).runWhenDue()
    expect(parts()).toEqual([part, `${part}-lock`])
    release()
    app.clock.advance(HOUR_MS)
    await createBackups(app.deps).runWhenDue()
    expect(parts()).toEqual([])
  })

  test('is not made when they are off, and copies from upgrades and restores go after 14 days all the same', async () => {
    const app = await startApp({ config: { backups: undefined } })
    mkdirSync(folderOf(app))
    const write = (name: string, ageMs: number) => {
      const path = join(folderOf(app), name)
      writeFileSync(path, 'a copy')
      utimesSync(path, (NOON - ageMs) / 1000, (NOON - ageMs) / 1000)
    }
    write('before-0001_old.db', 15 * DAY_MS)
    write('before-0002_new.db', 13 * DAY_MS)
    write('replaced-20260201T000000Z.db', 0)
    write('replaced-20260201T000000Z.db-wal', 0)
    write('replaced-20260303T000000Z.db', 0)
    write('mine.db', 400 * DAY_MS)
    await createBackups(app.deps).runWhenDue()
    expect(namesIn(folderOf(app))).toEqual(['before-0002_new.db', 'mine.db', 'replaced-20260303T000000Z.db'])
    expect(await metric(app, 'vidimus_backup_age_seconds')).toBeUndefined()
  })

  test('belongs to the server: its figures are on /metrics', async () => {
    const server = await serve(join(temporaryDir(), 'data'))
    const { text } = await call(server.url, 'GET', '/metrics')
    expect(text).toContain('vidimus_backup_age_seconds +Inf')
    expect(text).toMatch(/^vidimus_disk_free_bytes \d+$/m)
  })
})

describe('kept backups', () => {
  const plan = { hourly: 24, daily: 14 }

  test('over 60 days: never more than 24 and 14, none older than 14 days, and always the newest', () => {
    let files: BackupFile[] = []
    for (let at = NOON; at < NOON + 60 * DAY_MS; at += HOUR_MS) {
      if (!isDue(files, plan, at)) throw new Error('it is due every hour')
      files.push({ name: `hourly-${at}`, kind: 'hourly', at })
      const day = Math.floor(at / DAY_MS)
      if (!files.some(({ name }) => name === `daily-${day}`))
        files.push({ name: `daily-${day}`, kind: 'daily', at: day * DAY_MS })
      files.sort((a, b) => a.at - b.at)
      const surplus = new Set(surplusBackups(files, plan, at))
      files = files.filter(file => !surplus.has(file))
      expect(files.filter(({ kind }) => kind === 'hourly').length).toBeLessThanOrEqual(24)
      expect(files.filter(({ kind }) => kind === 'daily').length).toBeLessThanOrEqual(14)
      expect(Math.min(...files.map(file => file.at))).toBeGreaterThanOrEqual(at - 14 * DAY_MS)
      expect(files.at(-1)?.at).toBe(at)
    }
    expect(files).toHaveLength(24 + 14)
  })

  test('after months without a service, what is too old goes', () => {
    const files: BackupFile[] = [
      { name: 'daily-old', kind: 'daily', at: NOON - 90 * DAY_MS },
      { name: 'hourly-old', kind: 'hourly', at: NOON - 90 * DAY_MS },
      { name: 'hourly-new', kind: 'hourly', at: NOON },
    ]
    expect(surplusBackups(files, plan, NOON).map(({ name }) => name)).toEqual(['daily-old', 'hourly-old'])
  })

  test('a name from the future, of a clock that was wrong, holds up no backup', () => {
    const files: BackupFile[] = [{ name: 'hourly-future', kind: 'hourly', at: NOON + DAY_MS }]
    expect(isDue(files, plan, NOON)).toBe(true)
  })

  test('only days, or only hours, when told so', () => {
    const days = { hourly: 0, daily: 3 }
    expect(isDue([], days, NOON)).toBe(true)
    expect(isDue([{ name: 'daily-20260304.db', kind: 'daily', at: NOON }], days, NOON + 5 * HOUR_MS)).toBe(false)
    expect(isDue([{ name: 'daily-20260304.db', kind: 'daily', at: NOON }], days, NOON + 12 * HOUR_MS)).toBe(true)
    expect(surplusBackups([{ name: 'daily', kind: 'daily', at: NOON }], { hourly: 5, daily: 0 }, NOON)).toHaveLength(1)
  })
})

test('the log of erasures keeps what the oldest backup could bring back, and forgets the rest', async () => {
  const app = await startApp({ config: { backups: { hourly: 0, daily: 4 } } })
  const { key } = await app.tenant()
  const backups = createBackups(app.deps, keptWorker)
  const erase = async () => {
    const { id } = await createVerification(app, key)
    expect((await app.call('DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)
    return app.deps.audit.subjectOf(id)
  }
  const subjects: string[] = []
  for (let day = 0; day < 10; day++) {
    await backups.runWhenDue()
    subjects.push(await erase())
    app.clock.advance(DAY_MS)
  }
  const log = readErasureLog(join(folderOf(app), 'erasures.log'))!
  const [oldest] = listBackups(folderOf(app))
  expect(backupsOf(app, 'daily')).toHaveLength(4)
  expect(log.since).toBeLessThanOrEqual(oldest!.at)
  expect(log.since).toBeGreaterThan(oldest!.at - 2 * DAY_MS)
  expect(subjects.slice(-4).every(subject => log.subjects.has(subject))).toBe(true)
  expect(subjects.slice(0, 4).some(subject => log.subjects.has(subject))).toBe(false)
  await app.stop()
  // From the log alone: the chain is replaced.
  writeFileSync(join(app.dir, 'vidimus.db'), 'gone')
  const file = join(folderOf(app), oldest!.name)
  expect(await vidimusJson<object>(app.dir, 'restore', file)).toMatchObject({ erased_again: 0, verifications: 0 })
})

describe('a clock that is set', () => {
  test('by more than ten minutes, forward or back, is logged and audited', async () => {
    const app = await startApp()
    for (const ms of [9 * MINUTE_MS, -9 * MINUTE_MS]) {
      app.clock.advance(ms)
      await noticeClockStep(app.deps)
    }
    expect(linesOf(app, 'clock.stepped')).toEqual([])
    for (const ms of [11 * MINUTE_MS, -11 * MINUTE_MS]) {
      app.clock.advance(ms)
      await noticeClockStep(app.deps)
    }
    const steps = linesOf(app, 'clock.stepped')
    expect(steps.map(({ level, ms }) => [level, Math.round(ms / MINUTE_MS)])).toEqual([
      ['warn', 11],
      ['warn', -11],
    ])
    expect(one(join(app.dir, 'vidimus.db'), "SELECT count(*) FROM audit_records WHERE action = 'clock.stepped'")).toBe(2)
  })

  test('is told from time that passes', () => {
    const clock = { wall: 1_000_000, monotonic: 50 }
    const step = watchSteps(
      () => clock.wall,
      () => clock.monotonic,
    )
    const pass = (wallMs: number, monotonicMs: number) => {
      clock.wall += wallMs
      clock.monotonic += monotonicMs
      return step()
    }
    expect(pass(HOUR_MS, HOUR_MS)).toBe(0)
    expect(pass(HOUR_MS, 1000)).toBe(HOUR_MS - 1000)
    expect(pass(-HOUR_MS, 1000)).toBe(-HOUR_MS - 1000)
    expect(pass(1000, 1000)).toBe(0)
  })
})
