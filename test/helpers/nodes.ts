// Two real services on one PostgreSQL database. Without VIDIMUS_DATABASE_URL these tests are skipped, and say so.
import { test } from 'bun:test'
import type { Db } from '../../src/db/engine.ts'
import { createConnect } from '../../src/db/postgres/connect.ts'
import { drizzleOver, type Runner } from '../../src/db/postgres/pool.ts'
import { createSession } from '../../src/db/postgres/session.ts'
import { type Answer, startApp, type TestApp } from './app.ts'
import { isOnPostgres } from './database.ts'

if (!isOnPostgres) {
  process.stderr.write(
    'SKIPPED: tests of several nodes need PostgreSQL; set VIDIMUS_DATABASE_URL to a server where databases may be made\n',
  )
}

export const nodesTest: typeof test = isOnPostgres ? test : (test.skip as typeof test)

type Options = NonNullable<Parameters<typeof startApp>[0]>

export async function startNodes(options: Options = {}): Promise<[TestApp, TestApp]> {
  const one = await startApp(options)
  const other = await startApp({ ...options, dir: undefined, beside: one })
  return [one, other]
}

/** One service for its callers, as behind a proxy: every request goes to the other node than the one before. */
export function spreadOver(nodes: [TestApp, TestApp]): TestApp {
  let requests = 0
  const next = () => nodes[requests++ % 2]!
  return {
    ...nodes[0],
    get url() {
      return next().url
    },
    call: (...request) => next().call(...request),
  }
}

/** Runs a statement on the database of a node. */
export const rowsIn = async <Row = Record<string, unknown>>(app: TestApp, text: string, params: unknown[] = []): Promise<Row[]> =>
  await app.deps.write(tx => (tx as unknown as { $client: Runner }).$client.rows<Row>(text, params))

/** A connection of its own, whose statements commit by themselves. */
export async function connectTo(app: TestApp): Promise<Db> {
  const connect = createConnect(app.deps.config.database!, 'test')
  return drizzleOver(createSession(() => connect.open('light')))
}

/** How often each status was answered. */
export function tally(answers: Answer[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
