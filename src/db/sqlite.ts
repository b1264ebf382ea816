// One file, one writer. All writes of the service go through write(): what waits is grouped into one durable commit (synchronous=FULL), and a
// caller's promise settles only after that commit. A group runs without savepoints; when one of its callers fails, all of it is undone and run
// again with a savepoint for each, so that only the failing one is lost. So what write() is given may run twice. Inside write() only store calls are awaited, never
// network, timers or slow crypto, because the whole group waits; write() is never nested.
import { Database } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import * as schema from './schema.ts'

// On bun:sqlite an async function given to `.transaction` commits at its first await. So nobody gets to call it.
export type Db = Omit<BunSQLiteDatabase<typeof schema>, 'transaction'>

export type Write = <T>(work: (tx: Db) => T | Promise<T>) => Promise<T>

export type Storage = {
  /** Read-only, and only what is committed. */
  db: Db
  /**
   * The writer's connection, for what every request looks up: its pages stay in memory, while each commit empties those of `db`. It may show a
   * write a moment before it is durable, so nothing that is handed out is read here. All that is read in one turn of the event loop is read as
   * of one moment: locking the file for each look-up costs more than the look-up. So ask for it each time.
   */
  warm(): Db
  /** A number that changes when another process has written: what was remembered of the database before is to be read again. */
  foreignChanges(): number
  /** A number that changes with every write but those of `writeSession`: until then keys, tenants and certificates are what they were. */
  settingsVersion(): number
  write: Write
  /** For what happens all day: as `write`, and promises to change nothing but sessions and what belongs to them. */
  writeSession: Write
  /** How many writes wait for their commit. */
  waitingWrites(): number
  /** A reader of one's own, for what must be read as of one moment. Until it is closed, erased text may stay in the log. */
  openAside(): { db: Db; close(): void }
  /** Copies the log into the database file and empties it: afterwards deleted text is in neither. False when a reader held it up. */
  checkpoint(): Promise<boolean>
  close(): Promise<void>
}

const GROUP_MAX = 256
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
  isOfSession: boolean
  value?: unknown
  error?: unknown
  failed?: true
  settle(job: Job): void
}

/** What the writes of one commit share. Gone with it, done or undone. */
export type Group = {
  /** By whoever keeps something here. */
  kept: Map<object, unknown>
  /** Runs after the last of them, before the commit. */
  atEnd: (() => Promise<void>)[]
}

const groups = new WeakMap<Db, Group>()

/** None when writes are made one by one, because a group failed: each may then be undone by itself. */
export const groupOf = (tx: Db): Group | undefined => groups.get(tx)

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

  /** Must not throw: every write begins with it. A page that could not be read has ended it already, or cannot be ended in order. */
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

  // As the writer sees it: its own commits do not count, and nobody else in this process writes.
  const noteForeignChanges = () => {
    const before = foreignChanges
    // What cannot be read may have changed.
    settingsVersion++
    foreignChanges = dataVersion.get()?.data_version ?? 0
    if (foreignChanges === before) settingsVersion--
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
      // Lets the answers of this group leave, and the next requests come in.
      await new Promise<void>(resolve => setImmediate(resolve))
    }
  }

  async function commitGroup(group: Job[]): Promise<void> {
    const startedAt = performance.now()
    const changesSettings = group.some(job => !job.isOfSession)
    // Before and after: what is read meanwhile may yet be undone.
    if (changesSettings) settingsVersion++
    try {
      await commitOnce(group)
      onGroup(group.length, performance.now() - startedAt)
    } catch (error) {
      for (const job of group) {
        job.failed = true
        job.error = error
      }
    }
    if (changesSettings) settingsVersion++
    for (const job of group) job.settle(job)
  }

  async function commitOnce(group: Job[], isRepeated = false): Promise<void> {
    try {
      if (isRepeated || !(await commitTogether(group))) await commitApart(group)
    } catch (error) {
      if (writer.inTransaction) writer.run('ROLLBACK')
      if (isRepeated || !isFull(error) || !makeRoom()) throw error
      await commitOnce(group, true)
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
    const shared: Group = { kept: new Map(), atEnd: [] }
    groups.set(tx, shared)
    try {
      for (const job of group) job.value = await job.run(tx)
      for (const finish of shared.atEnd) await finish()
    } catch (error) {
      // A full disk makes SQLite itself roll back: then there is no use in trying again.
      if (!writer.inTransaction || isFull(error)) throw error
      writer.run('ROLLBACK')
      return false
    } finally {
      groups.delete(tx)
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
    (isOfSession: boolean): Write =>
    <T>(work: (tx: Db) => T | Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(new Error('the storage is closed'))
        waiting.push({ run: work, isOfSession, settle: job => (job.failed ? reject(job.error) : resolve(job.value as T)) })
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

  const checkpoint = () =>
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
    foreignChanges() {
      warm()
      return foreignChanges
    },
    settingsVersion() {
      warm()
      return settingsVersion
    },
    write: writerOf(false),
    writeSession: writerOf(true),
    waitingWrites: () => waiting.length,
    openAside() {
      const aside = openReader(reader.filename)
      const close = () => {
        // A read that failed leaves its snapshot, and statements that are not collected yet would keep it beyond the close.
        if (aside.inTransaction) aside.run('ROLLBACK')
        aside.close()
      }
      return { db: drizzleOn(aside), close }
    },
    checkpoint,
    async close() {
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
