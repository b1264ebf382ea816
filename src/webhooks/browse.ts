import type { Reading, Unsealing } from '../ground.ts'
import { type AttemptRow, listAttempts } from './attempt-store.ts'
import {
  type FailingDelivery,
  findDelivery,
  findDeliveryOfAnyone,
  findLogPlace,
  type LogPlace,
  listDeliveries,
  listFailing,
  listLatest,
} from './log-store.ts'
import { presentDelivery } from './present.ts'
import type { Delivery } from './schema.ts'
import { countPendingDeliveries, type DeliveryRow, findOldestDue, type Owner } from './store.ts'

/** The most rows that one call reads: the event loop waits for it. */
const LOOKED_AT_MAX = 1000
const LISTED_MAX = 100
const LATELY_MS = 86_400_000

export type BrowsedDelivery = { delivery: DeliveryRow; attempts: AttemptRow[] }

type DeliveryFilter = { status?: DeliveryRow['status']; verificationId?: string; before?: string; limit: number }

/** Newest first; `nextBefore` is null on the last page. With a status, other pages may be short or empty too. */
export async function browseDeliveries(
  deps: Reading,
  owner: Owner,
  { status, verificationId, before: from, limit }: DeliveryFilter,
): Promise<{ deliveries: BrowsedDelivery[]; nextBefore: string | null }> {
  const before = from === undefined ? undefined : placeOf(from)
  const place = { verificationId, before, nth: LOOKED_AT_MAX }
  const downTo = status === undefined ? undefined : await findLogPlace(deps.db, owner, place)
  const rows = await listDeliveries(deps.db, owner, { status, verificationId, before, downTo, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : downTo
  return {
    deliveries: await withAttempts(deps, owner.tenantId, shown),
    nextBefore: last ? `${last.createdAt}.${last.id}` : null,
  }
}

function placeOf(text: string): LogPlace {
  const [createdAt, id = ''] = text.split('.')
  return { createdAt: Number(createdAt), id }
}

async function withAttempts({ db }: Reading, tenantId: string, rows: DeliveryRow[]): Promise<BrowsedDelivery[]> {
  const ids = rows.map(({ id }) => id)
  const attempts = Map.groupBy(await listAttempts(db, tenantId, ids), ({ deliveryId }) => deliveryId)
  return rows.map(delivery => ({ delivery, attempts: attempts.get(delivery.id) ?? [] }))
}

/** The newest 100 of both environments, for the command line. */
export async function readDeliveries(
  deps: Reading & Unsealing,
  tenantId: string,
  filter: { status?: DeliveryRow['status'] } = {},
): Promise<Delivery[]> {
  const listOf = (environment: Owner['environment']) =>
    listDeliveries(deps.db, { tenantId, environment }, { ...filter, limit: LISTED_MAX })
  const rows = [...(await listOf('test')), ...(await listOf('live'))]
  const newest = rows.sort((one, other) => other.createdAt - one.createdAt).slice(0, LISTED_MAX)
  const deliveries = await withAttempts(deps, tenantId, newest)
  const keys = await deps.sessionKeys.findAll(
    deps.db,
    newest.map(({ verificationId }) => verificationId),
  )
  return deliveries.map(({ delivery, attempts }) => presentDelivery(deps, delivery, attempts, keys.get(delivery.verificationId)))
}

export async function readDelivery({ db }: Reading, owner: Owner, id: string): Promise<BrowsedDelivery | undefined> {
  const delivery = await findDelivery(db, owner, id)
  return delivery && { delivery, attempts: await listAttempts(db, owner.tenantId, [id]) }
}

/** A delivery of any tenant, for the operator. */
export const readDeliveryOfAnyone = async ({ db }: Reading, id: string): Promise<DeliveryRow | undefined> =>
  await findDeliveryOfAnyone(db, id)

export const countPending = async ({ db }: Reading): Promise<number> => await countPendingDeliveries(db)

/** The time that the oldest undelivered message has been due. */
export async function overdueMs({ db, now }: Reading): Promise<number> {
  const at = now()
  return at - ((await findOldestDue(db, at)) ?? at)
}

/** Deliveries that are failing, or failed in the last 24 hours; grouped by receiver, latest first. */
export async function readFailing({ db, now }: Reading, owner: Owner): Promise<FailingDelivery[][]> {
  const failing = await listFailing(db, owner, { since: now() - LATELY_MS, latest: LOOKED_AT_MAX })
  return [...Map.groupBy(failing, ({ receiver }) => receiver).values()]
}

/** A tenant's latest deliveries, newest first. */
export async function readLatest({ db }: Reading, tenantId: string, limit: number) {
  return await listLatest(db, tenantId, limit)
}

/** True when a receiver accepted one of a tenant's latest deliveries, in either environment. */
export async function hasReceived({ db }: Reading, tenantId: string): Promise<boolean> {
  for (const environment of ['test', 'live'] as const) {
    const latest = await listDeliveries(db, { tenantId, environment }, { limit: LISTED_MAX })
    if (latest.some(({ status }) => status === 'delivered')) return true
  }
  return false
}
