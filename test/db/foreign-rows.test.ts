// The rows of one statement, returned to another: nobody sees them.
import { expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { eq } from 'drizzle-orm'
import type { Db } from '../../src/db/engine.ts'
import { type Connect, createConnect } from '../../src/db/postgres/connect.ts'
import { ForeignRow, numbered } from '../../src/db/postgres/numbered.ts'
import type { Runner } from '../../src/db/postgres/pool.ts'
import { createStorage } from '../../src/db/postgres/storage.ts'
import { tenants } from '../../src/db/schema/tenants.ts'
import { startApp, type TestApp, until } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { postgresOnly } from '../helpers/engines.ts'

const onPostgres = postgresOnly('SQLite has no connections')

const ENDS = [
  ['select "id" from "tenants" where "id" = $1', 'select "id" , $2::int4 AS of_statement from "tenants" where "id" = $1', 1],
  ['SELECT 1', 'SELECT 1, $1::int4 AS of_statement ', 0],
  ['SELECT (SELECT 1 FROM x) AS one WHERE $1', 'SELECT (SELECT 1 FROM x) AS one , $2::int4 AS of_statement WHERE $1', 1],
  [`select 'from', "from" from x`, `select 'from', "from" , $1::int4 AS of_statement from x`, 0],
  ['with y as (select 1 from x) select * from y', 'with y as (select 1 from x) select * , $1::int4 AS of_statement from y', 0],
  ['insert into x select 1 from y returning id', 'insert into x select 1 from y returning id, $1::int4 AS of_statement ', 0],
] as const

test.each(ENDS)('the statement %s gets its number as last column', (text, expected, params) => {
  expect(numbered(text, params)).toBe(expected)
})

test.each([
  'insert into x select 1 from y',
  'update x set a = (select 1 from y)',
  'delete from x where a in (select 1 from y)',
  'GRANT SELECT ON x TO y',
  'SELECT 1; SELECT 2',
  'SELECT 1 FROM x UNION ALL SELECT 1 FROM y',
])('the statement %s gets no number', text => {
  expect(numbered(text, 0)).toBeUndefined()
})

type Client = ReturnType<Connect['open']>
type Asked = [text: string, params: unknown[]]

/** Connections that answer with the rows of the statement before, while `lie` is called. */
function lying(connect: Connect): { connect: Connect; lie(): void } {
  let isLying = false
  const over = (client: Client): Client => {
    let before: Asked | undefined
    const reserve = async () => {
      const reserved = await client.reserve()
      const unsafe = (...asked: Asked): SQL.Query<unknown> => {
        const [text, params] = isLying && before ? before : asked
        if (/^\s*select/i.test(text)) before = asked
        return reserved.unsafe(text, params)
      }
      return { unsafe }
    }
    return { reserve, close: (options: object) => client.close(options) } as unknown as Client
  }
  return {
    connect: { ...connect, open: (use, onClose) => over(connect.open(use, onClose)) },
    lie() {
      isLying = !isLying
    },
  }
}

function storageOf(app: TestApp) {
  let logged = 0
  const { connect, lie } = lying(createConnect({ ...app.deps.config.database!, connections: 6 }, 'test'))
  const storage = createStorage(connect, { epoch: app.deps.sealer.epoch, onForeignRow: () => void logged++ })
  return { storage, lie, logged: () => logged }
}

const backendOf = async (db: Db): Promise<number> =>
  (await (db as unknown as { $client: Runner }).$client.rows<{ pid: number }>('SELECT pg_backend_pid() AS pid', []))[0]!.pid

const read = (db: Db, id: string) => db.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, id))

onPostgres('a read that got the rows of another is refused and logged, and its connection is dropped', async () => {
  const app = await startApp()
  const [one, other] = [await app.tenant(), await app.tenant()]
  const { storage, lie, logged } = storageOf(app)
  const before = await backendOf(storage.db)
  expect(await read(storage.db, one.id)).toEqual([{ id: one.id }])
  lie()
  expect(await read(storage.db, other.id).catch(error => error.cause ?? error)).toBeInstanceOf(ForeignRow)
  lie()
  expect(logged()).toBe(1)
  expect(await read(storage.db, other.id)).toEqual([{ id: other.id }])
  expect(await backendOf(storage.db)).not.toBe(before)
  await storage.close()
})

onPostgres('a transaction that got the rows of another never commits, and its connection is dropped', async () => {
  const app = await startApp()
  const { id } = await app.tenant()
  const { storage, lie, logged } = storageOf(app)
  let used = 0
  const writing = storage.write(async tx => {
    used = await backendOf(tx)
    await tx.update(tenants).set({ name: 'changed' }).where(eq(tenants.id, id))
    lie()
    await read(tx, id).catch(() => 'ignored')
    lie()
  })
  expect(await writing.catch(error => error.cause ?? error)).toBeInstanceOf(ForeignRow)
  expect(logged()).toBe(1)
  await until(async () => rowsOf(app, 'SELECT 1 FROM pg_stat_activity WHERE pid = ?', used).length === 0)
  expect(rowsOf(app, 'SELECT name FROM tenants WHERE id = ?', id)).not.toContainEqual({ name: 'changed' })
  await storage.close()
})
