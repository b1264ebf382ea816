import { environment, index, json, table, text, time, uniqueIndex } from '../columns.ts'
import { tenants } from './tenants.ts'

export const apiKeys = table(
  'api_keys',
  {
    id: text('id').primaryKey(),
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    /** SHA-256 of the whole key, hex. */
    hash: text('hash').notNull(),
    /** The first 12 characters, for people. */
    prefix: text('prefix').notNull(),
    label: text('label').notNull(),
    scopes: json<string[]>('scopes').notNull(),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at'),
    revokedAt: time('revoked_at'),
    /** The key that replaced it when it was rolled. */
    successorId: text('successor_id'),
    /** To the hour. */
    lastUsedAt: time('last_used_at'),
  },
  row => [uniqueIndex('api_keys_hash').on(row.hash), index('api_keys_tenant').on(row.tenantId)],
)
