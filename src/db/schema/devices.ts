import { sql } from 'drizzle-orm'
import {
  bytes,
  environment,
  foreignKey,
  index,
  integer,
  json,
  oneOf,
  primaryKey,
  table,
  text,
  time,
  uniqueIndex,
} from '../columns.ts'
import { tenants } from './tenants.ts'

export const devices = table(
  'devices',
  {
    id: text('id').notNull(),
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    name: text('name').notNull(),
    status: oneOf('status', 'pending', 'active', 'revoked').notNull(),
    allowedTemplates: json<string[]>('allowed_templates').notNull(),
    pairingExpiresAt: time('pairing_expires_at').notNull(),
    createdAt: time('created_at').notNull(),
    enrolledAt: time('enrolled_at'),
    lastSeenAt: time('last_seen_at'),
    revokedAt: time('revoked_at'),
    /** How its page asks phones; null for every way that there is. */
    ways: json<('qr' | 'in_person' | 'dc_api')[]>('ways'),
  },
  row => [
    primaryKey({ columns: [row.id, row.tenantId] }),
    index('devices_tenant').on(row.tenantId, row.environment, row.createdAt),
  ],
)

/**
 * All that a device can spend. The pairing code is generation 0; whoever spends a code or refresh token gets the pair of the next
 * generation. What is spent stays, so that its second use is known.
 */
export const deviceTokens = table(
  'device_tokens',
  {
    /** SHA-256 of a token; of a pairing code, which is short, an HMAC under a key outside the database. */
    hash: text('hash').primaryKey(),
    deviceId: text('device_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    kind: oneOf('kind', 'pairing', 'access', 'refresh').notNull(),
    generation: integer('generation').notNull(),
    expiresAt: time('expires_at').notNull(),
    /** No refresh goes beyond: counted from the enrolment. Null for a pairing code. */
    familyExpiresAt: time('family_expires_at'),
    spentAt: time('spent_at'),
    /** The first use of an access token; of a refresh token the second one, for which its device was revoked. */
    usedAt: time('used_at'),
    revokedAt: time('revoked_at'),
    /** The pair this one was spent for, readable only with the secret itself; gone as soon as that pair is used. */
    replaySealed: bytes('replay_sealed'),
  },
  row => [
    foreignKey({ columns: [row.deviceId, row.tenantId], foreignColumns: [devices.id, devices.tenantId] }),
    uniqueIndex('device_tokens_device').on(row.deviceId, row.generation, row.kind),
    index('device_tokens_expiry').on(row.expiresAt),
    index('device_tokens_live_codes').on(row.expiresAt).where(sql`kind = 'pairing' AND spent_at IS NULL AND revoked_at IS NULL`),
  ],
)
