import { and, count, eq, inArray, lte, min, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { webhookAttempts, webhookDeliveries } from '../db/schema/webhooks.ts'
import { column, hot, locked } from '../db/statements.ts'
import type { Held } from './attempts.ts'

export type DeliveryRow = typeof webhookDeliveries.$inferSelect

export type Owner = { tenantId: string; environment: 'test' | 'live' }
/** Both environments, unless one is named. */
export type OwnerOfAny = { tenantId: string; environment?: Owner['environment'] }

/** A tenant's deliveries to one receiver. `receiver` is an HMAC of its origin. */
export type Queue = { receiver: string; tenantId: string }

const insert = hot(db =>
  db.insert(webhookDeliveries).values({
    id: column('id'),
    tenantId: column('tenantId'),
    verificationId: column('verificationId'),
    type: column('type'),
    status: 'pending',
    attempts: sql`0`,
    dueAt: column('dueAt'),
    createdAt: column('createdAt'),
    receiver: column('receiver'),
    requestId: column('requestId'),
    environment: column('environment'),
  }),
)

type NewRow = Omit<DeliveryRow, 'status' | 'attempts' | 'leaseUntil' | 'leasedBy' | 'receiver'> & Queue

export async function insertDelivery(tx: Db, row: NewRow): Promise<void> {
  await insert(tx, row)
}

/** Deletes deliveries with their attempts; returns their number and leases. The lock prevents new attempts. */
export async function deleteDeliveries(
  tx: Db,
  tenantId: string,
  verificationId: string,
): Promise<{ count: number; held: Held[] }> {
  const { id, leasedBy, leaseUntil } = webhookDeliveries
  const own = and(eq(webhookDeliveries.tenantId, tenantId), eq(webhookDeliveries.verificationId, verificationId))
  const rows = await locked(tx.select({ id, leasedBy, leaseUntil }).from(webhookDeliveries).where(own), 'update')
  if (rows.length === 0) return { count: 0, held: [] }
  const ids = rows.map(row => row.id)
  await tx.delete(webhookAttempts).where(and(eq(webhookAttempts.tenantId, tenantId), inArray(webhookAttempts.deliveryId, ids)))
  await tx.delete(webhookDeliveries).where(own)
  const held = rows.flatMap(({ leasedBy, leaseUntil }) =>
    leasedBy === null || leaseUntil === null ? [] : [{ verificationId, leasedBy, leaseUntil }],
  )
  return { count: ids.length, held }
}

export const isPending = sql`${webhookDeliveries.status} = 'pending'`

export async function countPendingDeliveries(db: Db): Promise<number> {
  const [row] = await db.select({ n: count() }).from(webhookDeliveries).where(isPending)
  return row?.n ?? 0
}

/** The due time of the delivery that has waited longest; undefined when none waits. */
export async function findOldestDue(db: Db, now: number): Promise<number | undefined> {
  const { dueAt } = webhookDeliveries
  const [row] = await db
    .select({ dueAt: min(dueAt) })
    .from(webhookDeliveries)
    .where(and(isPending, lte(dueAt, now)))
  return row?.dueAt ?? undefined
}
