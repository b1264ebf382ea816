// The suite runs on SQLite and on PostgreSQL. A test that only one of them can pass says so, with the reason.
import { describe, test } from 'bun:test'
import { isOnPostgres } from './database.ts'

type Declare = (title: string, body: () => unknown) => void
type Each = (cases: readonly unknown[]) => (title: string, body: (...values: never[]) => unknown) => void
type Only = Declare & { each: Each; describe: (title: string, body: () => void) => void }

/** Declares tests that run on SQLite alone; the other run prints their titles with this reason. */
export const sqliteOnly = (reason: string): Only => only(!isOnPostgres, 'SQLite', reason)

/** Declares tests that run on PostgreSQL alone. */
export const postgresOnly = (reason: string): Only => only(isOnPostgres, 'PostgreSQL', reason)

function only(runs: boolean, engine: string, reason: string): Only {
  if (runs) return Object.assign(test, { describe }) as unknown as Only
  const leave = (title: string) => {
    process.stderr.write(`${engine} only: ${title} (${reason})\n`)
    test.skip(title, () => {})
  }
  return Object.assign(leave, { each: () => leave, describe: leave })
}
