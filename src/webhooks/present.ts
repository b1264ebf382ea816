import { isoUtc } from '../base/time.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Unsealing } from '../ground.ts'
import type { AttemptRow } from './attempt-store.ts'
import type { KeptAnswer } from './delivery/record.ts'
import type { Delivery, DeliveryAttempt } from './schema.ts'
import type { DeliveryRow } from './store.ts'

export const presentDelivery = (
  deps: Unsealing,
  row: DeliveryRow,
  attempts: AttemptRow[],
  sessionKey: Uint8Array | undefined,
): Delivery => ({
  id: row.id,
  verification_id: row.verificationId,
  type: row.type,
  status: row.status,
  created_at: isoUtc(row.createdAt),
  next_attempt_at: row.status === 'pending' ? isoUtc(row.dueAt) : null,
  request_id: row.requestId,
  attempts: attempts.map(attempt => presentAttempt(deps, attempt, sessionKey)),
})

export function presentAttempt({ sealer }: Unsealing, row: AttemptRow, sessionKey: Uint8Array | undefined): DeliveryAttempt {
  const { deliveryId: id, tenantId, salt, sealed } = row
  // Empty for an attempt whose process ended.
  const place = SEALED.attempt({ id, tenantId }, salt, sessionKey)
  const kept: KeptAnswer = sealed.length === 0 ? {} : JSON.parse(sealer.open(place, sealed))
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
