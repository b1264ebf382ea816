// Two acts on PostgreSQL, the second one in the middle of the first.
import type { Db } from '../../src/db/engine.ts'
import { drizzleOver } from '../../src/db/postgres/pool.ts'
import type { Deps } from '../../src/deps.ts'
import { type TestApp, until } from './app.ts'
import { rowsOf } from './database.ts'

type Runner = Parameters<typeof drizzleOver>[0]
type Act<Result> = (deps: Deps) => Promise<Result>

/** `before`: the first act stops before such a statement instead. */
type Options = { before?: RegExp }

/** The first statement that changes rows: everything was read before it. */
export const FIRST_CHANGE = /^(insert|update|delete)/i

/**
 * The first act stops after the first answer inside its transaction, usually a read, until the second act has ended or
 * waits for a lock. What the first one read must still hold when it writes. Writes of settings come one at a time anyway;
 * here they do not, so that only the act's own lock decides.
 */
export async function inTheMiddle<One, Two>(
  { deps: real, dir }: TestApp,
  first: Act<One>,
  second: Act<Two>,
  { before }: Options = {},
) {
  const deps: Deps = { ...real, writeSettings: real.write }
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const pause = () => {
    reached.resolve()
    return released.promise
  }
  const paused = before ? (tx: Db) => pausedBefore(tx, before, pause) : (tx: Db) => pausedAfterOne(tx, pause)
  const write = ((work, lane) => deps.write(tx => work(paused(tx)), lane)) as Deps['write']
  const one = settled(first({ ...deps, write, writeSettings: write }))
  await Promise.race([reached.promise, one])
  let isOver = false
  const two = settled(second(deps)).finally(() => {
    isOver = true
  })
  await until(async () => isOver || rowsOf(dir, WAITING).length > 0)
  released.resolve()
  return await Promise.all([one, two])
}

const WAITING = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"

/** The value, or the code of the error. */
const settled = <Value>(promise: Promise<Value>): Promise<Value | string> =>
  promise.catch((error: Error & { code?: string }) => `refused: ${error.code ?? error.message}`)

function pausedAfterOne(tx: Db, pause: () => Promise<void>): Db {
  const runner = (tx as unknown as { $client: Runner }).$client
  let answers = 0
  const paused = async <Result>(answer: Promise<Result>): Promise<Result> => {
    const result = await answer
    if (answers++ === 0) await pause()
    return result
  }
  return drizzleOver({
    ...runner,
    rows: (text, params) => paused(runner.rows(text, params)),
    values: (text, params) => paused(runner.values(text, params)),
  })
}

function pausedBefore(tx: Db, statement: RegExp, pause: () => Promise<void>): Db {
  const runner = (tx as unknown as { $client: Runner }).$client
  let hasPaused = false
  const paused = async <Result>(text: string, start: () => Promise<Result>): Promise<Result> => {
    if (!hasPaused && statement.test(text)) {
      hasPaused = true
      await pause()
    }
    return await start()
  }
  return drizzleOver({
    ...runner,
    // Statements that return nothing wait here as well.
    send: undefined,
    rows: (text, params) => paused(text, () => runner.rows(text, params)),
    values: (text, params) => paused(text, () => runner.values(text, params)),
  })
}
