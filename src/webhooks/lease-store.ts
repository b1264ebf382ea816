import { and, asc, eq, isNotNull, isNull, lte, min, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { isLost } from '../db/leases.ts'
import { webhookDeliveries } from '../db/schema/webhooks.ts'
import { column, hot, isAmongFree } from '../db/statements.ts'
import { type DeliveryRow, isPending, type Queue } from './store.ts'

export type DueQueue = Queue & { dueAt: number }
/** The most attempts under way to one receiver, and so the most that one claim takes from a queue. */
export const PER_RECEIVER_MAX = 4
/** The most lost leases that are freed at once. */
const LOST_MAX = 1000

const inQueue = () =>
  and(isPending, eq(webhookDeliveries.receiver, column('receiver')), eq(webhookDeliveries.tenantId, column('tenantId')))
const isFree = isNull(webhookDeliveries.leaseUntil)

/** The earliest due time of each queue; deliveries under way do not count. */
export async function listDueQueues(db: Db): Promise<DueQueue[]> {
  const { receiver, tenantId, dueAt } = webhookDeliveries
  return await db
    .select({ receiver, tenantId, dueAt: min(dueAt).mapWith(Number) })
    .from(webhookDeliveries)
    .where(and(isPending, isFree))
    .groupBy(receiver, tenantId)
}

export type ClaimedDelivery = Queue &
  Pick<DeliveryRow, 'id' | 'verificationId' | 'type' | 'attempts' | 'requestId'> & { leasedBy: string }

type DueRow = Pick<DeliveryRow, 'id' | 'type' | 'attempts'> & { verification_id: string; request_id: string | null }

/** A claim is one statement, so two connections never claim the same row. One for each limit: a bound LIMIT is slow. */
const claims = Array.from({ length: PER_RECEIVER_MAX }, (_, i) =>
  hot<DueRow>(db => {
    const { id, tenantId, verificationId, type, attempts, requestId, dueAt } = webhookDeliveries
    const oldest = db
      .select({ id })
      .from(webhookDeliveries)
      .where(and(inQueue(), lte(dueAt, column('now')), isFree))
      .orderBy(asc(dueAt))
      .limit(i + 1)
    return db
      .update(webhookDeliveries)
      .set({ leaseUntil: sql`${column('leaseUntil')}`, leasedBy: sql`${column('leasedBy')}` })
      .where(and(isAmongFree(id, oldest), eq(tenantId, column('tenantId'))))
      .returning({ id, verificationId, type, attempts, requestId })
  }),
)

/** Leases the oldest due deliveries of a queue, at most `limit`. */
export async function claimDue(
  tx: Db,
  { receiver, tenantId }: Queue,
  { limit, leasedBy, ...lease }: { now: number; leaseUntil: number; leasedBy: string; limit: number },
): Promise<ClaimedDelivery[]> {
  const claimed = await claims[limit - 1]!(tx, { receiver, tenantId, leasedBy, ...lease })
  return claimed.map(({ verification_id: verificationId, request_id: requestId, ...row }) => ({
    ...row,
    verificationId,
    requestId,
    receiver,
    tenantId,
    leasedBy,
  }))
}

const selectNextDue = hot<{ due_at: number | null }>(db =>
  db
    .select({ dueAt: sql`min(${webhookDeliveries.dueAt})`.as('due_at') })
    .from(webhookDeliveries)
    .where(and(inQueue(), isFree)),
)

export async function nextDueIn(db: Db, queue: Queue): Promise<number | undefined> {
  return (await selectNextDue(db, queue))[0]?.due_at ?? undefined
}

const updateDelivery = hot<{ id: string }>(db =>
  db
    .update(webhookDeliveries)
    .set({
      status: sql`${column('status')}`,
      attempts: sql`${column('attempts')}`,
      dueAt: sql`${column('dueAt')}`,
      leaseUntil: null,
      leasedBy: null,
    })
    .where(
      and(
        eq(webhookDeliveries.id, column('id')),
        eq(webhookDeliveries.tenantId, column('tenantId')),
        isNotNull(webhookDeliveries.leaseUntil),
        eq(webhookDeliveries.leasedBy, column('leasedBy')),
      ),
    )
    .returning({ id: webhookDeliveries.id }),
)

/** Ends a lease; false when `leasedBy` no longer holds it. */
export async function settleDelivery(
  tx: Db,
  settled: Pick<DeliveryRow, 'id' | 'tenantId' | 'leasedBy' | 'status' | 'attempts' | 'dueAt'>,
): Promise<boolean> {
  return (await updateDelivery(tx, settled)).length > 0
}

export async function listLostLeases(db: Db, holder: string, now: number): Promise<DeliveryRow[]> {
  return await db
    .select()
    .from(webhookDeliveries)
    .where(and(isPending, isNotNull(webhookDeliveries.leaseUntil), isLost(webhookDeliveries, holder, now)))
    .orderBy(webhookDeliveries.id)
    .limit(LOST_MAX)
}
