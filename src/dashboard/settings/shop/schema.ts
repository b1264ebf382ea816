// A shop, the origins of its pages, and the look that its customers see.
import { type TSchema, Type } from '@sinclair/typebox'
import { Text, Timestamp, VisibleText } from '../../../http/schema.ts'
import { Environment, Exactly, ListOf, Nullable, OneOf } from '../../../http/wire.ts'
import { LOGO_BYTES_MAX } from '../../../tenants/look.ts'
import type { Language } from '../../../words/languages.ts'
import { LABEL_CHARS_MAX } from '../../schema.ts'

const ORIGIN_CHARS_MAX = 255
const PRIVACY_URL_CHARS_MAX = 1000
const WITHOUT_WALLET_CHARS_MAX = 300

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

export const Origin = Exactly({ origin: Type.String(), environment: Environment, created_at: Timestamp })
export type Origin = typeof Origin.static
export const OriginList = ListOf(Origin)

/** The body of adding and of removing: an origin in a path would need escapes that proxies undo. */
export const NamedOrigin = Exactly({ origin: Text({ minLength: 1, maxLength: ORIGIN_CHARS_MAX }) })
export type NamedOrigin = typeof NamedOrigin.static

const Line = Type.Optional(VisibleText({ minLength: 1, maxLength: WITHOUT_WALLET_CHARS_MAX }))
/** One line in each language of the page that has one. */
const WithoutWallet = Type.Object(
  { en: Line, de: Line, es: Line, fr: Line, it: Line, nl: Line, pl: Line } satisfies Record<Language, TSchema>,
  { additionalProperties: false, minProperties: 1 },
)

export const Look = Exactly({
  /** Such as #1f4fd8. */
  accent: Nullable(Type.String()),
  /** Black or white, whichever is easier to read on the accent. */
  ink: Nullable(Type.String()),
  privacy_url: Nullable(Type.String()),
  /** What the shop offers customers without a wallet. */
  without_wallet: Nullable(WithoutWallet),
  logo: Nullable(Exactly({ type: OneOf('image/png', 'image/jpeg', 'image/webp'), base64: Type.String() })),
})
export type Look = typeof Look.static

/** Null removes a part; a part left out stays as it is. */
export const ChangeLook = Exactly({
  accent: Type.Optional(Nullable(Text({ maxLength: 7 }))),
  privacy_url: Type.Optional(Nullable(Text({ maxLength: PRIVACY_URL_CHARS_MAX }))),
  without_wallet: Type.Optional(Nullable(WithoutWallet)),
  logo: Type.Optional(
    Nullable(Type.String({ maxLength: Math.ceil(LOGO_BYTES_MAX / 3) * 4 + 4, pattern: '^[A-Za-z0-9+/]*={0,2}$' })),
  ),
})
export type ChangeLook = typeof ChangeLook.static
