import { and, asc, desc, eq, gte, isNull, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { webhookDeliveries } from '../db/schema/webhooks.ts'
import { isAmongFree } from '../db/statements.ts'
import type { DeliveryRow, Owner, OwnerOfAny, Queue } from './store.ts'

const ownedBy = ({ tenantId, environment }: OwnerOfAny) =>
  and(eq(webhookDeliveries.tenantId, tenantId), environment && eq(webhookDeliveries.environment, environment))

/** A place in the log is a time and an id, because several deliveries may have the same millisecond. */
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

/** The tenant is an expression: with the plain column, SQLite would read the whole log. */
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

/** The place of the nth newest delivery; undefined when there are fewer. */
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

export async function listLatest(
  db: Db,
  tenantId: string,
  limit: number,
): Promise<Pick<DeliveryRow, 'tenantId' | 'verificationId' | 'attempts'>[]> {
  const { verificationId, attempts, createdAt } = webhookDeliveries
  return await db
    .select({ tenantId: webhookDeliveries.tenantId, verificationId, attempts })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.tenantId, tenantId))
    .orderBy(desc(createdAt))
    .limit(limit)
}

export async function findDelivery(db: Db, owner: Owner, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await db
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.id, id), ownedBy(owner)))
  return row
}

/** Across tenants, for the command line. */
export async function findDeliveryOfAnyone(db: Db, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await db.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id))
  return row
}

/** Must be exactly the condition of the partial index: otherwise SQLite does not use it. */
const isFailing = sql`${webhookDeliveries.attempts} > 0 AND ${webhookDeliveries.status} IN ('pending', 'failed')`

export type FailingDelivery = Queue & Pick<DeliveryRow, 'id' | 'verificationId' | 'status' | 'createdAt'>

/** Deliveries that failed since a time, or have not succeeded so far; latest first. */
export async function listFailing(
  db: Db,
  owner: Owner,
  { since, latest }: { since: number; latest: number },
): Promise<FailingDelivery[]> {
  const { id, tenantId, verificationId, receiver, status, createdAt, dueAt } = webhookDeliveries
  return await db
    .select({ id, tenantId, verificationId, receiver, status, createdAt })
    .from(webhookDeliveries)
    .where(and(isFailing, ownedBy(owner), gte(dueAt, since)))
    .orderBy(desc(dueAt))
    .limit(latest)
}

/** `requestId` is undefined for the command line; the stored id then stays. */
export type Restart = { dueAt: number; requestId: string | undefined }

/** Makes a delivery due again, from the first attempt on. One that is under way is left alone. */
export async function restartDelivery(
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
