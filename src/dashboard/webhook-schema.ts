// Webhooks as the dashboard shows them: the secret, its rotation, and the log of deliveries.
import { Type } from '@sinclair/typebox'
import { Timestamp } from '../http/schema.ts'
import { DeliverySummary } from './verification-schema.ts'
import { Environment, Exactly, Limit, Nullable, OneOf } from './wire.ts'

/** Without the secret itself: that takes a fresh password. */
export const WebhookSecretState = Exactly({
  created_at: Timestamp,
  /** While both sign after a rotation; null outside of one. */
  previous_valid_until: Nullable(Timestamp),
})
export const WebhookSecret = Exactly({
  webhook_secret: Type.String(),
  created_at: Timestamp,
  previous_valid_until: Nullable(Timestamp),
})
export type WebhookSecret = typeof WebhookSecret.static

export const DeliveryFilter = Exactly({
  environment: Environment,
  status: Type.Optional(OneOf('pending', 'delivered', 'failed', 'cancelled')),
  before: Type.Optional(Type.String({ format: 'date-time' })),
  limit: Limit,
})

export const DeliveryPage = Exactly({ data: Type.Array(DeliverySummary), next_before: Nullable(Timestamp) })

export const DeliveryAttempt = Exactly({
  attempt: Type.Integer({ minimum: 1 }),
  at: Timestamp,
  /** Out of a closed set; `delivered` for a 2xx. */
  outcome: Type.String(),
  http_status: Nullable(Type.Integer()),
  duration_ms: Type.Integer(),
  /** The address that was called. */
  address: Nullable(Type.String()),
  /** The first 4 KiB of the answer. */
  answer: Nullable(Type.String()),
  /** The exact bytes that were signed, as text, and the headers that carried the signatures. */
  body: Nullable(Type.String()),
  headers: Type.Record(Type.String(), Type.String()),
})

export const DeliveryDetail = Exactly({
  delivery: DeliverySummary,
  url: Type.String(),
  attempts: Type.Array(DeliveryAttempt),
})
export type DeliveryDetail = typeof DeliveryDetail.static

/** A signed event that belongs to no verification, to see that a receiver works. */
export const SendTestEvent = Exactly({ url: Type.String({ format: 'uri', maxLength: 2048 }) })
