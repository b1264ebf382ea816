// Two workers on one database: each delivery has one holder of its lease.
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import type { Db } from '../../src/db/engine.ts'
import { createConnect } from '../../src/db/postgres/connect.ts'
import { drizzleOver } from '../../src/db/postgres/pool.ts'
import { createSession, type Session } from '../../src/db/postgres/session.ts'
import { webhookDeliveries } from '../../src/db/schema/webhooks.ts'
import { drizzleOn, openWriter } from '../../src/db/sqlite/storage.ts'
import { claimDue, listDueQueues, listLostLeases, settleDelivery } from '../../src/webhooks/lease-store.ts'
import { cleanUp, NOON } from '../helpers/app.ts'
import { databaseOf, isOnPostgres } from '../helpers/database.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { declined, receive, startTenantFor } from '../helpers/receiver.ts'

const sessions: Session[] = []

afterAll(async () => {
  await Promise.all(sessions.map(session => session.close()))
  await cleanUp()
})

const HOUR_MS = 3_600_000
const LATER = NOON + 2 * HOUR_MS

async function connectTo(dir: string): Promise<Db> {
  if (!isOnPostgres) return drizzleOn(openWriter(join(dir, 'vidimus.db')))
  const connect = createConnect(loadConfig(await databaseOf(dir)).database!, 'test')
  const session = createSession(() => connect.open('light'))
  sessions.push(session)
  return drizzleOver(session)
}

/** Deliveries of one queue that no server sends, and two connections that are not inside a transaction. */
async function leaveDeliveries(count: number) {
  const receiver = receive()
  const { app, key } = await startTenantFor([receiver], { config: { webhookDelaysMs: [HOUR_MS] } })
  for (let i = 0; i < count; i++) await declined({ app, key }, receiver.url())
  await app.stop()
  const [one, other] = [await connectTo(app.dir), await connectTo(app.dir)]
  const [queue] = await listDueQueues(one)
  const claim = (db: Db, leasedBy: string, limit: number) =>
    claimDue(db, queue!, { now: LATER, leaseUntil: LATER + 1000, leasedBy, limit })
  return { one, other, claim }
}

test('two connections that claim at the same time never get the same delivery', async () => {
  const { one, other, claim } = await leaveDeliveries(6)
  const claimed = await Promise.all([claim(one, 'a', 4), claim(other, 'b', 4)])
  // On PostgreSQL the two run side by side, and may share them otherwise.
  if (!isOnPostgres) expect(claimed.map(each => each.length)).toEqual([4, 2])
  for (const each of claimed) expect(each.length).toBeLessThanOrEqual(4)
  expect(claimed.flat()).toHaveLength(6)
  expect(new Set(claimed.flat().map(({ id }) => id)).size).toBe(6)
  expect(claimed.map(each => new Set(each.map(({ leasedBy }) => leasedBy)))).toEqual([new Set(['a']), new Set(['b'])])
})

test('a claim takes the deliveries that are due longest, and no more than its limit', async () => {
  const { one, claim } = await leaveDeliveries(3)
  const all = await one.select().from(webhookDeliveries).orderBy(webhookDeliveries.dueAt)
  const claimed = [await claim(one, 'a', 1), await claim(one, 'a', 1), await claim(one, 'a', 2), await claim(one, 'a', 1)]
  expect(claimed.map(each => each.map(({ id }) => id))).toEqual([...all.map(({ id }) => [id]), []])
})

test('a worker that is late does not end the lease of another', async () => {
  const { one, other, claim } = await leaveDeliveries(1)
  const [late] = await claim(one, 'a', 1)
  // The other one takes the lease for lost, frees it and claims it.
  const [lost] = await listLostLeases(other, 'b', LATER)
  await settleDelivery(other, { ...lost!, dueAt: LATER })
  const [claimed] = await claim(other, 'b', 1)
  expect(claimed?.id).toBe(late!.id)
  await settleDelivery(one, { ...late!, status: 'failed', attempts: 6, dueAt: LATER })
  const [row] = await one.select().from(webhookDeliveries)
  expect(row).toMatchObject({ status: 'pending', attempts: 0, leasedBy: 'b', leaseUntil: LATER + 1000 })
  await settleDelivery(other, { ...claimed!, status: 'delivered', attempts: 1, dueAt: LATER })
  const [end] = await one.select().from(webhookDeliveries)
  expect(end).toMatchObject({ status: 'delivered', attempts: 1, leasedBy: null, leaseUntil: null })
})

sqliteOnly('on PostgreSQL the beats of the nodes decide')(
  'a lease of the own worker is not taken for one of an earlier process',
  async () => {
    const { one, claim } = await leaveDeliveries(2)
    const [mine] = await claim(one, 'mine', 1)
    const [earlier] = await claim(one, 'earlier', 1)
    expect((await listLostLeases(one, 'mine', LATER)).map(({ id }) => id)).toEqual([earlier!.id])
    expect((await listLostLeases(one, 'next', LATER)).map(({ id }) => id).sort()).toEqual([mine!.id, earlier!.id].sort())
  },
)
