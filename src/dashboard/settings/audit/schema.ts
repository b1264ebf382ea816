import { Type } from '@sinclair/typebox'
import { QueryInteger, Timestamp } from '../../../http/schema.ts'
import { Exactly, Limit, Nullable, OneOf } from '../../../http/wire.ts'

export const AuditFilter = Exactly({
  before: Type.Optional(
    QueryInteger({ minimum: 1, maximum: 999_999_999, default: 999_999_999, description: 'Only records before this one.' }),
  ),
  limit: Limit,
})

export const AuditRecord = Exactly({
  seq: Type.Integer(),
  at: Timestamp,
  tenant: Nullable(Type.String()),
  actor: Type.String(),
  /** Label of the API key that acted; absent without one. */
  actor_label: Type.Optional(Type.String()),
  action: Type.String(),
  /** Null once the subject is erased. */
  details: Nullable(Type.Record(Type.String(), Type.Unknown())),
  hash: Type.String(),
})
export type AuditRecord = typeof AuditRecord.static

export const AuditPage = Exactly({
  data: Type.Array(AuditRecord),
  /** The `before` of the next page, which may be short or empty; null when there is nothing older. */
  next_before: Nullable(Type.Integer()),
})

export const AuditVerification = Exactly({
  state: OneOf('never', 'running', 'done'),
  started_at: Type.Optional(Timestamp),
  verdict: Type.Optional(
    Exactly({
      ok: Type.Boolean(),
      count: Type.Integer(),
      head: Type.String(),
      signed_to: Type.Integer(),
      public_key: Type.String(),
      broken_at: Type.Optional(Type.Integer()),
      problem: Type.Optional(Type.String()),
    }),
  ),
})
export type AuditVerification = typeof AuditVerification.static
