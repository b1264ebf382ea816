import { sql } from 'drizzle-orm'
import {
  bytes,
  counter,
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
import { verificationSessions } from './verifications.ts'

/** An OpenID issuer of a tenant, made with its first client. */
export const oidcIssuers = table(
  'oidc_issuers',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    salt: bytes('salt').notNull(),
    /** The secret that `sub` is made with. Never replaced: that would rename everybody. */
    sealed: bytes('sealed').notNull(),
    createdAt: time('created_at').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.environment] })],
)

/** Keys that sign ID tokens, and nothing else. */
export const oidcKeys = table(
  'oidc_keys',
  {
    /** RFC 7638 thumbprint. */
    kid: text('kid').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    environment: environment(),
    alg: oneOf('alg', 'RS256', 'ES256').notNull(),
    publicJwk: json<Record<string, string>>('public_jwk').notNull(),
    salt: bytes('salt').notNull(),
    sealed: bytes('sealed').notNull(),
    useFrom: time('use_from').notNull(),
    /** Null until its successor exists. */
    useUntil: time('use_until'),
    /** The end of its publication. */
    removeAt: time('remove_at'),
  },
  row => [
    foreignKey({ columns: [row.tenantId, row.environment], foreignColumns: [oidcIssuers.tenantId, oidcIssuers.environment] }),
    index('oidc_keys_issuer').on(row.tenantId, row.environment),
  ],
)

/** Settings have the names that commands and pages show. */
export const oidcClients = table(
  'oidc_clients',
  {
    id: text('id').notNull(),
    tenantId: text('tenant_id').notNull(),
    environment: environment(),
    /** Shown to customers. */
    name: text('name').notNull(),
    redirect_uris: json<string[]>('redirect_uris').notNull(),
    /** The first is the default. */
    templates: json<string[]>('templates').notNull(),
    auth: oneOf('auth', 'client_secret', 'none').notNull(),
    id_token_alg: oneOf('id_token_alg', 'RS256', 'ES256').notNull(),
    pkce: oneOf('pkce', 'required', 'optional').notNull(),
    /** `session`, or `claim:NAME`. */
    subject: text('subject').notNull(),
    purpose: text('purpose'),
    /** 1: ID tokens have the claims about the person too. */
    id_token_claims: integer('id_token_claims').notNull(),
    cross_device: oneOf('cross_device', 'allowed', 'refused').notNull(),
    logins_per_hour: integer('logins_per_hour').notNull(),
    /** 1: results are kept like those of all other sessions. */
    keep_results: integer('keep_results').notNull(),
    createdAt: time('created_at').notNull(),
    lastLoginAt: time('last_login_at'),
    /** The last refused authorization request. */
    lastRefusal: json<{ at: number; reason: string; redirect_uri?: string }>('last_refusal'),
  },
  row => [
    primaryKey({ columns: [row.id, row.tenantId] }),
    foreignKey({ columns: [row.tenantId, row.environment], foreignColumns: [oidcIssuers.tenantId, oidcIssuers.environment] }),
    index('oidc_clients_issuer').on(row.tenantId, row.environment),
  ],
)

export const oidcClientSecrets = table(
  'oidc_client_secrets',
  {
    id: counter('id'),
    clientId: text('client_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    /** SHA-256, hex. */
    hash: text('hash').notNull(),
    /** The first 12 characters, for people. */
    prefix: text('prefix').notNull(),
    createdAt: time('created_at').notNull(),
    /** Set when a successor was made. */
    expiresAt: time('expires_at'),
  },
  row => [
    foreignKey({ columns: [row.clientId, row.tenantId], foreignColumns: [oidcClients.id, oidcClients.tenantId] }),
    index('oidc_client_secrets_client').on(row.clientId),
  ],
)

/** A log-in: the one verification that it is, and what it came to. Deleted with its verification. */
export const oidcLogins = table(
  'oidc_logins',
  {
    id: text('id').notNull(),
    tenantId: text('tenant_id').notNull(),
    verificationId: text('verification_id').notNull(),
    /** No reference: a client may be removed before its log-ins are erased. */
    clientId: text('client_id').notNull(),
    /** The client's setting at the time. */
    subject: text('subject').notNull(),
    createdAt: time('created_at').notNull(),
    /** SHA-256 of the cookie of the browser that began it. */
    browserHash: text('browser_hash').notNull(),
    salt: bytes('salt').notNull(),
    /** JSON: redirect_uri, state, nonce, template, code_challenge. Under the key of the verification. */
    sealed: bytes('sealed').notNull(),
    /** JSON: sub, and the names of what is left out. Under the key of the verification. */
    sealedSub: bytes('sealed_sub'),
    codeHash: text('code_hash'),
    codeExpiresAt: time('code_expires_at'),
    codeUsedAt: time('code_used_at'),
    tokenHash: text('token_hash'),
    tokenExpiresAt: time('token_expires_at'),
    tokenRevokedAt: time('token_revoked_at'),
    /** The browser went back to the client. */
    endedAt: time('ended_at'),
  },
  row => [
    primaryKey({ columns: [row.id, row.tenantId] }),
    foreignKey({
      columns: [row.verificationId, row.tenantId],
      foreignColumns: [verificationSessions.id, verificationSessions.tenantId],
    }),
    uniqueIndex('oidc_logins_verification').on(row.verificationId),
    uniqueIndex('oidc_logins_code').on(row.codeHash).where(sql`code_hash IS NOT NULL`),
    uniqueIndex('oidc_logins_token').on(row.tokenHash).where(sql`token_hash IS NOT NULL`),
  ],
)
