// Two acts on PostgreSQL, the second one in the middle of the first.
import type { Db } from '../../src/db/engine.ts'
import { drizzleOver } from '../../src/db/postgres/pool.ts'
import type { Deps } from '../../src/deps.ts'
import { type TestApp, until } from './app.ts'
import { rowsOf } from './database.ts'

type Runner = Parameters<typeof drizzleOver>[0]
type Act<Result> = (deps: Deps) => Promise<Result>

/**
 * The first act stops after the first answer inside its transaction, usually a read, until the second act has ended or
 * waits for a lock. What the first one read must still hold when it writes.
 */
export async function inTheMiddle<One, Two>({ deps, dir }: TestApp, first: Act<One>, second: Act<Two>) {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const pause = () => {
    reached.resolve()
    return released.promise
  }
  const write = ((work, lane) => deps.write(tx => work(pausedAfterOne(tx, pause)), lane)) as Deps['write']
  const writeSettings = (work => deps.writeSettings(tx => work(pausedAfterOne(tx, pause)))) as Deps['writeSettings']
  const one = settled(first({ ...deps, write, writeSettings }))
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
