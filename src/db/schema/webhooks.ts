import { sql } from 'drizzle-orm'
import { bytes, counter, environment, foreignKey, index, integer, oneOf, primaryKey, table, text, time } from '../columns.ts'
import { tenants } from './tenants.ts'
import { verificationSessions } from './verifications.ts'

/** The newest of an environment signs first; a retired one signs beside it until `valid_until`. */
export const webhookSecrets = table(
  'webhook_secrets',
  {
    id: counter('id'),
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    salt: bytes('salt').notNull(),
    sealed: bytes('sealed').notNull(),
    createdAt: time('created_at').notNull(),
    validUntil: time('valid_until'),
    environment: environment(),
  },
  row => [index('webhook_secrets_tenant').on(row.tenantId)],
)

/** The receiver of results whose sessions were created without a `webhook_url`. */
export const webhookEndpoints = table(
  'webhook_endpoints',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    salt: bytes('salt').notNull(),
    /** The URL. */
    sealed: bytes('sealed').notNull(),
    createdAt: time('created_at').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.environment] })],
)

/** The outbox: a row per message owed to a merchant. */
export const webhookDeliveries = table(
  'webhook_deliveries',
  {
    id: text('id').notNull(),
    tenantId: text('tenant_id').notNull(),
    verificationId: text('verification_id').notNull(),
    type: oneOf('type', 'verification.completed', 'verification.failed').notNull(),
    status: oneOf('status', 'pending', 'delivered', 'failed', 'cancelled').notNull(),
    /** Attempts that came to an end. */
    attempts: integer('attempts').notNull(),
    dueAt: time('due_at').notNull(),
    /** Set while an attempt is under way. */
    leaseUntil: time('lease_until'),
    createdAt: time('created_at').notNull(),
    /** An HMAC of the receiver's origin: deliveries to one receiver wait for each other, so that a dead one holds up nobody else. */
    receiver: text('receiver').notNull(),
    /** The HTTP request that made it due: the wallet's answer, or a replay after it. */
    requestId: text('request_id'),
    /** The environment of its session. */
    environment: environment(),
    /** The node that holds the lease. */
    leasedBy: text('leased_by'),
  },
  row => [
    primaryKey({ columns: [row.id, row.tenantId] }),
    foreignKey({
      columns: [row.verificationId, row.tenantId],
      foreignColumns: [verificationSessions.id, verificationSessions.tenantId],
    }),
    index('webhook_deliveries_session').on(row.verificationId),
    index('webhook_deliveries_receiver').on(row.receiver, row.tenantId, row.dueAt).where(sql`status = 'pending'`),
    index('webhook_deliveries_newest').on(row.tenantId, row.environment, row.createdAt),
    index('webhook_deliveries_failing').on(row.tenantId, row.dueAt).where(sql`attempts > 0 AND status IN ('pending', 'failed')`),
  ],
)

export const webhookAttempts = table(
  'webhook_attempts',
  {
    id: counter('id'),
    deliveryId: text('delivery_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    attempt: integer('attempt').notNull(),
    at: time('at').notNull(),
    outcome: text('outcome').notNull(),
    httpStatus: integer('http_status'),
    durationMs: integer('duration_ms').notNull(),
    salt: bytes('salt').notNull(),
    /** JSON: the address that was called, and the first 4 KiB of the answer. */
    sealed: bytes('sealed').notNull(),
  },
  row => [
    foreignKey({
      columns: [row.deliveryId, row.tenantId],
      foreignColumns: [webhookDeliveries.id, webhookDeliveries.tenantId],
    }),
    index('webhook_attempts_delivery').on(row.deliveryId),
  ],
)
