// Reads through the writer's connection, whose pages stay in memory: another connection reads them anew after each commit. All
// reads of one turn of the event loop are one transaction; a write ends it. Its beginning is where changes by other processes
// show. While a write is under way, the reader serves: nobody sees what may be rolled back.
import type { Database } from 'bun:sqlite'
import type { Db } from '../engine.ts'

export type WriterReads = {
  warm(): Db
  /** Ends the transaction of reads. Never throws: every write calls it. */
  end(): void
  /** Called at the beginning of each transaction. */
  noteForeignChanges(): void
  /** Differs after another process wrote. */
  foreignChanges(): number
  settingsVersion(): number
  raiseSettingsVersion(): void
}

export function createWriterReads(writer: Database, db: Db, reader: Db): WriterReads {
  const begin = writer.prepare('BEGIN')
  const commit = writer.prepare('COMMIT')
  const dataVersion = writer.query<{ data_version: number }, []>('PRAGMA data_version')
  let isReading = false
  let foreignChanges = 0
  let settingsVersion = 0

  const end = () => {
    if (!isReading) return
    isReading = false
    try {
      // SQLite may have ended the transaction after a failed read.
      if (writer.inTransaction) commit.run()
    } catch {
      if (writer.inTransaction) writer.run('ROLLBACK')
    }
  }

  // data_version ignores this connection's own commits, and no other one of this process writes.
  const noteForeignChanges = () => {
    const before = foreignChanges
    // Raised first: when the read fails, remembered settings must be dropped too.
    settingsVersion++
    foreignChanges = dataVersion.get()?.data_version ?? 0
    if (foreignChanges === before) settingsVersion--
  }

  return {
    warm() {
      if (isReading) return db
      if (writer.inTransaction) return reader
      begin.run()
      isReading = true
      setImmediate(end)
      noteForeignChanges()
      return db
    },
    end,
    noteForeignChanges,
    foreignChanges: () => foreignChanges,
    settingsVersion: () => settingsVersion,
    raiseSettingsVersion() {
      settingsVersion++
    },
  }
}

/** How late a write of another process is noticed by subscribers. */
const LOOK_EVERY_MS = 200

/** Calls `notify` after another process wrote, from `start` on. */
export function pollOtherProcesses({ warm, foreignChanges }: WriterReads, notify: () => void): { start(): void; stop(): void } {
  let timer: ReturnType<typeof setInterval> | undefined
  let notifiedOf = 0
  const look = () => {
    try {
      warm()
    } catch {
      // A read that failed is repeated by the next poll.
      return
    }
    if (foreignChanges() === notifiedOf) return
    notifiedOf = foreignChanges()
    notify()
  }
  return {
    start() {
      if (timer) return
      warm()
      notifiedOf = foreignChanges()
      // Unreferenced: a start that fails after it must still end the process.
      timer = setInterval(look, LOOK_EVERY_MS).unref()
    },
    stop: () => clearInterval(timer),
  }
}
