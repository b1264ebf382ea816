// The client of PostgreSQL must never give the rows of one query to another, and never leave a promise open.
import { expect } from 'bun:test'
import { loadConfig } from '../../src/config.ts'
import { type Connect, createConnect } from '../../src/db/postgres/connect.ts'
import { createSession, type Session } from '../../src/db/postgres/session.ts'
import { temporaryDir, until } from '../helpers/app.ts'
import { databaseOf, rowsOf } from '../helpers/database.ts'
import { postgresOnly } from '../helpers/engines.ts'
import { runTagged } from '../helpers/tagged-statements.ts'

const onPostgres = postgresOnly('it is about the client of PostgreSQL')

async function connectTo(dir: string): Promise<Connect> {
  return createConnect(loadConfig(await databaseOf(dir)).database!, 'test')
}

const sessionsOn = (connect: Connect, count: number): Session[] =>
  Array.from({ length: count }, () => createSession(() => connect.open('write')))

async function withSessions(count: number, act: (sessions: Session[], dir: string) => Promise<void>): Promise<void> {
  const dir = temporaryDir()
  const sessions = sessionsOn(await connectTo(dir), count)
  try {
    await act(sessions, dir)
  } finally {
    await Promise.all(sessions.map(session => session.close()))
  }
}

const tagOf = (rows: Record<string, unknown>[]) => rows.map(({ tag }) => tag)

// oven-sh/bun#33627: replies were counted in the order of the calls, but a statement that was prepared already was sent
// ahead of a new one that still waited.
onPostgres('a prepared statement among new ones gets its own row, and so do they', () =>
  withSessions(1, async ([session]) => {
    const known = 'SELECT $1::text AS tag'
    await session!.rows(known, ['first'])
    for (let i = 0; i < 200; i++) {
      const texts = [
        `SELECT $1::text AS tag, ${i} AS a`,
        `SELECT $1::text AS tag, ${i} AS b`,
        known,
        `SELECT $1::text AS tag, ${i} AS c`,
        known,
      ]
      const found: Promise<Record<string, unknown>[]>[] = []
      for (const [place, text] of texts.entries()) {
        found.push(session!.rows(text, [`${i}.${place}`]))
        await new Promise(resolve => setImmediate(resolve))
      }
      expect((await Promise.all(found)).map(tagOf)).toEqual(texts.map((_, place) => [`${i}.${place}`]))
    }
  }),
)

// oven-sh/bun#32772: one Sync too many after a statement without parameters; a third statement hung for ever.
onPostgres.each([
  ['and without', undefined],
  ['and with', ['c']],
])('a new statement with parameters, after one without %s parameters, gets its own row', async (_, params) => {
  await withSessions(1, async ([session]) => {
    for (let i = 0; i < 50; i++) {
      const found = await Promise.all([
        session!.rows(`SELECT 'a' AS tag`),
        session!.rows(`SELECT $1::text AS tag, ${i} AS n`, ['b']),
        session!.rows(params ? `SELECT $1::text AS tag, 1 AS x, ${i} AS n` : `SELECT 'c' AS tag`, params),
      ])
      expect(found.map(tagOf)).toEqual([['a'], ['b'], ['c']])
    }
  })
})

onPostgres('30,000 mixed statements on four connections each get their own rows', () =>
  withSessions(4, async sessions => {
    expect(await runTagged(sessions, 30_000, 512)).toEqual({ right: 30_000, foreign: 0, failed: 0 })
  }),
)

onPostgres('statements under way when their connections are killed all settle, none with a foreign row', () =>
  withSessions(4, async (sessions, dir) => {
    const all = { right: 64, foreign: 0, failed: 0 }
    for (let round = 0; round < 10; round++) {
      expect(await runTagged(sessions, 64, 64)).toEqual(all)
      const held = sessions.map(session => session.rows('SELECT pg_sleep(30)').catch(() => 'failed'))
      const behind = runTagged(sessions, 256, 256)
      await until(async () => rowsOf(dir, `SELECT 1 FROM ${ASLEEP}`).length === sessions.length)
      expect(rowsOf(dir, `SELECT pg_terminate_backend(pid) FROM ${ASLEEP}`)).toHaveLength(sessions.length)
      expect(await Promise.all(held)).toEqual(sessions.map(() => 'failed'))
      expect(await behind).toMatchObject({ foreign: 0 })
    }
    expect(await runTagged(sessions, 64, 64)).toEqual(all)
  }),
)

const ASLEEP = "pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
