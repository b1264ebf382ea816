// One file, one writer. group-commit.ts commits, writer-reads.ts reads through the writer and notices
// other processes, forget-deleted.ts empties the log.
import type { Database } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Db, Engine } from '../engine.ts'
import { createTopics, TOPICS } from '../topics.ts'
import { openReader } from './connections.ts'
import { createLogEmptier } from './forget-deleted.ts'
import { createGroupCommit, type StorageTools } from './group-commit.ts'
import { versionOf } from './version.ts'
import { createWriterReads, pollOtherProcesses } from './writer-reads.ts'

export { BUSY_TIMEOUT_MS, openReader, openWriter } from './connections.ts'

export const drizzleOn = (sqlite: Database): Db => drizzle(sqlite)

/** The engine without what needs more than its database. */
export type Storage = Omit<Engine, 'leases' | 'isReady' | 'checks'>

const NO_TOOLS: StorageTools = { onGroup() {}, makeRoom: () => false, assertInPlace() {} }

export function createStorage(writer: Database, reader: Database, given: Partial<StorageTools> = {}): Storage {
  const tools = { ...NO_TOOLS, ...given }
  const tx = drizzleOn(writer)
  const db = drizzleOn(reader)
  const reads = createWriterReads(writer, tx, db)
  const commits = createGroupCommit(writer, tx, { ...tools, reads })
  const log = createLogEmptier(writer, commits, tools.makeRoom)
  const topics = createTopics()
  // SQLite does not say what another process changed, so every topic is notified.
  const polling = pollOtherProcesses(reads, () => {
    for (const topic of TOPICS) topics.publish(topic, '')
  })

  return {
    db,
    warm: reads.warm,
    async settingsVersion() {
      reads.warm()
      return reads.settingsVersion()
    },
    write: commits.write,
    writeSettings: commits.writeSettings,
    waitingWrites: commits.waitingWrites,
    async openSnapshot(first) {
      await first?.()
      return openSnapshot(reader.filename)
    },
    forgetDeleted: log.forgetDeleted,
    publish: topics.publish,
    subscribe(topic, listener) {
      polling.start()
      return topics.subscribe(topic, listener)
    },
    whenLeader: job => job,
    describe: () => ({ name: 'SQLite', version: versionOf(writer) }),
    async close() {
      polling.stop()
      while (commits.flushing()) await commits.flushing()
      commits.close()
      reads.end()
      reader.close()
      log.close()
      writer.close()
    },
  }
}

function openSnapshot(file: string): Awaited<ReturnType<Engine['openSnapshot']>> {
  const aside = openReader(file)
  aside.run('BEGIN')
  // The first read fixes the moment, not BEGIN.
  aside.query('SELECT 1 FROM sqlite_schema').get()
  return {
    db: drizzleOn(aside),
    async close() {
      // A read that failed leaves its snapshot, and statements that are not collected yet would keep it beyond the close.
      if (aside.inTransaction) aside.run('ROLLBACK')
      aside.close()
    },
  }
}
