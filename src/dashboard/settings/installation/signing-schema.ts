// The certificates that wallets see, and the registration certificates that requests carry.
import { Type } from '@sinclair/typebox'
import { Text, Timestamp } from '../../../http/schema.ts'
import { Exactly, ListOf, Nullable } from '../../../http/wire.ts'
import type { ImportNote } from '../../../signing/import.ts'
import type { RegistrationNote } from '../../../signing/registrations.ts'
import type { RefusalReason } from '../../../words/signing.ts'
import { FindingOf } from '../../finding-schema.ts'

/** `reason` is the message for pages in another language; absent when the request itself is malformed. */
export const Refused = Exactly({
  error: Exactly({
    code: Type.String(),
    message: Type.String(),
    reason: Type.Optional(FindingOf<RefusalReason>()),
  }),
})

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

/** Signs requests to the wallets of iPhones, and nothing else. */
const ReaderCertificate = Exactly({
  tenant: Nullable(Type.String()),
  fingerprint: Type.String(),
  subject: Type.String(),
  issuer: Type.String(),
  not_before: Timestamp,
  not_after: Timestamp,
  days_left: Type.Integer(),
  expires_soon: Type.Boolean(),
})
export type ReaderCertificate = typeof ReaderCertificate.static

/** The certificate of the installation, and the reader certificates of all shops. */
export const InstallationSigning = Exactly({ ...Signing.properties, readers: Type.Array(ReaderCertificate) })
export type InstallationSigning = typeof InstallationSigning.static

export const SigningList = ListOf(Signing)

export const SigningOwner = Exactly({ tenant: ForTenant })
export const RemoveSigning = Exactly({ tenant: TenantId })
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
/** `notes`: what was left out, and what wallets may not like. */
export const ImportedSigning = Exactly({ ...Signing.properties, notes: Type.Array(FindingOf<ImportNote>()) })
export type ImportedSigning = typeof ImportedSigning.static

const REGISTRATION_CHARS_MAX = 60_000
const TEMPLATES_MAX = 50

export const Registration = Exactly({
  id: Type.String(),
  /** The shop it was issued to; null for the installation. */
  tenant: Nullable(Type.String()),
  /** Identifier of the organisation. */
  subject: Type.String(),
  intended_use: Nullable(Type.String()),
  purposes: Type.Array(Exactly({ lang: Type.String(), value: Type.String() })),
  credentials: Type.Array(
    Exactly({
      format: Type.String(),
      types: Type.Array(Type.String()),
      /** Empty for every claim. */
      claims: Type.Array(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Null()]))),
    }),
  ),
  templates: Type.Array(Type.String()),
  is_current: Type.Boolean(),
  expires_soon: Type.Boolean(),
  not_before: Nullable(Timestamp),
  not_after: Nullable(Timestamp),
  created_at: Timestamp,
})
export type Registration = typeof Registration.static
export const RegistrationList = ListOf(Registration)

export const AddRegistration = Exactly({
  /** The JWT, or the JSON document around it. */
  certificate: Text({ minLength: 1, maxLength: REGISTRATION_CHARS_MAX }),
  templates: Type.Optional(Type.Array(Text({ minLength: 1, maxLength: 64 }), { maxItems: TEMPLATES_MAX })),
  tenant: ForTenant,
})
export type AddRegistration = typeof AddRegistration.static
export const AddedRegistration = Exactly({ ...Registration.properties, notes: Type.Array(FindingOf<RegistrationNote>()) })
export type AddedRegistration = typeof AddedRegistration.static
