import { Type } from '@sinclair/typebox'
import { Timestamp } from '../http/schema.ts'

const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) => Type.Union([schema, Type.Null()])

/** Outcomes of an attempt. It is `interrupted` until its end is recorded. */
export const OUTCOMES = [
  'delivered',
  'http_status',
  'redirect',
  'gone',
  'timeout',
  'dns_failed',
  'refused_address',
  'tls_failed',
  'connection_failed',
  'interrupted',
  'cancelled',
] as const
export type Outcome = (typeof OUTCOMES)[number]

export const DeliveryAttempt = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1 }),
    at: Timestamp,
    outcome: Type.Union(OUTCOMES.map(outcome => Type.Literal(outcome))),
    http_status: Nullable(Type.Integer()),
    ms: Type.Integer({ minimum: 0 }),
    /** The IP address that was called, and the first 4 KiB of its answer. */
    address: Nullable(Type.String()),
    answer: Nullable(Type.String()),
    /** The reason why there was no answer. */
    detail: Nullable(Type.String()),
  },
  { additionalProperties: false },
)
export type DeliveryAttempt = typeof DeliveryAttempt.static

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const

export const Delivery = Type.Object(
  {
    id: Type.String(),
    verification_id: Type.String(),
    type: Type.Union([Type.Literal('verification.completed'), Type.Literal('verification.failed')]),
    status: Type.Union(DELIVERY_STATUSES.map(status => Type.Literal(status))),
    created_at: Timestamp,
    /** Null unless the delivery is pending. */
    next_attempt_at: Nullable(Timestamp),
    /** The HTTP request that made it due, as in the log: wallet response or replay. */
    request_id: Nullable(Type.String()),
    attempts: Type.Array(DeliveryAttempt),
  },
  { additionalProperties: false },
)
export type Delivery = typeof Delivery.static
