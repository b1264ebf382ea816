// The two connections to the database file: one that writes, and read-only ones. A thread that needs no more than a
// connection loads this file alone.
import { Database } from 'bun:sqlite'

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
    // 8 MiB: the indexes over random ids are touched everywhere, but a commit that has split pages looks at every page that is kept.
    'cache_size = -8192',
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
  for (const pragma of [
    `busy_timeout = ${BUSY_TIMEOUT_MS}`,
    'trusted_schema = OFF',
    'cell_size_check = ON',
    // 8 MiB: the upper pages of a million sessions' indexes. With the default of 2 MiB a read of one session fetches two pages more.
    'cache_size = -8192',
  ])
    sqlite.run(`PRAGMA ${pragma}`)
  return sqlite
}

/** SQLite has rolled back the whole transaction then. */
export const isFull = (error: unknown): boolean =>
  [error, (error as Error).cause].some(each => (each as { code?: unknown } | undefined)?.code === 'SQLITE_FULL')
