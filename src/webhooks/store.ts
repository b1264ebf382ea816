import { and, asc, count, desc, eq, gte, inArray, isNotNull, isNull, lte, min, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { isLost } from '../db/leases.ts'
import { webhookAttempts, webhookDeliveries } from '../db/schema.ts'
import { hot, isAmongFree, locked } from '../db/statements.ts'
import type { Held } from './attempts.ts'
import type { Outcome } from './schema.ts'

export type DeliveryRow = typeof webhookDeliveries.$inferSelect
export type AttemptRow = typeof webhookAttempts.$inferSelect

/** A tenant's deliveries to one receiver, an HMAC of its origin (column `lane`). */
export type Queue = { receiver: string; tenantId: string }
export type DueQueue = Queue & { dueAt: number }
/** Attempts under way to one receiver, and the most that one claim takes from a queue. */
export const PER_RECEIVER_MAX = 4
/** Lost leases that one look frees. */
const LOST_MAX = 1000

const column = <Name extends string>(name: Name) => sql.placeholder(name)

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
    lane: column('receiver'),
    requestId: column('requestId'),
    environment: column('environment'),
  }),
)

type NewRow = Omit<DeliveryRow, 'status' | 'attempts' | 'leaseUntil' | 'leasedBy' | 'lane'> & Queue

export async function insertDelivery(tx: Db, row: NewRow): Promise<void> {
  await insert(tx, row)
}

/** Deletes deliveries with their attempts; gives their number and leases. The lock keeps new attempts out. */
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

/** The earliest due time of each queue, without what is under way. */
export async function listDueQueues(db: Db): Promise<DueQueue[]> {
  const { lane, tenantId, dueAt } = webhookDeliveries
  return await db
    .select({ receiver: lane, tenantId, dueAt: min(dueAt).mapWith(Number) })
    .from(webhookDeliveries)
    .where(and(isPending, isFree))
    .groupBy(lane, tenantId)
}

const isPending = sql`${webhookDeliveries.status} = 'pending'`
const inQueue = () =>
  and(isPending, eq(webhookDeliveries.lane, column('receiver')), eq(webhookDeliveries.tenantId, column('tenantId')))
const isFree = isNull(webhookDeliveries.leaseUntil)

export type ClaimedDelivery = Queue &
  Pick<DeliveryRow, 'id' | 'verificationId' | 'type' | 'attempts' | 'requestId'> & { leasedBy: string }

type DueRow = Pick<DeliveryRow, 'id' | 'type' | 'attempts'> & { verification_id: string; request_id: string | null }

/** One statement, so two connections never claim the same row; one for each limit (`hot`). */
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

const EMPTY = Buffer.alloc(0)

const insertAttempt = hot<{ id: number }>(db =>
  db
    .insert(webhookAttempts)
    .values({
      deliveryId: column('deliveryId'),
      tenantId: column('tenantId'),
      attempt: column('attempt'),
      at: column('at'),
      outcome: 'interrupted' satisfies Outcome,
      durationMs: sql`0`,
      salt: EMPTY,
      sealed: EMPTY,
    })
    .returning({ id: webhookAttempts.id }),
)

/** Logs an attempt before anything is sent. */
export async function beginAttempt(
  tx: Db,
  attempt: Pick<AttemptRow, 'deliveryId' | 'tenantId' | 'attempt' | 'at'>,
): Promise<number> {
  const [row] = await insertAttempt(tx, attempt)
  return row!.id
}

const updateAttempt = hot(db =>
  db
    .update(webhookAttempts)
    .set({
      outcome: sql`${column('outcome')}`,
      httpStatus: sql`${column('httpStatus')}`,
      durationMs: sql`${column('durationMs')}`,
      salt: sql`${column('salt')}`,
      sealed: sql`${column('sealed')}`,
    })
    .where(and(eq(webhookAttempts.id, column('id')), eq(webhookAttempts.tenantId, column('tenantId')))),
)

export async function endAttempt(
  tx: Db,
  end: Pick<AttemptRow, 'id' | 'tenantId' | 'httpStatus' | 'durationMs' | 'salt' | 'sealed'> & { outcome: Outcome },
): Promise<void> {
  await updateAttempt(tx, end)
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
        sql`coalesce(${webhookDeliveries.leasedBy}, '') = ${column('leasedBy')}`,
      ),
    )
    .returning({ id: webhookDeliveries.id }),
)

/** Ends a lease, null in those of older versions; false when `leasedBy` does not hold it any more. */
export async function settleDelivery(
  tx: Db,
  { leasedBy, ...settled }: Pick<DeliveryRow, 'id' | 'tenantId' | 'leasedBy' | 'status' | 'attempts' | 'dueAt'>,
): Promise<boolean> {
  return (await updateDelivery(tx, { leasedBy: leasedBy ?? '', ...settled })).length > 0
}

export async function countInterruptions(tx: Db, deliveryId: string, attempt: number): Promise<number> {
  const [row] = await tx
    .select({ n: count() })
    .from(webhookAttempts)
    .where(
      and(
        eq(webhookAttempts.deliveryId, deliveryId),
        eq(webhookAttempts.attempt, attempt),
        eq(webhookAttempts.outcome, 'interrupted'),
      ),
    )
  return row?.n ?? 0
}

export async function listLostLeases(db: Db, node: string, now: number): Promise<DeliveryRow[]> {
  return await db
    .select()
    .from(webhookDeliveries)
    .where(and(isPending, isNotNull(webhookDeliveries.leaseUntil), isLost(webhookDeliveries, node, now)))
    .orderBy(webhookDeliveries.id)
    .limit(LOST_MAX)
}

export type Owner = { tenantId: string; environment: 'test' | 'live' }
/** Both environments, unless one is named. */
export type OwnerOfAny = Pick<Owner, 'tenantId'> & Partial<Owner>

const ownedBy = ({ tenantId, environment }: OwnerOfAny) =>
  and(eq(webhookDeliveries.tenantId, tenantId), environment && eq(webhookDeliveries.environment, environment))

/** Several deliveries may be of one millisecond, so a place in the log is a time and an id. */
export type LogPlace = { createdAt: number; id: string }

type LogRange = { verificationId?: string; before?: LogPlace; downTo?: LogPlace }

function inLog(owner: Owner, { verificationId, before, downTo }: LogRange): SQL | undefined {
  const { id, createdAt } = webhookDeliveries
  return and(
    verificationId === undefined ? ownedBy(owner) : ofVerification(owner, verificationId),
    before && sql`(${createdAt}, ${id}) < (${before.createdAt}, ${before.id})`,
    downTo && sql`(${createdAt}, ${id}) >= (${downTo.createdAt}, ${downTo.id})`,
  )
}

/** The tenant as an expression: by its column SQLite would walk through the whole log. */
const ofVerification = ({ tenantId, environment }: Owner, verificationId: string) =>
  and(
    eq(webhookDeliveries.verificationId, verificationId),
    eq(sql`coalesce(${webhookDeliveries.tenantId}, '')`, tenantId),
    eq(webhookDeliveries.environment, environment),
  )

/** Newest first. */
export async function listDeliveries(
  db: Db,
  owner: Owner,
  { status, limit, ...range }: LogRange & { status?: DeliveryRow['status']; limit: number },
): Promise<DeliveryRow[]> {
  return await db
    .select()
    .from(webhookDeliveries)
    .where(and(inLog(owner, range), status && eq(webhookDeliveries.status, status)))
    .orderBy(desc(webhookDeliveries.createdAt), desc(webhookDeliveries.id))
    .limit(limit)
}

/** The place of the nth newest delivery; nothing when there are fewer. */
export async function findLogPlace(
  db: Db,
  owner: Owner,
  { nth, ...range }: LogRange & { nth: number },
): Promise<LogPlace | undefined> {
  const { createdAt, id } = webhookDeliveries
  const [place] = await db
    .select({ createdAt, id })
    .from(webhookDeliveries)
    .where(inLog(owner, range))
    .orderBy(desc(createdAt), desc(id))
    .limit(1)
    .offset(nth - 1)
  return place
}

export async function listAttempts(db: Db, tenantId: string, deliveryIds: string[]): Promise<AttemptRow[]> {
  return await db
    .select()
    .from(webhookAttempts)
    .where(and(eq(webhookAttempts.tenantId, tenantId), inArray(webhookAttempts.deliveryId, deliveryIds)))
    .orderBy(asc(webhookAttempts.id))
}

/** Of all deliveries of a verification. */
export async function listAttemptsOf(tx: Db, tenantId: string, verificationId: string): Promise<AttemptRow[]> {
  const rows = await tx
    .select({ attempt: webhookAttempts })
    .from(webhookAttempts)
    .innerJoin(webhookDeliveries, eq(webhookDeliveries.id, webhookAttempts.deliveryId))
    .where(and(eq(webhookDeliveries.verificationId, verificationId), eq(webhookAttempts.tenantId, tenantId)))
  return rows.map(({ attempt }) => attempt)
}

export async function updateSealed(
  tx: Db,
  { id, tenantId, sealed }: Pick<AttemptRow, 'id' | 'tenantId' | 'sealed'>,
): Promise<void> {
  await tx
    .update(webhookAttempts)
    .set({ sealed })
    .where(and(eq(webhookAttempts.id, id), eq(webhookAttempts.tenantId, tenantId)))
}

/** Across tenants, for the command line. */
export async function findDeliveryOfAnyone(db: Db, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await db.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id))
  return row
}

/** The command line has no request: the known id stays then. */
export type Restart = { dueAt: number; requestId: string | undefined }

/** Due again from the first attempt on. What is under way now is left to its end. */
export async function restartDeliveries(
  tx: Db,
  tenantId: string,
  id: string,
  { dueAt, requestId }: Restart,
): Promise<DeliveryRow[]> {
  return await tx
    .update(webhookDeliveries)
    .set({ status: 'pending', attempts: 0, dueAt, requestId })
    .where(and(eq(webhookDeliveries.tenantId, tenantId), eq(webhookDeliveries.id, id), isNull(webhookDeliveries.leaseUntil)))
    .returning()
}

export async function countPendingDeliveries(db: Db): Promise<number> {
  const [row] = await db.select({ n: count() }).from(webhookDeliveries).where(isPending)
  return row?.n ?? 0
}

/** The due time of the delivery that waits longest; nothing when none waits. */
export async function findOldestDue(db: Db, now: number): Promise<number | undefined> {
  const { dueAt } = webhookDeliveries
  const [row] = await db
    .select({ dueAt: min(dueAt) })
    .from(webhookDeliveries)
    .where(and(isPending, lte(dueAt, now)))
  return row?.dueAt ?? undefined
}

export async function findDelivery(db: Db, owner: Owner, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await db
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.id, id), ownedBy(owner)))
  return row
}

/** Exactly the condition of the partial index, or SQLite does not use it. */
const isFailing = sql`${webhookDeliveries.attempts} > 0 AND ${webhookDeliveries.status} IN ('pending', 'failed')`

export type FailingDelivery = Queue & Pick<DeliveryRow, 'id' | 'verificationId' | 'status' | 'createdAt'>

/** Latest first: deliveries that failed since a time, or have not succeeded so far. */
export async function listFailing(
  db: Db,
  owner: Owner,
  { since, latest }: { since: number; latest: number },
): Promise<FailingDelivery[]> {
  const { id, tenantId, verificationId, lane, status, createdAt, dueAt } = webhookDeliveries
  return await db
    .select({ id, tenantId, verificationId, receiver: lane, status, createdAt })
    .from(webhookDeliveries)
    .where(and(isFailing, ownedBy(owner), gte(dueAt, since)))
    .orderBy(desc(dueAt))
    .limit(latest)
}

/** Makes failed deliveries due again, the oldest first. */
export async function restartFailed(
  tx: Db,
  owner: OwnerOfAny,
  { dueAt, requestId }: Restart,
  limit: number,
): Promise<DeliveryRow[]> {
  const isFailed = eq(webhookDeliveries.status, 'failed')
  const oldest = tx
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(isFailing, isFailed, ownedBy(owner)))
    .orderBy(asc(webhookDeliveries.dueAt))
    .limit(limit)
  return await tx
    .update(webhookDeliveries)
    .set({ status: 'pending', attempts: 0, dueAt, requestId })
    .where(and(eq(webhookDeliveries.tenantId, owner.tenantId), isFailed, isAmongFree(webhookDeliveries.id, oldest)))
    .returning()
}

export async function listLatest(
  db: Db,
  tenantId: string,
  limit: number,
): Promise<Pick<DeliveryRow, 'tenantId' | 'verificationId'>[]> {
  const { verificationId, createdAt } = webhookDeliveries
  return await db
    .select({ tenantId: webhookDeliveries.tenantId, verificationId })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.tenantId, tenantId))
    .orderBy(desc(createdAt))
    .limit(limit)
}
