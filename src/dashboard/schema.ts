// A tenant's settings, and the paths that routes share.
import { Type } from '@sinclair/typebox'
import { Text, Timestamp } from '../http/schema.ts'
import { Exactly, ListOf, Nullable, OneOf } from '../http/wire.ts'

export const LABEL_CHARS_MAX = 100

export const TenantPath = Type.Object({ tenant: Type.String({ minLength: 1, maxLength: 64 }) })
export const TenantItemPath = Type.Object({
  tenant: Type.String({ minLength: 1, maxLength: 64 }),
  id: Type.String({ minLength: 1, maxLength: 64 }),
})

export const Tenant = Exactly({
  id: Type.String(),
  name: Type.String(),
  plan: OneOf('trial', 'standard', 'large'),
  /** The override, or else the plan's. */
  daily_quota: Type.Integer({ minimum: 0 }),
  quota_override: Nullable(Type.Integer({ minimum: 0 })),
  /** Null keeps sessions until somebody erases them. */
  retention_days: Nullable(Type.Integer({ minimum: 0 })),
  app_schemes: Type.Array(Type.String()),
  created_at: Timestamp,
})
export type Tenant = typeof Tenant.static
export const TenantList = ListOf(Tenant)

const TenantName = Text({ minLength: 1, maxLength: LABEL_CHARS_MAX })
const RetentionDays = Nullable(Type.Integer({ minimum: 0, maximum: 3650 }))
export const CreateTenant = Exactly({ name: TenantName })
/** Absent members stay as they are. Only owners set plan and quota_override. */
export const ChangeTenant = Exactly({
  name: Type.Optional(TenantName),
  plan: Type.Optional(OneOf('trial', 'standard', 'large')),
  quota_override: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 10_000_000 }))),
  retention_days: Type.Optional(RetentionDays),
  /** Empty for none. */
  app_schemes: Type.Optional(Type.Array(Text({ minLength: 1, maxLength: 40 }), { maxItems: 10 })),
})
export type ChangeTenant = typeof ChangeTenant.static
