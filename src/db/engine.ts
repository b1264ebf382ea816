import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { EngineCheck } from './check.ts'

/** Without `transaction`: on bun:sqlite an async one commits at its first await. */
export type Db = Omit<BunSQLiteDatabase, 'transaction'>

/**
 * Runs `work` in a transaction and settles after its durable commit. `work` may run twice. Inside it only
 * store calls are awaited, never network, timers or slow crypto; calls are never nested. Writes that wait and
 * name the same lane may share a transaction on PostgreSQL; on SQLite all do.
 */
export type Write = <T>(work: (tx: Db) => T | Promise<T>, lane?: string) => Promise<T>

/**
 * `session`: one whose state changed, by its notice name. `owed`: a delivery is due. `cancel`: sessions that were
 * erased. `cancelled`: a holder that has no attempt for them under way any more.
 */
export type Topic = 'session' | 'owed' | 'cancel' | 'cancelled'

/**
 * Work that runs every `everyMs`; the signal tells it to end, because the service stops. `isOnTheHour`: it runs when the
 * service starts and at every full hour of the clock, which is looked at every `everyMs`.
 */
export type Job<Given = void> = {
  name: string
  everyMs: number
  isOnTheHour?: true
  run(given: Given, signal?: AbortSignal): Promise<void>
}

/**
 * What a process works on carries its name until its work ends. Others take it over when it is lost (leases.ts): the process
 * ended, or they have not heard of it for some seconds.
 */
export type Leases = {
  /** Names this process as a holder; another one after each start. */
  holder: string
  /** All that hold something now, this process among them. */
  holders(): Promise<string[]>
  /**
   * Asked before something is read, and called before it is used: until when the others wait for this process, by its machine's
   * clock. Undefined when they did not wait all the time since: what was read may be erased.
   */
  begin(): () => number | undefined
  /** False when the others may take what this process holds for lost, or will soon. */
  isHeld(): boolean
}

/** Audit entries of acts that commit side by side: they are linked to the chain afterwards (audit/link.ts). */
export type LooseEntries = {
  /** An id, before the entry is there. */
  nextId(tx: Db): Promise<number>
  /** Called before details are removed: not while `openSnapshot` reads. */
  beginErasure(tx: Db): Promise<void>
}

/** The database of an installation, and the channel between its processes. */
export type Engine = {
  /** Committed rows, read-only. */
  db: Db
  /**
   * The same rows for less work. SQLite: the writer's connection, whose pages stay in memory, unless a write is under
   * way; PostgreSQL: `db`. All reads of one turn of the event loop see one moment, so ask for it each time. Not for
   * long lists, whose pages would take the place of others.
   */
  warm(): Db
  /** Writes of sessions, devices, deliveries: races are decided by their own statements. */
  write: Write
  /** Writes of keys, tenants, templates, trust, signing, people: one at a time; each raises `settingsVersion`. */
  writeSettings: Write
  /** Changes with every `writeSettings`, in every process. */
  settingsVersion(): Promise<number>
  /**
   * A connection that reads as of one moment, after `first` has ended: on PostgreSQL nothing is erased in between. On
   * SQLite, erased text may stay in the log until it is closed.
   */
  openSnapshot(first?: () => Promise<void>): Promise<{ db: Db; close(): Promise<void> }>
  /** Called after the commit, never inside a write. */
  publish(topic: Topic, payload: string): void
  /** An empty payload: another process wrote, and subscribers must look for themselves. */
  subscribe(topic: Topic, hear: (payload: string) => void): () => void
  leases: Leases
  /** True when this process may serve: what it holds is held, and the database was writable just now. */
  isReady(): Promise<boolean>
  /** SQLite: the job itself; PostgreSQL: one process at a time runs it. */
  whenLeader<Given>(job: Job<Given>): Job<Given>
  /** PostgreSQL only: on SQLite the one writer links each audit record at once, and its place on the chain is its id. */
  looseEntries?: LooseEntries
  /** SQLite: copies the log into the file and empties it; false when a reader prevents that. */
  forgetDeleted(): Promise<boolean>
  /** Number of writes that wait for their commit. */
  waitingWrites(): number
  /** Checks of doctor that only this kind of database needs: those of these names. */
  checks(names: readonly string[]): Promise<EngineCheck[]>
  describe(): { name: string; version: string }
  close(): Promise<void>
}

/** Room on the disk of the data directory. */
export type Space = {
  /** True while the remaining room is only for erasing, revoking and finishing: nothing new is created. */
  isShort(): boolean
  /** Called when the disk is full; true when trying again may help. */
  makeRoom(): boolean
  free(): number
  /** True while the reserve exists. */
  hasBallast(): boolean
  /** Called periodically: warns, and creates the reserve again when there is room. */
  look(): Promise<void>
}
