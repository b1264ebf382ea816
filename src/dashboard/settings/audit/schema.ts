import { Type } from '@sinclair/typebox'
import { LEFT_OUT } from '../../../audit/browse.ts'
import { AUDIT_ACTIONS } from '../../../audit/chain.ts'
import { QueryInteger, Text, Timestamp } from '../../../http/schema.ts'
import { Environment, Exactly, Limit, ListOf, Nullable, OneOf } from '../../../http/wire.ts'

const Instant = Type.Optional(Timestamp)

export const AuditFilter = Exactly({
  action: Type.Optional(OneOf(...AUDIT_ACTIONS)),
  /** As `actor` says it. */
  actor: Type.Optional(Text({ minLength: 1, maxLength: 200 })),
  /** The id of a verification, key, till, user… */
  subject: Type.Optional(Text({ minLength: 1, maxLength: 100 })),
  from: Instant,
  /** Exclusive. */
  until: Instant,
  before: Type.Optional(
    QueryInteger({ minimum: 1, maximum: 999_999_999, default: 999_999_999, description: 'Only records before this one.' }),
  ),
  limit: Limit,
})

export type AuditFilter = typeof AuditFilter.static

/** With the environment, whose records and those without one are listed. */
export const TenantAuditFilter = Exactly({ ...AuditFilter.properties, environment: Type.Optional(Environment) })
export type TenantAuditFilter = typeof TenantAuditFilter.static

/** Everybody who acted, as `actor` says it. */
export const AuditPeople = ListOf(Type.String())

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
  /** To whom the numbers between it and the record above belong; absent without such, and where a filter explains them. */
  above: Type.Optional(Type.Array(OneOf(...LEFT_OUT))),
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
