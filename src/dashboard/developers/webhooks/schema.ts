// Webhooks: secret, endpoint and delivery log.
import { Type } from '@sinclair/typebox'
import { Text, Timestamp } from '../../../http/schema.ts'
import { Environment, Exactly, Limit, Nullable, OneOf } from '../../../http/wire.ts'
import { DELIVERY_STATUSES, OUTCOMES } from '../../../webhooks/schema.ts'

export const AttemptSummary = Exactly({
  /** Counted from 1 again after a replay. */
  attempt: Type.Integer({ minimum: 1 }),
  at: Timestamp,
  outcome: OneOf('under_way', ...OUTCOMES),
  http_status: Nullable(Type.Integer()),
})
export type AttemptSummary = typeof AttemptSummary.static

export const DeliveryStatus = OneOf(...DELIVERY_STATUSES)

export const DeliverySummary = Exactly({
  id: Type.String(),
  verification_id: Type.String(),
  type: OneOf('verification.completed', 'verification.failed'),
  status: DeliveryStatus,
  /** Attempts begun, replays included. */
  attempts: Type.Integer({ minimum: 0 }),
  last_attempt: Type.Optional(AttemptSummary),
  created_at: Timestamp,
  /** Present while it is pending. */
  next_attempt_at: Type.Optional(Timestamp),
  /** The HTTP request that made it due, as in the log: the wallet's response, or a replay. */
  request_id: Type.Optional(Type.String()),
})
export type DeliverySummary = typeof DeliverySummary.static

export const LoggedDelivery = Exactly({ ...DeliverySummary.properties, log: Type.Array(AttemptSummary) })
export type LoggedDelivery = typeof LoggedDelivery.static

/** The secret itself is left out: it needs a fresh password. */
export const WebhookSecretState = Exactly({
  created_at: Timestamp,
  /** Null unless two secrets sign after a rotation. */
  previous_valid_until: Nullable(Timestamp),
})
export type WebhookSecretState = typeof WebhookSecretState.static

export const WebhookSecret = Exactly({ webhook_secret: Type.String(), ...WebhookSecretState.properties })
export type WebhookSecret = typeof WebhookSecret.static

export const WebhookEndpoint = Exactly({
  /** Null when there is none. */
  webhook_url: Nullable(Type.String()),
})
export type WebhookEndpoint = typeof WebhookEndpoint.static

export const SetWebhookEndpoint = Exactly({ webhook_url: Nullable(Text({ minLength: 1, maxLength: 2048 })) })
export type SetWebhookEndpoint = typeof SetWebhookEndpoint.static

/** How the endpoint answered a test event. */
export const TestDelivery = Exactly({
  at: Timestamp,
  outcome: OneOf(...OUTCOMES),
  http_status: Nullable(Type.Integer()),
  duration_ms: Type.Integer({ minimum: 0 }),
  /** The first 4 KiB; null without a response. */
  answer: Nullable(Type.String()),
  /** Why there was no response. */
  detail: Nullable(Type.String()),
})
export type TestDelivery = typeof TestDelivery.static

export const DeliveryFilter = Exactly({
  environment: Environment,
  status: Type.Optional(DeliveryStatus),
  verification: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  /** The `next_before` of the page before. */
  before: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}\\.whd_[A-Za-z0-9]{22}$' })),
  limit: Limit,
})
export type DeliveryFilter = typeof DeliveryFilter.static

export const ListedDelivery = Exactly({
  ...DeliverySummary.properties,
  /** Host only: the path may contain a secret of the receiver. */
  receiver: Type.Optional(Type.String()),
})
export type ListedDelivery = typeof ListedDelivery.static

export const DeliveryPage = Exactly({
  data: Type.Array(ListedDelivery),
  /** `before` of the next page; null at the end. A filter may leave a page short or empty. */
  next_before: Nullable(Type.String()),
})
export type DeliveryPage = typeof DeliveryPage.static

export const DeliveryAttempt = Exactly({
  ...AttemptSummary.properties,
  duration_ms: Type.Integer({ minimum: 0 }),
  /** Null when nothing was called. */
  address: Nullable(Type.String()),
  /** The first 4 KiB. */
  answer: Nullable(Type.String()),
  /** Why there was no response. */
  detail: Nullable(Type.String()),
})
export type DeliveryAttempt = typeof DeliveryAttempt.static

export const SentMessage = Exactly({
  /** Null for the event as it would be sent now: nothing was signed yet, or a viewer reads it. */
  attempt: Nullable(Type.Integer({ minimum: 1 })),
  at: Timestamp,
  /** The exact bytes that were signed, or would be, as text. */
  body: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  /** A secret of that time may have been dropped since, so the headers lack the signatures. */
  secret_gone: Type.Boolean(),
  /** The message may have contained a portrait, which is never stored. */
  portrait_gone: Type.Boolean(),
})
export type SentMessage = typeof SentMessage.static

export const DeliveryDetail = Exactly({
  delivery: DeliverySummary,
  /** Null when it went to an endpoint that was removed since. */
  url: Nullable(Type.String()),
  /** Oldest first. */
  attempts: Type.Array(DeliveryAttempt),
  /** Of the latest attempt that called the receiver; before the first, as it would be sent now. */
  message: SentMessage,
})
export type DeliveryDetail = typeof DeliveryDetail.static

export const ReplayedDeliveries = Exactly({ replayed: Type.Integer({ minimum: 0 }), has_more: Type.Boolean() })
export type ReplayedDeliveries = typeof ReplayedDeliveries.static
