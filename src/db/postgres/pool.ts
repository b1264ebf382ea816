import { drizzle } from 'drizzle-orm/pg-proxy'
import type { Db } from '../engine.ts'
import { asUnavailable, createSession, isPassing, type Open, type Session } from './session.ts'

/** Runs the hot statements of statements.ts. */
export type Runner = {
  rows<Found>(text: string, params: unknown[]): Promise<Found[]>
  /** A statement whose answer nobody needs; undefined where it must be awaited like any other. */
  send?(text: string, params: unknown[]): void
  /** Counts the connections of a transaction's session. */
  generation?(): number
}

/** drizzle's own PostgreSQL dialect, over one of our sessions. */
export function drizzleOver(runner: Runner & Pick<Session, 'values'>): Db {
  const db = drizzle(async (text, params, method) => ({
    rows: method === 'all' ? await runner.values(text, params) : await runner.rows(text, params),
  }))
  return Object.assign(db, { $client: runner }) as unknown as Db
}

const TRIES_MAX = 3

/** Connections for single statements: each takes the least busy one, and is repeated when that was lost. */
export function createReaders(
  open: Open,
  count: number,
  onStatement?: (ms: number) => void,
  onForeignRow?: () => void,
): Runner & Pick<Session, 'values' | 'close'> {
  const sessions = Array.from({ length: count }, () => createSession(open, { onStatement, onForeignRow }))
  const leastBusy = () => sessions.reduce((best, each) => (each.underWay() < best.underWay() ? each : best))
  const repeated = async <Result>(read: (session: Session) => Promise<Result>): Promise<Result> => {
    for (let tries = 1; ; tries++) {
      try {
        return await read(leastBusy())
      } catch (error) {
        if (tries === TRIES_MAX || !isPassing(error)) throw asUnavailable(error)
      }
    }
  }
  return {
    rows: <Found>(text: string, params: unknown[]) => repeated(session => session.rows<Found>(text, params)),
    values: (text, params) => repeated(session => session.values(text, params)),
    async close() {
      await Promise.all(sessions.map(session => session.close()))
    },
  }
}

type Writers = {
  /** Runs `work` with a connection that nobody else uses meanwhile. */
  alone<Result>(work: (session: Session, place: number) => Promise<Result>): Promise<Result>
  waiting(): number
  busy(): number
  close(): Promise<void>
}

export function createWriters(open: Open, count: number, onStatement?: (ms: number) => void, onForeignRow?: () => void): Writers {
  const sessions = Array.from({ length: count }, () => createSession(open, { onStatement, onForeignRow }))
  const free = sessions.map((_, place) => place)
  const waiting: ((place: number) => void)[] = []
  return {
    async alone(work) {
      const place = free.pop() ?? (await new Promise<number>(resolve => waiting.push(resolve)))
      try {
        return await work(sessions[place]!, place)
      } finally {
        const next = waiting.shift()
        if (next) next(place)
        else free.push(place)
      }
    },
    waiting: () => waiting.length,
    busy: () => sessions.length - free.length,
    async close() {
      await Promise.all(sessions.map(session => session.close()))
    },
  }
}
