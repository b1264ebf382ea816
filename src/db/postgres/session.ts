// One connection to PostgreSQL through Bun.SQL. Statements run in the order they are given, several may be under way
// at once, and each one settles: Bun has no time-out for a server that stays silent, so a watchdog drops the
// connection. A dropped or lost connection is opened again by the next statement, but never inside a transaction.
import type { ReservedSQL, SQL } from 'bun'
import { Unavailable } from '../../base/unavailable.ts'
import { ForeignRow, NUMBER, nextNumber, numbered } from './numbered.ts'

/** The server ends a statement after 5 seconds by itself; beyond that it is silent. */
const SILENCE_MAX_MS = 7000
const LOOK_EVERY_MS = 500

export type Row = Record<string, unknown>

export type Session = {
  /** Rows as objects, by the names of their columns. */
  rows<Found = Row>(text: string, params?: unknown[]): Promise<Found[]>
  /** Rows as arrays, for drizzle. */
  values(text: string, params: unknown[]): Promise<unknown[][]>
  /** Statements under way. */
  underWay(): number
  isOpen(): boolean
  /** Counts the connections of this session: a transaction that sees another number has lost its own. */
  generation(): number
  /** Fails what is under way; the next statement opens a new connection. */
  drop(): void
  close(): Promise<void>
}

/** Makes a client of one connection, which is opened by its first statement. */
export type Open = (onClose: () => void) => SQL

type SessionOptions = {
  silenceMaxMs?: number
  onStatement?(ms: number): void
  /** Rows of another statement came back. */
  onForeignRow?(): void
}

export function createSession(open: Open, options: SessionOptions = {}): Session {
  const { silenceMaxMs = SILENCE_MAX_MS, onStatement, onForeignRow } = options
  let client: SQL | undefined
  let connection: Promise<ReservedSQL> | undefined
  let connected: ReservedSQL | undefined
  let generation = 0
  let underWay = 0
  let progressAt = 0
  let isClosed = false

  let lookedAt = performance.now()
  const watch = setInterval(() => {
    const now = performance.now()
    // A process that was stopped for a while has not read what arrived meanwhile.
    if (now - lookedAt > 4 * LOOK_EVERY_MS) progressAt = now
    lookedAt = now
    if (underWay > 0 && now - progressAt > silenceMaxMs) drop()
  }, LOOK_EVERY_MS).unref()

  const drop = () => {
    const dropped = client
    client = connection = connected = undefined
    generation++
    // Rejects every statement under way at once.
    dropped?.close({ timeout: 0 }).catch(() => {})
  }

  const connect = async (): Promise<ReservedSQL> => {
    if (isClosed) throw new ConnectionLost('the connection is closed')
    const mine = generation
    // Known at once, so that no statement is given to a connection that ended while nobody used it.
    client ??= open(() => {
      if (mine === generation) drop()
    })
    connection ??= client.reserve()
    try {
      const reserved = await connection
      if (mine === generation) connected = reserved
      return reserved
    } catch (error) {
      if (mine === generation) drop()
      throw error
    }
  }

  const run = async <Result>(
    text: string,
    params: unknown[],
    start: (query: SQL.Query<unknown>) => Promise<unknown>,
  ): Promise<Result> => {
    const startedAt = performance.now()
    if (underWay++ === 0) progressAt = startedAt
    const mine = generation
    try {
      return (await start((connected ?? (await connect())).unsafe(text, params))) as Result
    } catch (error) {
      if (isConnectionLost(error) && mine === generation) drop()
      throw error
    } finally {
      underWay--
      progressAt = performance.now()
      onStatement?.(progressAt - startedAt)
    }
  }

  /** Answers on this connection may belong to other statements: those under way fail with it. */
  const refuse = (): never => {
    drop()
    onForeignRow?.()
    throw new ForeignRow()
  }

  return {
    async rows<Found>(text: string, params: unknown[] = []) {
      const asked = numbered(text, params.length)
      const number = asked && nextNumber()
      const rows = await run<Row[]>(asked ?? text, asked ? [...params, number] : params, query => query)
      for (const row of rows) {
        if (row[NUMBER] !== number) refuse()
        delete row[NUMBER]
        for (const name in row) if (typeof row[name] === 'bigint') row[name] = Number(row[name])
      }
      return rows as Found[]
    },
    async values(text, params) {
      const asked = numbered(text, params.length)
      const number = asked && nextNumber()
      const rows = await run<unknown[][]>(asked ?? text, asked ? [...params, number] : params, query => query.values())
      for (const row of rows) {
        if (asked && row.pop() !== number) refuse()
        for (let i = 0; i < row.length; i++) if (typeof row[i] === 'bigint') row[i] = Number(row[i])
      }
      return rows
    },
    underWay: () => underWay,
    isOpen: () => connected !== undefined,
    generation: () => generation,
    drop,
    async close() {
      isClosed = true
      clearInterval(watch)
      const closing = client
      client = connection = connected = undefined
      await closing?.close({ timeout: 0 })
    },
  }
}

/** The connection ended before the answer arrived. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

/** Deadlock, serialization failure, lock not available: nothing was changed. */
const REPEATABLE = ['40P01', '40001', '55P03']

/** True when another try may succeed: the server refused for the moment, or the connection was lost. */
export const isPassing = (error: unknown): boolean => isConnectionLost(error) || REPEATABLE.includes(sqlStateOf(error) ?? '')

/** The server's disk, memory or connections are used up (53): another try at once fails too. */
export const isOutOfRoom = (error: unknown): boolean => sqlStateOf(error)?.startsWith('53') === true

/** A statement ended by statement_timeout or by an administrator: another try at once would take and hold its locks as long. */
const CANCELLED = '57014'

/** Turns errors that pass into Unavailable, for callers that may try again later. */
export const asUnavailable = (error: unknown): unknown =>
  (isPassing(error) || isOutOfRoom(error) || sqlStateOf(error) === CANCELLED) && !(error instanceof Unavailable)
    ? new Unavailable('the database does not answer at the moment', { cause: error })
    : error

/** True for errors of the connection (08), of a server that shuts down (57P0) or ended an idle transaction (25P0), or of Bun. */
export function isConnectionLost(error: unknown): boolean {
  const root = rootOf(error)
  if (root instanceof ConnectionLost) return true
  const { code, errno } = root
  if (code === 'ERR_POSTGRES_SERVER_ERROR') return /^(57P0|08|25P0[34])/.test(errno ?? '')
  return code?.startsWith('ERR_POSTGRES_') === true && !code.includes('SYNTAX')
}

/** PostgreSQL's code of five characters, such as 23505; undefined for other errors. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, errno } = rootOf(error)
  return code === 'ERR_POSTGRES_SERVER_ERROR' ? errno : undefined
}

/** The name of the constraint that a row would have broken. */
export const constraintOf = (error: unknown): string | undefined => rootOf(error).constraint

type ServerError = { code?: string; errno?: string; constraint?: string }

/** drizzle wraps the error of its driver. */
function rootOf(error: unknown): ServerError {
  const { cause } = (error ?? {}) as { cause?: unknown }
  return (cause instanceof ConnectionLost || (cause as ServerError | undefined)?.code ? cause : (error ?? {})) as ServerError
}
