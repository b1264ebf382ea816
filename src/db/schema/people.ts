import { bytes, counter, index, integer, json, oneOf, primaryKey, table, text, time, uniqueIndex } from '../columns.ts'
import { tenants } from './tenants.ts'

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

/** Where owners get mail. A new address waits beside the one that counts until it is confirmed. */
export const mailAddresses = table(
  'mail_addresses',
  {
    id: text('id').primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => dashboardUsers.id),
    salt: bytes('salt').notNull(),
    /** JSON: the address, and the language of mail to it. */
    sealed: bytes('sealed').notNull(),
    /** SHA-256 of the token in the link that confirms it; null once it is confirmed. */
    hash: text('hash'),
    expiresAt: time('expires_at'),
  },
  row => [index('mail_addresses_user').on(row.userId), uniqueIndex('mail_addresses_hash').on(row.hash)],
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
