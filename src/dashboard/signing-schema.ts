// The certificates that wallets see.
import { Type } from '@sinclair/typebox'
import { Text, Timestamp } from '../http/schema.ts'
import { Exactly, ListOf, Nullable } from '../http/wire.ts'

const PEM_CHARS_MAX = 60_000
const SUBJECT_CHARS_MAX = 500
const Pem = Text({ minLength: 1, maxLength: PEM_CHARS_MAX })
const TenantId = Type.String({ minLength: 1, maxLength: 64 })
/** The tenant whose own certificate it is about; absent for the installation's. */
const ForTenant = Type.Optional(TenantId)

const Certificate = {
  client_id: Type.String(),
  subject: Type.String(),
  issuer: Type.String(),
  not_before: Timestamp,
  not_after: Timestamp,
  /** PEM, leaf first. */
  chain: Type.String(),
}

export const Signing = Exactly({
  tenant: Nullable(Type.String()),
  /** False for a tenant that uses the certificate of the installation. */
  is_own: Type.Boolean(),
  ...Certificate,
  days_left: Type.Integer(),
  expires_soon: Type.Boolean(),
  is_self_made: Type.Boolean(),
  /** PEM of the root to hand to wallets; null for an imported chain. */
  authority: Nullable(Type.String()),
  /** The certificate that new sessions use from `starts_at` on. */
  next: Nullable(Exactly({ ...Certificate, starts_at: Timestamp })),
  /** When the key was made that waits for its certificate. */
  pending_since: Nullable(Timestamp),
})
export type Signing = typeof Signing.static
export const SigningList = ListOf(Signing)

export const SigningOwner = Exactly({ tenant: ForTenant })
export const SigningRequest = Exactly({ csr: Type.String() })
export const NewSigningKey = Exactly({
  /** A distinguished name. */
  subject: Type.Optional(Text({ minLength: 1, maxLength: SUBJECT_CHARS_MAX })),
  tenant: ForTenant,
})
export type NewSigningKey = typeof NewSigningKey.static
export const ImportSigning = Exactly({
  chain: Pem,
  key: Type.Optional(Pem),
  /** New sessions use it from then on. */
  from: Type.Optional(Timestamp),
  tenant: ForTenant,
})
export type ImportSigning = typeof ImportSigning.static
/** `notes`: sentences on what was left out, and what wallets may not like. */
export const ImportedSigning = Exactly({ ...Signing.properties, notes: Type.Array(Type.String()) })
export type ImportedSigning = typeof ImportedSigning.static
