// The delivery log for whoever looks through it: by environment, status and verification, one whole, and what fails.
import type { Deps } from './deps.ts'
import {
  type AttemptRow,
  type DeliveryRow,
  type FailingDelivery,
  findDelivery,
  type LogPlace,
  listAttempts,
  listFailing,
  listLatest,
  listPlacedDeliveries,
  type Owner,
} from './store.ts'

/** What is looked at for one answer: everybody waits while it is. */
const LOOKED_AT_MAX = 1000
const LATELY_MS = 86_400_000

export type BrowsedDelivery = { delivery: DeliveryRow; attempts: AttemptRow[] }

type Wanted = { status?: DeliveryRow['status']; verificationId?: string; before?: string; limit: number }

/** Newest first; `nextBefore` is null when there is nothing older. A page may be short, or empty, and yet not the last. */
export async function browseDeliveries(
  { db }: Pick<Deps, 'db'>,
  { tenantId, environment }: Owner,
  { status, verificationId, before, limit }: Wanted,
): Promise<{ deliveries: BrowsedDelivery[]; nextBefore: string | null }> {
  const place = before === undefined ? undefined : placeOf(before)
  const looked = await listPlacedDeliveries(db, tenantId, { verificationId, before: place, limit: LOOKED_AT_MAX })
  const matching = looked.filter(
    each => each.environment === environment && (status ?? each.delivery.status) === each.delivery.status,
  )
  const shown = matching.slice(0, limit)
  const last = matching.length > limit ? shown.at(-1) : looked.length === LOOKED_AT_MAX ? looked.at(-1) : undefined
  const ids = shown.map(({ delivery }) => delivery.id)
  const attempts = Map.groupBy(await listAttempts(db, tenantId, ids), ({ deliveryId }) => deliveryId)
  return {
    deliveries: shown.map(({ delivery }) => ({ delivery, attempts: attempts.get(delivery.id) ?? [] })),
    nextBefore: last ? `${last.delivery.createdAt}.${last.delivery.id}` : null,
  }
}

function placeOf(text: string): LogPlace {
  const [createdAt, id = ''] = text.split('.')
  return { createdAt: Number(createdAt), id }
}

export async function readDelivery({ db }: Pick<Deps, 'db'>, owner: Owner, id: string): Promise<BrowsedDelivery | undefined> {
  const delivery = await findDelivery(db, owner, id)
  return delivery && { delivery, attempts: await listAttempts(db, owner.tenantId, [id]) }
}

/** What failed within the last 24 hours, or is failing now, by receiver; the latest first. */
export async function readFailing({ db, now }: Pick<Deps, 'db' | 'now'>, owner: Owner): Promise<FailingDelivery[][]> {
  const failing = await listFailing(db, owner, { since: now() - LATELY_MS, latest: LOOKED_AT_MAX })
  return [...Map.groupBy(failing, ({ receiver }) => receiver).values()]
}

/** A tenant's latest deliveries, newest first. */
export async function readLatest({ db }: Pick<Deps, 'db'>, tenantId: string, limit: number) {
  return await listLatest(db, tenantId, limit)
}
