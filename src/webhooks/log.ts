import { isoUtc } from '../time.ts'
import type { Deps } from './deps.ts'
import { attemptPlace, type KeptAnswer } from './record.ts'
import type { Delivery, DeliveryAttempt } from './schema.ts'
import { type AttemptRow, type DeliveryFilter, type DeliveryRow, listAttempts, listDeliveries } from './store.ts'

const LIMIT_MAX = 100

/** A tenant's delivery log, newest first, each delivery with all of its attempts. */
export async function readDeliveries(
  { db, sealer }: Pick<Deps, 'db' | 'sealer'>,
  tenantId: string,
  { limit = LIMIT_MAX, ...filter }: DeliveryFilter & { limit?: number } = {},
): Promise<Delivery[]> {
  const deliveries = await listDeliveries(db, tenantId, { ...filter, limit: Math.min(limit, LIMIT_MAX) })
  const ids = deliveries.map(({ id }) => id)
  const attempts = Map.groupBy(await listAttempts(db, tenantId, ids), ({ deliveryId }) => deliveryId)
  return deliveries.map(delivery => presentDelivery({ sealer }, delivery, attempts.get(delivery.id) ?? []))
}

const presentDelivery = (deps: Pick<Deps, 'sealer'>, row: DeliveryRow, attempts: AttemptRow[]): Delivery => ({
  id: row.id,
  verification_id: row.verificationId,
  type: row.type,
  status: row.status,
  created_at: isoUtc(row.createdAt),
  next_attempt_at: row.status === 'pending' ? isoUtc(row.dueAt) : null,
  request_id: row.requestId,
  attempts: attempts.map(attempt => presentAttempt(deps, attempt)),
})

export function presentAttempt({ sealer }: Pick<Deps, 'sealer'>, row: AttemptRow): DeliveryAttempt {
  const { deliveryId: id, tenantId, salt, sealed } = row
  // Nothing is known of one that was interrupted with the process.
  const kept: KeptAnswer = sealed.length === 0 ? {} : JSON.parse(sealer.open(attemptPlace({ id, tenantId }, salt), sealed))
  return {
    attempt: row.attempt,
    at: isoUtc(row.at),
    outcome: row.outcome as DeliveryAttempt['outcome'],
    http_status: row.httpStatus,
    ms: row.durationMs,
    address: kept.address ?? null,
    answer: kept.answer ?? null,
    detail: kept.detail ?? null,
  }
}
