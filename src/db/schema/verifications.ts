import { sql } from 'drizzle-orm'
import {
  bytes,
  counter,
  environment,
  foreignKey,
  index,
  integer,
  oneOf,
  primaryKey,
  table,
  text,
  time,
  uniqueIndex,
} from '../columns.ts'
import { tenants } from './tenants.ts'

export const verificationSessions = table(
  'verification_sessions',
  {
    id: text('id').notNull(),
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    /** The device that created it; null for an API key. */
    deviceId: text('device_id'),
    /** A pending session past `expires_at` is shown as `expired` (verifications/end/expire.ts). */
    status: oneOf('status', 'pending', 'completed', 'failed', 'expired').notNull(),
    template: text('template'),
    templateVersion: text('template_version'),
    profile: oneOf('profile', 'haip', 'plain', 'eu-av').notNull(),
    /** Fixed at creation: the audience of the answer must not change when the certificate does. */
    clientId: text('client_id').notNull(),
    signingKeyId: text('signing_key_id').notNull(),
    nonce: text('nonce').notNull(),
    state: text('state').notNull(),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    respondedAt: time('responded_at'),
    /** Its record on the audit chain; the details there are deleted when it is erased. */
    auditSeq: integer('audit_seq').notNull(),
    /** The key of its kept 201, for a repeat. */
    idempotencyHash: text('idempotency_hash'),
    salt: bytes('salt').notNull(),
    /** JSON: webhook_url, redirect_url, metadata, purpose; null when none was given. */
    sealed: bytes('sealed'),
    /** The private key that opens the wallet's answer; null before the request is fetched and after the session ends. */
    sealedResponseKey: bytes('sealed_response_key'),
    responseCodeHash: text('response_code_hash'),
    responseCodeExpiresAt: time('response_code_expires_at'),
    redeemedAt: time('redeemed_at'),
    /** `on_redeem`: a good answer stays pending until its response code is redeemed; null completes at once. */
    release: oneOf('release', 'on_redeem'),
    /** `qr`: the answer's request was fetched through the hosted page's QR code, so its response code goes to that page. */
    answeredFrom: oneOf('answered_from', 'qr'),
    /** SHA-256 of the cookie of the browser that opened the hosted page first. */
    pageOwnerHash: text('page_owner_hash'),
    /** The wrapping key that its own key was derived from (session-keys/keys.ts). */
    wrappingKey: integer('wrapping_key').notNull(),
    /** Requests of pages through the browser, an entry for each origin; deleted like sealed_response_key. */
    sealedDcRequests: bytes('sealed_dc_requests'),
    /** The API key that created it; null for a device. */
    keyId: text('key_id'),
    /** The keyed hashes of its metadata values, one after the other: its erasure finds them by these. */
    terms: bytes('terms'),
    /** JSON: the explicit query; null for a template. Large, so it is last, and read only where it is needed. */
    sealedQuery: bytes('sealed_query'),
    /** The keys and the request for a phone; deleted like sealed_response_key. */
    sealedInPerson: bytes('sealed_in_person'),
    /** The OpenID client whose log-in it is; its page asks nobody but the browser that began it. */
    loginClientId: text('login_client_id'),
    /** 1: there is no QR code, and an answer through one counts as one through the link. */
    isSameDevice: integer('is_same_device'),
    /** Milliseconds from its end to its erasure; null leaves it to the tenant's retention. */
    eraseAfter: integer('erase_after'),
    /** Keyed hashes of the first letters of its metadata's words, one after the other; null without any. */
    beginnings: bytes('beginnings'),
    /** The first time that a wallet fetched the request. */
    fetchedAt: time('fetched_at'),
    /** JSON: each fetch with what the wallet said; null for one plain GET at fetched_at, or none. */
    sealedFetches: bytes('sealed_fetches'),
    /** The record of its expiry on the audit chain; there is one if its request was fetched. */
    expirySeq: integer('expiry_seq'),
  },
  row => [
    primaryKey({ columns: [row.id, row.tenantId] }),
    index('verification_sessions_newest').on(row.tenantId, row.environment, row.createdAt),
    index('verification_sessions_status').on(row.tenantId, row.environment, row.status, row.createdAt),
    index('verification_sessions_template').on(row.tenantId, row.environment, row.template, row.createdAt),
    index('verification_sessions_key').on(row.keyId, row.createdAt).where(sql`key_id IS NOT NULL`),
    index('verification_sessions_device').on(row.deviceId, row.createdAt).where(sql`device_id IS NOT NULL`),
    // A search reads the hashes in it, newest first, and no session but those that it finds.
    index('verification_sessions_beginnings')
      .on(row.tenantId, row.environment, row.createdAt, row.beginnings)
      .where(sql`beginnings IS NOT NULL`),
    index('verification_sessions_open').on(row.expiresAt).where(sql`status = 'pending'`),
    index('verification_sessions_erased').on(row.createdAt).where(sql`erase_after IS NOT NULL`),
    index('verification_sessions_held').on(row.respondedAt).where(sql`status = 'pending' AND responded_at IS NOT NULL`),
  ],
)

/**
 * Metadata values, as keyed hashes: a verification is found by the exact value. No foreign key: it would need an
 * index by session, and every value of every creation would pay for it. On SQLite the primary key is the table.
 */
export const verificationTerms = table(
  'verification_terms',
  {
    /** HMAC of tenant, environment and value, cut to 16 bytes. */
    term: bytes('term').notNull(),
    createdAt: time('created_at').notNull(),
    verificationId: text('verification_id').notNull(),
    tenantId: text('tenant_id').notNull(),
  },
  row => [primaryKey({ columns: [row.term, row.createdAt, row.verificationId] })],
)

export const verificationResults = table(
  'verification_results',
  {
    verificationId: text('verification_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    salt: bytes('salt').notNull(),
    /** JSON: claims, credentials, error. */
    sealed: bytes('sealed').notNull(),
    createdAt: time('created_at').notNull(),
    auditSeq: integer('audit_seq').notNull(),
  },
  row => [
    primaryKey({ columns: [row.verificationId, row.tenantId] }),
    foreignKey({
      columns: [row.verificationId, row.tenantId],
      foreignColumns: [verificationSessions.id, verificationSessions.tenantId],
    }),
  ],
)

/** The moments of a session, for its timeline. */
export const verificationEvents = table(
  'verification_events',
  {
    id: counter('id'),
    verificationId: text('verification_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    at: time('at').notNull(),
    event: text('event').notNull(),
    salt: bytes('salt').notNull(),
    sealed: bytes('sealed').notNull(),
    /** Its record on the audit chain, if any; the details there are deleted with the session. */
    auditSeq: integer('audit_seq'),
  },
  row => [
    foreignKey({
      columns: [row.verificationId, row.tenantId],
      foreignColumns: [verificationSessions.id, verificationSessions.tenantId],
    }),
    index('verification_events_session').on(row.verificationId),
    uniqueIndex('verification_events_shown').on(row.verificationId).where(sql`event = 'qr_shown'`),
  ],
)

/** A 201 kept for its repeat. After erasure the row stays without body: a tombstone, so that a repeat creates nothing. */
export const idempotencyKeys = table(
  'idempotency_keys',
  {
    /** HMAC of namespace and key. */
    hash: text('hash').primaryKey(),
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    fingerprint: text('fingerprint').notNull(),
    salt: bytes('salt'),
    sealed: bytes('sealed'),
    expiresAt: time('expires_at').notNull(),
    /** Its own key is derived from this one, which outlives the day of the row. */
    wrappingKey: integer('wrapping_key'),
  },
  row => [index('idempotency_keys_expiry').on(row.expiresAt)],
)
