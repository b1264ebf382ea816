// The data model on one page. Times are integer milliseconds (UTC). `sealed` columns can be read only with the master key
// (seal.ts); a row's `salt` is deleted with it. Every row of a tenant names its tenant, and references carry it along, so that
// none can cross tenants.
import { sql } from 'drizzle-orm'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import type { RegisteredCredential } from '../openid4vp/registration.ts'
import type { Rule } from '../openid4vp/rules.ts'
import type { ListDifference } from '../trust-lists/list.ts'
import { bytes, counter, foreignKey, index, integer, json, oneOf, primaryKey, table, text, time, uniqueIndex } from './columns.ts'

const environment = () => oneOf('environment', 'test', 'live').notNull()

/** Single values of the installation: the wrapped root key, and the heartbeat: the latest time that a start must not go behind. */
export const installation = table('installation', {
  name: text('name').primaryKey(),
  value: bytes('value').notNull(),
})

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
  logo: bytes('logo'),
  logoType: oneOf('logo_type', 'image/png', 'image/jpeg', 'image/webp'),
  updatedAt: time('updated_at').notNull(),
})

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

export const templates = table(
  'templates',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    key: text('key').notNull(),
    title: text('title').notNull(),
    query: json<DcqlQuery>('query').notNull(),
    /** The profile of its requests to wallets; null leaves it to the operator. */
    profile: oneOf('profile', 'haip', 'plain', 'eu-av'),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
    /** Conditions on the merged claims; null for the default, that every asked `age_over_N` is true. */
    rules: json<Rule[]>('rules'),
    /** Shown to the holder when a creation gives no purpose. */
    purpose: text('purpose'),
    /** When its first live verification was created, which may be erased by now. */
    liveSince: time('live_since'),
  },
  row => [primaryKey({ columns: [row.tenantId, row.key] })],
)

/** The exact query and rules a template had when a verification used it, by the SHA-256 of their canonical form; never changed. */
export const templateVersions = table('template_versions', {
  hash: text('hash').primaryKey(),
  query: json<DcqlQuery>('query').notNull(),
  rules: json<Rule[]>('rules'),
})

/** The key pairs that sign request objects: one authority, and under it the leaf that wallets see. */
export const signingKeys = table(
  'signing_keys',
  {
    id: text('id').primaryKey(),
    /** A `pending` key waits for its certificate; a `reader` signs requests by ISO/IEC 18013-7 Annex C and nothing else. */
    role: oneOf('role', 'authority', 'leaf', 'pending', 'reader').notNull(),
    /** PEM, leaf first. */
    chain: text('chain').notNull(),
    clientId: text('client_id').notNull(),
    salt: bytes('salt').notNull(),
    sealed: bytes('sealed').notNull(),
    createdAt: time('created_at').notNull(),
    notAfter: time('not_after').notNull(),
    retiredAt: time('retired_at'),
    /** The shop whose own certificate it is; null for the installation's. */
    tenantId: text('tenant_id').references(() => tenants.id),
    /** New sessions take it from then on; null for at once. */
    startsAt: time('starts_at'),
  },
  row => [index('signing_keys_current').on(row.role, row.createdAt)],
)

/** A registrar's word on what may be asked for, and why; wallets get one with each request. */
export const registrationCertificates = table('registration_certificates', {
  id: text('id').primaryKey(),
  /** The shop it was issued to; null for the installation. */
  tenantId: text('tenant_id').references(() => tenants.id),
  jwt: text('jwt').notNull(),
  subject: text('subject').notNull(),
  intendedUse: text('intended_use'),
  purposes: json<{ lang: string; value: string }[]>('purposes').notNull(),
  credentials: json<RegisteredCredential[]>('credentials').notNull(),
  notBefore: time('not_before'),
  notAfter: time('not_after'),
  status: json<{ uri: string; idx: number }>('status'),
  /** The templates it is assigned to. */
  templates: json<string[]>('templates').notNull(),
  createdAt: time('created_at').notNull(),
})

/** A signed list of issuers that keeps itself current. */
export const trustSources = table('trust_sources', {
  id: text('id').primaryKey(),
  environment: environment(),
  kind: oneOf('kind', 'vical', 'etsi-xml', 'lote').notNull(),
  use: oneOf('use', 'issuers', 'relying_party').notNull(),
  label: text('label').notNull(),
  preset: text('preset'),
  /** An https address or a `file:` path; null where lists are brought by hand. */
  location: text('location'),
  /** The only types that it may name issuers for; null for those of its kind. */
  types: json<string[]>('types'),
  serviceType: text('service_type'),
  mode: oneOf('mode', 'iso', 'pkix'),
  everyMs: integer('every_ms').notNull(),
  graceMs: integer('grace_ms').notNull(),
  /** Type and territory, or the provider, of the first accepted list: later ones must have the same. */
  identity: text('identity').notNull(),
  /** The operator's own name of the accepted list. */
  name: text('name').notNull(),
  sequence: integer('sequence'),
  issuedAt: time('issued_at').notNull(),
  nextUpdate: time('next_update'),
  /** SHA-256 of the accepted bytes, and of its signer's certificate, in hex. */
  digest: text('digest').notNull(),
  signer: text('signer').notNull(),
  /** The signers that the accepted list announces, by fingerprint. */
  announced: json<string[]>('announced').notNull(),
  acceptedAt: time('accepted_at').notNull(),
  /** Entries that do not count, by reason. */
  skipped: json<Record<string, number>>('skipped').notNull(),
  /** Changes of the accepted list against the one before; null for the first one. */
  difference: json<ListDifference>('difference'),
  checkedAt: time('checked_at').notNull(),
  etag: text('etag'),
  failure: text('failure'),
  failureDetail: text('failure_detail'),
  failingSince: time('failing_since'),
  /** Failures in a row: they space out the tries. */
  failures: integer('failures').notNull(),
  dueAt: time('due_at').notNull(),
  /** The last log line that it is out of date. */
  warnedAt: time('warned_at'),
  createdAt: time('created_at').notNull(),
  /** The signer of the refused list that is not pinned, by fingerprint. */
  failureSigner: text('failure_signer'),
})

/** The certificates that may sign a source's lists. */
export const trustSourcePins = table(
  'trust_source_pins',
  {
    sourceId: text('source_id')
      .notNull()
      .references(() => trustSources.id),
    /** SHA-256 of the DER, in hex. */
    fingerprint: text('fingerprint').notNull(),
    /** PEM. */
    certificate: text('certificate'),
    addedAt: time('added_at').notNull(),
  },
  row => [primaryKey({ columns: [row.sourceId, row.fingerprint] })],
)

/** Each source's accepted list, for bundles and for a program that reads more of it. */
export const trustLists = table('trust_lists', {
  sourceId: text('source_id')
    .primaryKey()
    .references(() => trustSources.id),
  bytes: bytes('bytes').notNull(),
})

/** Certificates that are refused, whatever a list says. */
export const trustBlocks = table(
  'trust_blocks',
  {
    environment: environment(),
    fingerprint: text('fingerprint').notNull(),
    reason: text('reason').notNull(),
    createdAt: time('created_at').notNull(),
  },
  row => [primaryKey({ columns: [row.environment, row.fingerprint] })],
)

/** The installations whose bundles may bring something new. */
export const bundleSigners = table('bundle_signers', {
  fingerprint: text('fingerprint').primaryKey(),
  label: text('label').notNull(),
  /** When the newest bundle that was imported was made. */
  lastMadeAt: time('last_made_at').notNull(),
})

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
})

export const trustAnchors = table('trust_anchors', {
  id: text('id').primaryKey(),
  environment: environment(),
  label: text('label').notNull(),
  certificate: text('certificate').notNull(),
  /** `auto` judges by the type of the document. */
  mode: oneOf('mode', 'auto', 'iso', 'pkix').notNull(),
  /** The one vct or doctype it is trusted for; null for all. */
  trustedFor: text('trusted_for'),
  createdAt: time('created_at').notNull(),
  /** The effect of an unreadable revocation list (CRL); null leaves it to the mode. */
  crl: oneOf('crl', 'off', 'warn', 'require'),
  /** The list that names it; null for one that the operator added. */
  sourceId: text('source_id').references(() => trustSources.id),
  /**
   * Null counts as `both`: documents, and the status lists of these. `documents`: no status lists; `status`: status lists
   * only, of every issuer; `none`: withdrawn, for the explanation only; `relying_party`: for the operator's own papers,
   * and never for a document.
   */
  use: oneOf('use', 'both', 'documents', 'status', 'none', 'relying_party'),
  /** The operator of a list's entry, its country, and the time since which it has its status. */
  entity: text('entity'),
  country: text('country'),
  since: time('since'),
})

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

/** Wrong pairing codes by network. Networks are kept as an HMAC: an address is personal data, and only its recurrence matters. */
export const pairingGuesses = table('pairing_guesses', {
  network: text('network').primaryKey(),
  /** The latest times, no more than it takes to be locked out. */
  failedAt: json<number[]>('failed_at').notNull(),
  lockedUntil: time('locked_until').notNull(),
  forgetAt: time('forget_at').notNull(),
})

/** Networks from which somebody authenticated, to the day. */
export const knownNetworks = table('known_networks', {
  network: text('network').primaryKey(),
  seenAt: time('seen_at').notNull(),
})

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
    /** A pending session past `expires_at` is shown as `expired` (verifications/expire.ts). */
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
  },
  row => [
    primaryKey({ columns: [row.id, row.tenantId] }),
    index('verification_sessions_newest').on(row.tenantId, row.environment, row.createdAt),
    index('verification_sessions_status').on(row.tenantId, row.environment, row.status, row.createdAt),
    index('verification_sessions_template').on(row.tenantId, row.environment, row.template, row.createdAt),
    index('verification_sessions_key').on(row.keyId, row.createdAt).where(sql`key_id IS NOT NULL`),
    index('verification_sessions_device').on(row.deviceId, row.createdAt).where(sql`device_id IS NOT NULL`),
    index('verification_sessions_open').on(row.expiresAt).where(sql`status = 'pending'`),
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

/** Verifications by day and outcome: counted when they happen, kept when sessions are erased. */
export const outcomeDays = table(
  'outcome_days',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    day: text('day').notNull(),
    /** `created`, `completed`, `expired`, or the code of the failure. */
    outcome: text('outcome').notNull(),
    count: integer('count').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.environment, row.day, row.outcome] })],
)

/** Answers by day and time since the creation, in steps, for the median. */
export const answerTimeDays = table(
  'answer_time_days',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    day: text('day').notNull(),
    /** The least number of milliseconds of the step. */
    atLeastMs: integer('at_least_ms').notNull(),
    count: integer('count').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.environment, row.day, row.atLeastMs] })],
)

/** Keys outside the database, in the key directory, that the keys of verifications depend on. Turned daily. */
export const wrappingKeys = table('wrapping_keys', {
  id: integer('id').primaryKey(),
  /** Tells the right file from a wrong one, and nothing about the key. */
  fingerprint: bytes('fingerprint').notNull(),
  createdAt: time('created_at').notNull(),
  /** The newest active one is used for new verifications; null until all nodes had time to read its file. */
  activeAt: time('active_at'),
  /** A node could not read its file, so it does not become active. */
  unreadableAt: time('unreadable_at'),
  /** No verification needs it any more; the file is destroyed when the window has passed. */
  retiredAt: time('retired_at'),
})

/** The keys of verifications that are older than the newest wrapping key, each wrapped under it. */
export const sessionKeys = table(
  'session_keys',
  {
    verificationId: text('verification_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    wrappingKey: integer('wrapping_key').notNull(),
    wrapped: bytes('wrapped').notNull(),
  },
  row => [
    primaryKey({ columns: [row.verificationId, row.tenantId] }),
    foreignKey({
      columns: [row.verificationId, row.tenantId],
      foreignColumns: [verificationSessions.id, verificationSessions.tenantId],
    }),
  ],
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
    /** An HMAC of the receiver's origin: deliveries to one receiver wait in one lane, so that a dead one holds up nobody else. */
    lane: text('lane').notNull(),
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
    index('webhook_deliveries_lane').on(row.lane, row.tenantId, row.dueAt).where(sql`status = 'pending'`),
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

export const usageDays = table(
  'usage_days',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    day: text('day').notNull(),
    verificationsCreated: integer('verifications_created').notNull(),
    /** The time of the day's newest creation: the next one is later, on whichever node. */
    newestAt: time('newest_at').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.day] })],
)

/** The chain holds salted commitments only. Details and salt sit beside it and go when the subject is erased; the chain still verifies. */
export const auditRecords = table('audit_records', {
  seq: integer('seq').primaryKey(),
  at: time('at').notNull(),
  tenantId: text('tenant_id').notNull(),
  actor: text('actor').notNull(),
  action: text('action').notNull(),
  /** HMAC of the subject's id: after erasure nothing in the chain leads back to it. */
  subject: text('subject').notNull(),
  commitment: text('commitment').notNull(),
  previous: text('previous').notNull(),
  hash: text('hash').notNull(),
  salt: bytes('salt'),
  sealed: bytes('sealed'),
  /** The verification whose key its details need; they go together. */
  sessionId: text('session_id'),
  wrappingKey: integer('wrapping_key'),
})

export const auditCheckpoints = table('audit_checkpoints', {
  seq: integer('seq').primaryKey(),
  at: time('at').notNull(),
  hash: text('hash').notNull(),
  /** Ed25519 over the checkpoint's text (audit/chain.ts). */
  signature: text('signature').notNull(),
})

/** People who use the dashboard. */
export const dashboardUsers = table(
  'dashboard_users',
  {
    id: text('id').primaryKey(),
    /** Lower case. */
    name: text('name').notNull(),
    /** The one tenant they see; null for an owner of the installation, who sees all. */
    memberOf: text('member_of').references(() => tenants.id),
    /** Argon2id; null until an invited user has chosen one. */
    password: text('password'),
    createdAt: time('created_at').notNull(),
    lastLoginAt: time('last_login_at'),
    /** A viewer changes nothing and sees no claims. An owner's is not read. */
    role: oneOf('role', 'member', 'viewer').notNull(),
    /** The secret of one-time codes; null without them. */
    totpSalt: bytes('totp_salt'),
    totpSealed: bytes('totp_sealed'),
    /** Null until the first code was right. */
    totpSince: time('totp_since'),
    /** The time step of the last code that was taken: none is taken twice. */
    totpStep: integer('totp_step'),
  },
  row => [uniqueIndex('dashboard_users_name').on(row.name)],
)

/** Passkeys of users (WebAuthn). */
export const dashboardPasskeys = table(
  'dashboard_passkeys',
  {
    /** The credential's id, base64url. */
    id: text('id').primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => dashboardUsers.id),
    label: text('label').notNull(),
    /** COSE. */
    publicKey: bytes('public_key').notNull(),
    /** The authenticator's count of signatures; 0 where it has none. */
    signatures: integer('signatures').notNull(),
    transports: json<string[]>('transports').notNull(),
    createdAt: time('created_at').notNull(),
    lastUsedAt: time('last_used_at'),
  },
  row => [index('dashboard_passkeys_user').on(row.userId)],
)

/** Codes for somebody who lost the second factor. Used ones are deleted. */
export const recoveryCodes = table(
  'recovery_codes',
  {
    /** HMAC of the user and the code. */
    hash: text('hash').primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => dashboardUsers.id),
    createdAt: time('created_at').notNull(),
  },
  row => [index('recovery_codes_user').on(row.userId)],
)

/** Half a sign-in, or a question to a passkey, that waits for its answer. */
export const loginChallenges = table(
  'login_challenges',
  {
    /** SHA-256 of the ticket that the browser holds. */
    hash: text('hash').primaryKey(),
    purpose: oneOf('purpose', 'second_factor', 'passkey_sign_in', 'passkey_add', 'confirm').notNull(),
    /** Null while a passkey alone signs in. */
    userId: text('user_id').references(() => dashboardUsers.id),
    /** The text that a passkey has to sign, base64url. */
    challenge: text('challenge').notNull(),
    failures: integer('failures').notNull(),
    expiresAt: time('expires_at').notNull(),
  },
  row => [index('login_challenges_user').on(row.userId), index('login_challenges_expiry').on(row.expiresAt)],
)

/** Sign-ins and failed ones, for the page Security. */
export const signIns = table(
  'sign_ins',
  {
    id: counter('id'),
    at: time('at').notNull(),
    /** Null where no user has the name. */
    userId: text('user_id'),
    outcome: text('outcome').notNull(),
    salt: bytes('salt').notNull(),
    /** JSON: the name as it was typed, method, network (/24, /48), browser. */
    sealed: bytes('sealed').notNull(),
  },
  row => [index('sign_ins_user').on(row.userId, row.at), index('sign_ins_at').on(row.at)],
)

/** One-time links: for the set-up, while there is no user, and for a user to choose a password. Used ones are deleted. */
export const dashboardLinks = table(
  'dashboard_links',
  {
    /** SHA-256 of the token. */
    hash: text('hash').primaryKey(),
    /** Null for the set-up. */
    userId: text('user_id').references(() => dashboardUsers.id),
    expiresAt: time('expires_at').notNull(),
  },
  row => [index('dashboard_links_user').on(row.userId)],
)

export const dashboardSessions = table(
  'dashboard_sessions',
  {
    /** SHA-256 of the cookie. */
    hash: text('hash').primaryKey(),
    /** A name for lists, which opens nothing. */
    id: text('id').notNull(),
    userId: text('user_id')
      .notNull()
      .references(() => dashboardUsers.id),
    agent: text('agent').notNull(),
    createdAt: time('created_at').notNull(),
    /** To the minute. */
    seenAt: time('seen_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    /** When the password was last given. */
    authenticatedAt: time('authenticated_at').notNull(),
  },
  row => [uniqueIndex('dashboard_sessions_id').on(row.id), index('dashboard_sessions_user').on(row.userId)],
)

/** Networks where a user has logged in before, as HMACs: wrong passwords from elsewhere do not delay the user there. */
export const dashboardNetworks = table(
  'dashboard_networks',
  {
    userId: text('user_id')
      .notNull()
      .references(() => dashboardUsers.id),
    network: text('network').notNull(),
    seenAt: time('seen_at').notNull(),
  },
  row => [primaryKey({ columns: [row.userId, row.network] })],
)

/** Wrong passwords by account, whether it exists or not, and by where they come from: a known browser, a session, a network where the user is known; all other networks are one. */
export const loginFailures = table(
  'login_failures',
  {
    /** HMAC of the name as it was typed. */
    account: text('account').notNull(),
    network: text('network').notNull(),
    failures: integer('failures').notNull(),
    notBefore: time('not_before').notNull(),
    forgetAt: time('forget_at').notNull(),
  },
  row => [primaryKey({ columns: [row.account, row.network] }), index('login_failures_forget').on(row.forgetAt)],
)
