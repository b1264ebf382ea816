import type { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { browseDeliveries, readDeliveries, readFailing } from '../../src/webhooks/browse.ts'
import { cleanUp, NOON, startWithTenant, type TestApp } from '../helpers/app.ts'
import { editRows, isOnPostgres } from '../helpers/database.ts'
import { sqliteOnly } from '../helpers/engines.ts'

afterAll(cleanUp)

/** The query plan of each select from the delivery log that a call makes. */
async function plansOf({ deps }: TestApp, call: () => Promise<unknown>): Promise<string[]> {
  const { $client: sqlite } = deps.db as unknown as { $client: Database }
  const asked: string[] = []
  const { prepare } = sqlite
  sqlite.prepare = ((text: string) => {
    asked.push(text)
    return prepare.call(sqlite, text)
  }) as typeof prepare
  await call()
  sqlite.prepare = prepare
  return asked
    .filter(text => text.includes('from "webhook_deliveries"'))
    .map(text => {
      const steps = prepare.call(sqlite, `EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]
      const indexes = steps.map(({ detail }) => / INDEX (\w+ \(.*\))/.exec(detail)?.[1])
      return indexes.filter(each => each !== undefined).join(', ')
    })
}

const onSqlite = sqliteOnly('the plan of PostgreSQL depends on how many rows there are')

onSqlite('the log of one verification is found by the index of verifications, that of an owner by its own', async () => {
  const { app, id: tenantId } = await startWithTenant()
  const owner = { tenantId, environment: 'test' } as const
  const filter = { verificationId: 'vs_1', limit: 10 }
  const plans = [
    ...(await plansOf(app, () => browseDeliveries(app.deps, owner, filter))),
    ...(await plansOf(app, () => browseDeliveries(app.deps, owner, { ...filter, before: '5.whd_1' }))),
    ...(await plansOf(app, () => browseDeliveries(app.deps, owner, { ...filter, status: 'failed' }))),
  ]
  const ofVerification = 'webhook_deliveries_session (verification_id=?)'
  expect(plans).toEqual([ofVerification, ofVerification, ofVerification, ofVerification])
  const ofOwner = 'webhook_deliveries_newest (tenant_id=? AND environment=?)'
  expect(await plansOf(app, () => browseDeliveries(app.deps, owner, { limit: 10 }))).toEqual([ofOwner])
  expect(await plansOf(app, () => readDeliveries(app.deps, tenantId))).toEqual([ofOwner, ofOwner])
  const ofFailing = 'webhook_deliveries_failing (tenant_id=? AND due_at>?)'
  expect(await plansOf(app, () => readFailing(app.deps, owner))).toEqual([ofFailing])
})

type Row = { id: string; environment: 'test' | 'live'; status: string; at: number }

/** Deliveries without their sessions, which the log does not read. */
function insertDeliveries(app: TestApp, tenantId: string, rows: Row[]): void {
  const into =
    'INSERT INTO webhook_deliveries (id, tenant_id, verification_id, type, status, attempts, due_at, created_at, receiver, environment)'
  const texts = rows.map(
    ({ id, status, at, environment }) =>
      `('${id}', '${tenantId}', 'vs_1', 'verification.completed', '${status}', 1, ${at}, ${at}, '', '${environment}')`,
  )
  const insert = `${into} VALUES ${texts.join(', ')}`
  // SQLite does not check foreign keys here unless it is asked to.
  editRows(app, isOnPostgres ? `SET session_replication_role = replica; ${insert}; RESET session_replication_role` : insert)
}

const idsOf = ({ deliveries }: Awaited<ReturnType<typeof browseDeliveries>>) => deliveries.map(({ delivery }) => delivery.id)

test('deliveries of one environment are found behind any number of the other', async () => {
  const { app, id: tenantId } = await startWithTenant()
  const ofTest = Array.from({ length: 1500 }, (_, i) => `whd_${i}`)
  insertDeliveries(app, tenantId, [
    ...ofTest.map(id => ({ id, environment: 'test', status: 'failed', at: NOON }) as const),
    { id: 'whd_live', environment: 'live', status: 'failed', at: NOON - 1 },
  ])
  const owner = { tenantId, environment: 'live' } as const
  for (const filter of [{}, { status: 'failed' as const }]) {
    const page = await browseDeliveries(app.deps, owner, { ...filter, limit: 10 })
    expect([idsOf(page), page.nextBefore]).toEqual([['whd_live'], null])
  }
  expect((await readFailing(app.deps, owner)).flat().map(({ id }) => id)).toEqual(['whd_live'])
  expect(await readDeliveries(app.deps, tenantId)).toHaveLength(100)
})
