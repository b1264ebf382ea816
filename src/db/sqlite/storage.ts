// One file, one writer. Every write goes through write() or writeSettings(): waiting writes are grouped into
// one durable commit (synchronous=FULL), and a caller's promise settles only after that commit. A group runs
// without savepoints; when one write fails, the group is rolled back and repeated with a savepoint for each,
// so that only the failing one is lost. That is why a write may run twice.
import { Database } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Db, Engine, Write } from '../engine.ts'
import { beginGroup, endGroup } from '../group.ts'
import * as schema from '../schema.ts'
import { createTopics, TOPICS } from '../topics.ts'
import { versionOf } from './version.ts'

export { versionOf }

const GROUP_MAX = 256
/** How late a write of another process is noticed by subscribers. */
const LOOK_EVERY_MS = 200
export const BUSY_TIMEOUT_MS = 5000
const LOG_ATTEMPTS_MAX = 50
const LOG_RETRY_MS = 10

export function openWriter(file: string): Database {
  const sqlite = new Database(file, { create: true, strict: true })
  switchToLog(sqlite)
  for (const pragma of [
    `busy_timeout = ${BUSY_TIMEOUT_MS}`,
    'synchronous = FULL',
    'fullfsync = ON',
    'foreign_keys = ON',
    'secure_delete = ON',
    'trusted_schema = OFF',
    'cell_size_check = ON',
    'journal_size_limit = 67108864',
    'wal_autocheckpoint = 1000',
    // 32 MiB: ids are random, so the index over them is touched everywhere; the default of 2 MiB would read a page for each creation.
    'cache_size = -32768',
  ]) {
    sqlite.run(`PRAGMA ${pragma}`)
  }
  return sqlite
}

/** Needs the file for itself for a moment, and SQLite's own patience does not cover all of it: two first starts may meet here. */
function switchToLog(sqlite: Database): void {
  sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS / LOG_ATTEMPTS_MAX}`)
  for (let attempt = 1; ; attempt++) {
    try {
      sqlite.run('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || attempt === LOG_ATTEMPTS_MAX) throw error
      Bun.sleepSync(LOG_RETRY_MS)
    }
  }
}

export function openReader(file: string): Database {
  const sqlite = new Database(file, { readonly: true, strict: true })
  for (const pragma of [`busy_timeout = ${BUSY_TIMEOUT_MS}`, 'trusted_schema = OFF', 'cell_size_check = ON'])
    sqlite.run(`PRAGMA ${pragma}`)
  return sqlite
}

export const drizzleOn = (sqlite: Database): Db => drizzle(sqlite, { schema })

type Job = {
  run(tx: Db): unknown
  changesSettings: boolean
  value?: unknown
  error?: unknown
  failed?: true
  settle(job: Job): void
}

/** The engine without `checks`, which need the directory and not only its database. */
export type Storage = Omit<Engine, 'checks'>

/** `makeRoom` is asked when the disk is full; true means that trying once more may help. */
export function createStorage(
  writer: Database,
  reader: Database,
  onGroup: (size: number, ms: number) => void = () => {},
  makeRoom: () => boolean = () => false,
): Storage {
  const tx = drizzleOn(writer)
  const statement = (sql: string) => writer.prepare(sql)
  const begin = statement('BEGIN IMMEDIATE')
  const commit = statement('COMMIT')
  const save = statement('SAVEPOINT job')
  const release = statement('RELEASE job')
  const undo = statement('ROLLBACK TO job')
  const waiting: Job[] = []
  const between: (() => void)[] = []
  const beginReading = statement('BEGIN')
  let isReading = false
  let flushing: Promise<void> | undefined
  let closed: { isLogEmpty: boolean } | undefined

  const wake = () => {
    flushing ??= new Promise<void>(resolve => setImmediate(resolve)).then(flush).finally(() => {
      flushing = undefined
      if (waiting.length || between.length) wake()
    })
  }

  /** Never throws: every write calls it. After a failed read SQLite may have ended the transaction. */
  const endReading = () => {
    if (!isReading) return
    isReading = false
    try {
      if (writer.inTransaction) commit.run()
    } catch {
      if (writer.inTransaction) writer.run('ROLLBACK')
    }
  }

  const dataVersion = writer.query<{ data_version: number }, []>('PRAGMA data_version')
  let foreignChanges = 0
  let settingsVersion = 0

  // data_version ignores this connection's own commits, and no other one of this process writes.
  const noteForeignChanges = () => {
    const before = foreignChanges
    // Raised first: when the read fails, remembered settings must be dropped too.
    settingsVersion++
    foreignChanges = dataVersion.get()?.data_version ?? 0
    if (foreignChanges === before) settingsVersion--
  }

  const topics = createTopics()
  let polling: ReturnType<typeof setInterval> | undefined
  let changesPublished = 0

  /** SQLite does not say what another process changed, so every topic is notified. */
  const pollOtherProcesses = () => {
    try {
      warm()
    } catch {
      // A read that failed is repeated by the next poll.
      return
    }
    if (foreignChanges === changesPublished) return
    changesPublished = foreignChanges
    for (const topic of TOPICS) topics.publish(topic, '')
  }

  const warm = (): Db => {
    if (!isReading && !writer.inTransaction) {
      beginReading.run()
      isReading = true
      setImmediate(endReading)
      noteForeignChanges()
    }
    return tx
  }

  async function flush(): Promise<void> {
    while (waiting.length || between.length) {
      endReading()
      for (const act of between.splice(0)) act()
      const group = waiting.splice(0, GROUP_MAX)
      if (group.length) await commitGroup(group)
      // Lets responses go out and new requests in.
      await new Promise<void>(resolve => setImmediate(resolve))
    }
  }

  async function commitGroup(group: Job[]): Promise<void> {
    const startedAt = performance.now()
    let isCommitted = false
    const raisesVersion = group.some(job => job.changesSettings)
    // Raised before and after: a read in between may see rows that are rolled back.
    if (raisesVersion) settingsVersion++
    try {
      await commitWithRetry(group)
      isCommitted = true
    } catch (error) {
      for (const job of group) {
        job.failed = true
        job.error = error
      }
    }
    if (raisesVersion) settingsVersion++
    if (isCommitted) onGroup(group.length, performance.now() - startedAt)
    for (const job of group) job.settle(job)
  }

  async function commitWithRetry(group: Job[], isRepeated = false): Promise<void> {
    try {
      if (isRepeated || !(await commitTogether(group))) await commitApart(group)
    } catch (error) {
      if (writer.inTransaction) writer.run('ROLLBACK')
      if (isRepeated || !isFull(error) || !makeRoom()) throw error
      await commitWithRetry(group, true)
    }
  }

  /** Whoever looked something up a moment ago is done with it. */
  const beginWriting = () => {
    endReading()
    begin.run()
    noteForeignChanges()
  }

  /** False, and nothing done, when one of them failed. */
  async function commitTogether(group: Job[]): Promise<boolean> {
    beginWriting()
    const shared = beginGroup(tx)
    try {
      for (const job of group) job.value = await job.run(tx)
      for (const finish of shared.atEnd) await finish()
    } catch (error) {
      // A full disk makes SQLite itself roll back: then there is no use in trying again.
      if (!writer.inTransaction || isFull(error)) throw error
      writer.run('ROLLBACK')
      return false
    } finally {
      endGroup(tx)
    }
    commit.run()
    return true
  }

  async function commitApart(group: Job[]): Promise<void> {
    beginWriting()
    for (const job of group) await runJob(job)
    commit.run()
  }

  async function runJob(job: Job): Promise<void> {
    delete job.failed
    save.run()
    try {
      job.value = await job.run(tx)
    } catch (error) {
      // A full disk makes SQLite itself roll back everything: then nobody's work is there, and all must hear of it.
      if (!writer.inTransaction || isFull(error)) throw error
      undo.run()
      job.failed = true
      job.error = error
    }
    release.run()
  }

  const writerOf =
    (changesSettings: boolean): Write =>
    <T>(work: (tx: Db) => T | Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(new Error('the storage is closed'))
        waiting.push({ run: work, changesSettings, settle: job => (job.failed ? reject(job.error) : resolve(job.value as T)) })
        wake()
      })

  const emptyLog = (isRepeated = false): boolean => {
    try {
      const [state] = writer.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').all()
      return state?.busy === 0
    } catch (error) {
      if (!isFull(error)) throw error
      return !isRepeated && makeRoom() && emptyLog(true)
    }
  }

  const forgetDeleted = () =>
    new Promise<boolean>((resolve, reject) => {
      // Closing has emptied it, or could not.
      if (closed) return resolve(closed.isLogEmpty)
      between.push(() => {
        try {
          // A reader may hold the log: be brief, the event loop stands still meanwhile.
          writer.run('PRAGMA busy_timeout = 100')
          resolve(emptyLog())
        } catch (error) {
          reject(error)
        } finally {
          writer.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
        }
      })
      wake()
    })

  return {
    db: drizzleOn(reader),
    warm,
    async settingsVersion() {
      warm()
      return settingsVersion
    },
    write: writerOf(false),
    writeSettings: writerOf(true),
    waitingWrites: () => waiting.length,
    async openSnapshot() {
      const aside = openReader(reader.filename)
      aside.run('BEGIN')
      // The first read fixes the moment, not BEGIN.
      aside.query('SELECT 1 FROM sqlite_schema').get()
      const close = async () => {
        // A read that failed leaves its snapshot, and statements that are not collected yet would keep it beyond the close.
        if (aside.inTransaction) aside.run('ROLLBACK')
        aside.close()
      }
      return { db: drizzleOn(aside), close }
    },
    forgetDeleted,
    publish: topics.publish,
    subscribe(topic, listener) {
      if (!polling) {
        warm()
        changesPublished = foreignChanges
        // Unreferenced: a start that fails after it must still end the process.
        polling = setInterval(pollOtherProcesses, LOOK_EVERY_MS).unref()
      }
      return topics.subscribe(topic, listener)
    },
    whenLeader: job => job,
    describe: () => ({ name: 'SQLite', version: versionOf(writer) }),
    async close() {
      clearInterval(polling)
      while (flushing) await flushing
      endReading()
      reader.close()
      closed = { isLogEmpty: emptyLog() }
      writer.close()
    },
  }
}

const isFull = (error: unknown): boolean =>
  [error, (error as Error).cause].some(each => (each as { code?: unknown } | undefined)?.code === 'SQLITE_FULL')
