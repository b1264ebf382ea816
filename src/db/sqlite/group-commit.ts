// Waiting writes are grouped into one durable commit (synchronous=FULL), and a caller's promise settles only after that commit. A
// group runs without savepoints; when one write fails, the group is rolled back and repeated with a savepoint for each, so that
// only the failing one is lost. That is why a write may run twice.
import type { Database } from 'bun:sqlite'
import type { Db, Write } from '../engine.ts'
import { beginGroup, endGroup } from '../group.ts'
import { isFull } from './connections.ts'
import type { WriterReads } from './writer-reads.ts'

const GROUP_MAX = 256

type Job = {
  run(tx: Db): unknown
  changesSettings: boolean
  value?: unknown
  error?: unknown
  failed?: true
  settle(job: Job): void
}

export type GroupCommit = {
  write: Write
  /** Raises the version of settings too. */
  writeSettings: Write
  waitingWrites(): number
  /** Runs `act`, which must not throw, outside any transaction. */
  between(act: () => void): void
  /** Undefined when nothing waits. */
  flushing(): Promise<void> | undefined
  /** Writes are refused from here on. */
  close(): void
}

export type StorageTools = {
  onGroup(size: number, ms: number): void
  /** Asked when the disk is full; true means that trying once more may help. */
  makeRoom(): boolean
  /** Throws when the files of the database may not be written any more. */
  assertInPlace(): void
}

type Tools = StorageTools & { reads: WriterReads }

export function createGroupCommit(writer: Database, tx: Db, { reads, onGroup, makeRoom, assertInPlace }: Tools): GroupCommit {
  const begin = writer.prepare('BEGIN IMMEDIATE')
  const commit = writer.prepare('COMMIT')
  const save = writer.prepare('SAVEPOINT job')
  const release = writer.prepare('RELEASE job')
  const undo = writer.prepare('ROLLBACK TO job')
  const waiting: Job[] = []
  const between: (() => void)[] = []
  let flushing: Promise<void> | undefined
  let isClosed = false

  const writerOf =
    (changesSettings: boolean): Write =>
    <T>(work: (tx: Db) => T | Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        if (isClosed) return reject(new Error('the storage is closed'))
        waiting.push({ run: work, changesSettings, settle: job => (job.failed ? reject(job.error) : resolve(job.value as T)) })
        wake()
      })

  const wake = () => {
    flushing ??= new Promise<void>(resolve => setImmediate(resolve)).then(flush).finally(() => {
      flushing = undefined
      if (waiting.length || between.length) wake()
    })
  }

  async function flush(): Promise<void> {
    while (waiting.length || between.length) {
      reads.end()
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
    if (raisesVersion) reads.raiseSettingsVersion()
    try {
      await commitWithRetry(group)
      isCommitted = true
    } catch (error) {
      for (const job of group) {
        job.failed = true
        job.error = error
      }
    }
    if (raisesVersion) reads.raiseSettingsVersion()
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

  const beginWriting = () => {
    assertInPlace()
    reads.end()
    begin.run()
    reads.noteForeignChanges()
  }

  /** False, and nothing done, when one of them failed. */
  async function commitTogether(group: Job[]): Promise<boolean> {
    beginWriting()
    const shared = beginGroup(tx)
    try {
      for (const job of group) job.value = await job.run(tx)
      for (const finish of shared.atEnd) await finish()
    } catch (error) {
      // A full disk makes SQLite itself roll back; another try would fail too.
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
      // A full disk makes SQLite itself roll back the whole group, so all of it has failed.
      if (!writer.inTransaction || isFull(error)) throw error
      undo.run()
      job.failed = true
      job.error = error
    }
    release.run()
  }

  return {
    write: writerOf(false),
    writeSettings: writerOf(true),
    waitingWrites: () => waiting.length,
    between(act) {
      between.push(act)
      wake()
    },
    flushing: () => flushing,
    close() {
      isClosed = true
    },
  }
}
