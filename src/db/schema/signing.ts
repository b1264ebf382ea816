import type { RegisteredCredential } from '../../openid4vp/exchange/registration.ts'
import { bytes, index, json, oneOf, table, text, time } from '../columns.ts'
import { tenants } from './tenants.ts'

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
