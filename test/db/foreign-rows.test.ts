// The rows of one query, returned to another: no read of a session shows them.
import type { Database } from 'bun:sqlite'
import { beforeAll, expect, test } from 'bun:test'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Db } from '../../src/db/engine.ts'
import { ForeignRow } from '../../src/db/foreign-row.ts'
import { drizzleOver } from '../../src/db/postgres/pool.ts'
import * as schema from '../../src/db/schema.ts'
import { sha256Hex } from '../../src/hash.ts'
import { closeSession, isRedeemable, keepResponseKey, markRedeemed } from '../../src/verifications/answer-store.ts'
import * as store from '../../src/verifications/store.ts'
import { answerAsIf } from '../helpers/answered.ts'
import { createVerification, startApp, type TestApp, until } from '../helpers/app.ts'
import { isOnPostgres, rowsOf } from '../helpers/database.ts'
import { postgresOnly } from '../helpers/engines.ts'

const onPostgres = postgresOnly('SQLite has no connections')

type Runner = Parameters<typeof drizzleOver>[0]
type Shop = { owner: store.Owner; key: string; id: string; openId: string }

const CODE = 'one-code'

let app: TestApp
let own: Shop
let other: Shop

beforeAll(async () => {
  app = await startApp()
  own = await openShop()
  other = await openShop()
})

/** A tenant with an answered session and an open one. */
async function openShop(): Promise<Shop> {
  const { id: tenantId, key } = await app.tenant()
  const { id } = await createVerification(app, key)
  await answerAsIf(app, id, CODE)
  return { owner: { tenantId, environment: 'test' }, key, id, openId: (await createVerification(app, key)).id }
}

const runnerOf = (db: Db): Runner => (db as unknown as { $client: Runner }).$client

/** The values of one shop, exchanged for those of the other. */
function exchanged<Value>(values: Value[]): Value[] {
  const pairs = new Map<unknown, unknown>([
    [own.owner.tenantId, other.owner.tenantId],
    [own.id, other.id],
    [own.openId, other.openId],
  ])
  return values.map(value => (pairs.get(value) ?? value) as Value)
}

/** A database that answers each statement as if the other shop had asked. */
function misrouted(db: Db): Db {
  if (isOnPostgres) {
    const runner = runnerOf(db)
    return drizzleOver({
      ...runner,
      rows: (text, params) => runner.rows(text, exchanged(params)),
      values: (text, params) => runner.values(text, exchanged(params)),
    })
  }
  const client = (db as unknown as { $client: Database }).$client
  const prepare = (text: string) => {
    const statement = client.prepare(text)
    return {
      all: (...params: string[]) => statement.all(...exchanged(params)),
      values: (...params: string[]) => statement.values(...exchanged(params)),
    }
  }
  return drizzle({ prepare } as unknown as Database, { schema }) as unknown as Db
}

const keyOf = ({ owner: { tenantId } }: Shop, id: string) => ({ id, tenantId })

const READS: Record<string, (db: Db, shop: Shop, at: number) => Promise<unknown>> = {
  findVerification: (db, { owner, id }) => store.findVerification(db, owner, id),
  findOfTenant: (db, { owner, id }) => store.findOfTenant(db, owner.tenantId, id),
  listVerifications: (db, { owner }) => store.listVerifications(db, owner, { before: Number.MAX_SAFE_INTEGER, limit: 5 }),
  listEndedSince: (db, { owner }) => store.listEndedSince(db, owner.tenantId, 0, 5),
  findSession: (db, { id }) => store.findSession(db, id),
  lockSession: (db, { owner, id }) => store.lockSession(db, owner, id),
  findStatus: (db, { id }) => store.findStatus(db, id),
  isRedeemable: (db, { owner, id }, at) => isRedeemable(db, owner, id, sha256Hex(CODE), at),
  markRedeemed: (db, { owner, id }, at) => markRedeemed(db, owner, id, sha256Hex(CODE), at),
  keepResponseKey: (db, shop) => keepResponseKey(db, keyOf(shop, shop.openId), Buffer.from('key')),
  closeSession: (db, shop, at) => closeSession(db, { ...keyOf(shop, shop.openId), at, status: 'completed', answeredFrom: null }),
}

test.each(Object.keys(READS))('%s refuses the row of another tenant, and its transaction changes nothing', async name => {
  const { write, now } = app.deps
  const stored = () => rowsOf(app, 'SELECT * FROM verification_sessions ORDER BY id')
  const before = stored()
  const reading = write(tx => READS[name]!(misrouted(tx), own, now()))
  expect(await reading.catch(error => error)).toBeInstanceOf(ForeignRow)
  expect(stored()).toEqual(before)
  // The same read, of its own row.
  expect(await write(tx => READS[name]!(tx, own, now()))).toBeTruthy()
})

onPostgres('a read that got the row of another tenant is 500, is logged without data, and all connections are new', async () => {
  const { deps, logs } = app
  const runner = runnerOf(deps.db)
  const { rows, values } = runner
  const read = () => app.call<{ id: string }>('GET', `/v1/verifications/${own.id}`, { key: own.key })
  const backend = async () => (await runner.rows<{ pid: number }>('SELECT pg_backend_pid() AS pid', []))[0]?.pid
  const before = await backend()
  const paramsFor = (text: string, params: unknown[]) => (text.includes('verification_results') ? exchanged(params) : params)
  runner.rows = (text, params) => rows(text, paramsFor(text, params))
  runner.values = (text, params) => values(text, paramsFor(text, params))
  const answer = await read()
  Object.assign(runner, { rows, values })
  expect([answer.status, answer.text]).toEqual([500, expect.not.stringContaining(other.id)])
  const lines = logs.filter(line => line.includes('database.foreign_row')).map(line => JSON.parse(line))
  expect(lines.at(-1)).toEqual({ time: expect.any(String), level: 'error', event: 'database.foreign_row' })
  expect(await backend()).not.toBe(before)
  expect((await read()).body.id).toBe(own.id)
})

onPostgres('a transaction that got the row of another tenant never commits, and its connection is dropped', async () => {
  const backend = async (tx: Db) => (await runnerOf(tx).rows<{ pid: number }>('SELECT pg_backend_pid() AS pid', []))[0]!.pid
  let used = 0
  const writing = app.deps.write(async tx => {
    used = await backend(tx)
    await store.findSession(misrouted(tx), own.id).catch(() => 'ignored')
  })
  expect(await writing.catch(error => error)).toBeInstanceOf(ForeignRow)
  await until(async () => rowsOf(app, 'SELECT 1 FROM pg_stat_activity WHERE pid = ?', used).length === 0)
})
