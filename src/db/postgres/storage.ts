// Many nodes, read committed: a race is decided by one statement or under one row's lock. A write is a transaction of its own.
// Writes that name a lane (the creations of a tenant) share one while they wait for each other; when one of them fails, the group
// is rolled back and each runs alone. A write that lost a deadlock or its connection runs again, unless its COMMIT was under way.
import type { Db, Engine, Write } from '../engine.ts'
import { beginGroup, endGroup } from '../group.ts'
import type { Connect } from './connect.ts'
import { KeysReplaced } from './key-epoch.ts'
import { createReaders, createWriters, drizzleOver } from './pool.ts'
import { asUnavailable, isConnectionLost, isOutOfRoom, sqlStateOf } from './session.ts'
import { openSnapshot } from './snapshot.ts'
import { CommitUnknown, mayRepeat, type Transactions, transactionsOn } from './transaction.ts'

const GROUP_MAX = 64
const TRIES_MAX = 3

type Job = { run(tx: Db): unknown; value?: unknown; resolve(value: unknown): void; reject(error: unknown): void }
type Lane = { waiting: Job[]; isBusy: boolean }

export type Storage = Pick<
  Engine,
  'db' | 'warm' | 'write' | 'writeSettings' | 'settingsVersion' | 'openSnapshot' | 'forgetDeleted' | 'waitingWrites' | 'close'
> & {
  busyWriters(): number
  /** The last write failed because the server's disk, memory or connections are used up. */
  lacksRoom(): boolean
}

type Options = {
  /** The epoch of the keys that this process seals with. */
  epoch: number
  /** Nothing is written any more until this process has the new keys. */
  onKeysReplaced?(): void
  onGroup?(size: number, ms: number): void
  onStatement?(ms: number): void
  /** `reason`: the server's code, or that the connection was lost. */
  onRetry?(reason: string): void
  /** A row was not of the query that it was returned to. */
  onForeignRow?(): void
}

export function createStorage(
  connect: Connect,
  { epoch, onKeysReplaced, onGroup, onStatement, onRetry, onForeignRow }: Options,
): Storage {
  const { reads, writes } = connect.counts
  const readers = createReaders(onClose => connect.open('read', onClose), reads, onStatement, onForeignRow)
  const writers = createWriters(onClose => connect.open('write', onClose), writes, onStatement, onForeignRow)
  const transactions: Transactions[] = []
  const lanes = new Map<string, Lane>()
  const underWay = new Set<Promise<void>>()
  let isClosed = false
  let lacksRoom = false

  const inTransaction = async <Result>(work: (tx: Db) => Promise<Result>): Promise<Result> => {
    for (let tries = 1; ; tries++) {
      try {
        const result = await writers.alone((session, place) => {
          transactions[place] ??= transactionsOn(session)
          return transactions[place].run(connect.begin, epoch, work)
        })
        lacksRoom = false
        return result
      } catch (error) {
        if (isOutOfRoom(error)) lacksRoom = true
        if (error instanceof KeysReplaced) onKeysReplaced?.()
        if (tries === TRIES_MAX || !mayRepeat(error)) throw asUnavailable(error)
        onRetry?.(isConnectionLost(error) ? 'connection_lost' : sqlStateOf(error)!)
      }
    }
  }

  /** Closing waits for writes that began before it. */
  const followed = <Result>(start: () => Promise<Result>): Promise<Result> => {
    if (isClosed) return Promise.reject(new Error('the storage is closed'))
    const work = start()
    const ended = work.then(
      () => void underWay.delete(ended),
      () => void underWay.delete(ended),
    )
    underWay.add(ended)
    return work
  }

  const write: Write = (work, lane) => followed(() => writeNow(work, lane))

  const writeNow: Write = async (work, lane) => {
    if (lane === undefined) return await inTransaction(async tx => await work(tx))
    return await new Promise((resolve, reject) => {
      const { waiting } = laneOf(lane)
      waiting.push({ run: work, resolve: value => resolve(value as Awaited<ReturnType<typeof work>>), reject })
      void drive(lane)
    })
  }

  const laneOf = (name: string): Lane => {
    const lane = lanes.get(name) ?? { waiting: [], isBusy: false }
    lanes.set(name, lane)
    return lane
  }

  async function drive(name: string): Promise<void> {
    const lane = laneOf(name)
    if (lane.isBusy) return
    lane.isBusy = true
    while (lane.waiting.length) {
      // Requests of this turn of the event loop go together.
      await new Promise<void>(resolve => setImmediate(resolve))
      await commitGroup(lane.waiting.splice(0, GROUP_MAX))
    }
    lanes.delete(name)
  }

  async function commitGroup(group: Job[]): Promise<void> {
    const startedAt = performance.now()
    try {
      await inTransaction(tx => runTogether(tx, group))
      onGroup?.(group.length, performance.now() - startedAt)
      for (const job of group) job.resolve(job.value)
    } catch (error) {
      if (group.length > 1 && !(error instanceof CommitUnknown))
        return void (await Promise.all(group.map(job => commitGroup([job]))))
      for (const job of group) job.reject(error)
    }
  }

  async function runTogether(tx: Db, group: Job[]): Promise<void> {
    const shared = beginGroup(tx)
    try {
      for (const job of group) job.value = await job.run(tx)
      for (const finish of shared.atEnd) await finish()
    } finally {
      endGroup(tx)
    }
  }

  let asked: Promise<number> | undefined
  const readVersion = async () => {
    const [row] = await readers.rows<{ version: number }>('SELECT version FROM settings_version', [])
    return row!.version
  }

  const db = drizzleOver(readers)
  return {
    db,
    warm: () => db,
    write,
    writeSettings: work =>
      followed(() =>
        inTransaction(async tx => {
          // Holds the row to the commit: one at a time, on all nodes.
          await raiseVersion(tx)
          return await work(tx)
        }),
      ),
    settingsVersion() {
      // One question for all requests of a turn of the event loop, asked after they began.
      asked ??= new Promise<void>(resolve => setImmediate(resolve)).then(() => {
        asked = undefined
        return readVersion()
      })
      return asked
    },
    waitingWrites: () => writers.waiting(),
    busyWriters: () => writers.busy(),
    lacksRoom: () => lacksRoom,
    openSnapshot: first => openSnapshot(connect, first),
    forgetDeleted: async () => true,
    async close() {
      isClosed = true
      await Promise.all(underWay)
      await writers.close()
      await readers.close()
    },
  }
}

const raiseVersion = (tx: Db): Promise<unknown> =>
  (tx as unknown as { $client: { rows(text: string, params: unknown[]): Promise<unknown> } }).$client.rows(
    'UPDATE settings_version SET version = version + 1',
    [],
  )
