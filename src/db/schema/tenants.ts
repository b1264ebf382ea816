import type { Language } from '../../words/languages.ts'
import { bytes, environment, integer, json, oneOf, primaryKey, table, text, time } from '../columns.ts'

export const tenants = table('tenants', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  plan: oneOf('plan', 'trial', 'standard', 'large').notNull(),
  /** Overrides the plan's; 0 refuses every creation. */
  dailyQuota: integer('daily_quota'),
  /** Sessions are erased this many days after they end; null keeps them. */
  retentionDays: integer('retention_days'),
  createdAt: time('created_at').notNull(),
  /** Schemes of the tenant's own apps that a `redirect_url` may have; null for none. */
  appSchemes: json<string[]>('app_schemes'),
})

/** The look of a shop's pages for its customers. */
export const tenantLooks = table('tenant_looks', {
  tenantId: text('tenant_id')
    .primaryKey()
    .references(() => tenants.id),
  /** `#rrggbb`. */
  accent: text('accent'),
  privacyUrl: text('privacy_url'),
  /** For customers without a wallet, by language. */
  withoutWallet: json<Partial<Record<Language, string>>>('without_wallet'),
  logo: bytes('logo'),
  logoType: oneOf('logo_type', 'image/png', 'image/jpeg', 'image/webp'),
  updatedAt: time('updated_at').notNull(),
})

/** The web origins, and apps, that may ask for a tenant's sessions through the browser. */
export const tenantOrigins = table(
  'tenant_origins',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    origin: text('origin').notNull(),
    createdAt: time('created_at').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.environment, row.origin] })],
)

/** A shop's way to its first live verification. */
export const goLive = table('go_live', {
  tenantId: text('tenant_id')
    .primaryKey()
    .references(() => tenants.id),
  /** The kinds of documents it wants to accept. */
  documents: json<string[]>('documents').notNull(),
  /** The first completed test session with a document of a foreign issuer, and the first live one. */
  firstTestAt: time('first_test_at'),
  firstLiveAt: time('first_live_at'),
  /** When somebody decided how long results are kept: nobody keeps them for ever by accident. */
  retentionChosenAt: time('retention_chosen_at'),
})
