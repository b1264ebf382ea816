// One file, one writer. All writes of the service go through write(): what waits is grouped into one durable commit (synchronous=FULL), with
// a savepoint for each caller, and a caller's promise settles only after that commit. Inside write() only store calls are awaited, never
// network, timers or slow crypto, because the whole group waits; write() is never nested.
import { Database } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import * as schema from './schema.ts'

// On bun:sqlite an async function given to `.transaction` commits at its first await. So nobody gets to call it.
export type Db = Omit<BunSQLiteDatabase<typeof schema>, 'transaction'>

export type Write = <T>(work: (tx: Db) => T | Promise<T>) => Promise<T>

export type Storage = {
  /** Read-only. */
  db: Db
  write: Write
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

type Job = { run(tx: Db): unknown; value?: unknown; error?: unknown; failed?: true; settle(job: Job): void }

export function createStorage(writer: Database, reader: Database, onGroup: (size: number) => void = () => {}): Storage {
  const tx = drizzleOn(writer)
  const statement = (sql: string) => writer.prepare(sql)
  const begin = statement('BEGIN IMMEDIATE')
  const commit = statement('COMMIT')
  const save = statement('SAVEPOINT job')
  const release = statement('RELEASE job')
  const undo = statement('ROLLBACK TO job')
  const waiting: Job[] = []
  const between: (() => void)[] = []
  let flushing: Promise<void> | undefined
  let closed: { isLogEmpty: boolean } | undefined

  const wake = () => {
    flushing ??= new Promise<void>(resolve => setImmediate(resolve)).then(flush).finally(() => {
      flushing = undefined
      if (waiting.length || between.length) wake()
    })
  }

  async function flush(): Promise<void> {
    while (waiting.length || between.length) {
      for (const act of between.splice(0)) act()
      const group = waiting.splice(0, GROUP_MAX)
      if (group.length) await commitGroup(group)
      // Lets the answers of this group leave, and the next requests come in.
      await new Promise<void>(resolve => setImmediate(resolve))
    }
  }

  async function commitGroup(group: Job[]): Promise<void> {
    try {
      begin.run()
      for (const job of group) await runJob(job)
      commit.run()
      onGroup(group.length)
    } catch (error) {
      if (writer.inTransaction) writer.run('ROLLBACK')
      for (const job of group) {
        job.failed = true
        job.error = error
      }
    }
    for (const job of group) job.settle(job)
  }

  async function runJob(job: Job): Promise<void> {
    save.run()
    try {
      job.value = await job.run(tx)
    } catch (error) {
      // A full disk makes SQLite itself roll back everything: then nobody's work is there, and all must hear of it.
      if (!writer.inTransaction) throw error
      undo.run()
      job.failed = true
      job.error = error
    }
    release.run()
  }

  const write: Write = <T>(work: (tx: Db) => T | Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      if (closed) return reject(new Error('the storage is closed'))
      waiting.push({ run: work, settle: job => (job.failed ? reject(job.error) : resolve(job.value as T)) })
      wake()
    })

  const emptyLog = (): boolean => {
    const [state] = writer.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').all()
    return state?.busy === 0
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
    write,
    checkpoint,
    async close() {
      while (flushing) await flushing
      reader.close()
      closed = { isLogEmpty: emptyLog() }
      writer.close()
    },
  }
}

/** Keeps one prepared statement per connection: drizzle's builder costs several times the query itself. */
export function prepared<Statement>(build: (db: Db) => Statement): (db: Db) => Statement {
  const statements = new WeakMap<Db, Statement>()
  return db => {
    const known = statements.get(db)
    if (known) return known
    const made = build(db)
    statements.set(db, made)
    return made
  }
}
