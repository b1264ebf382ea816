// Keys, devices, templates, trust and the audit chain.
import { Type } from '@sinclair/typebox'
import { EXPIRY_DAYS } from '../access/keys.ts'
import { Device } from '../devices/schema.ts'
import { CHECKS } from '../doctor/check.ts'
import type { Found } from '../doctor/examine.ts'
import { PlainText, QueryInteger, Text, Timestamp } from '../http/schema.ts'
import { Environment, Exactly, Limit, ListOf, Nullable, OneOf } from '../http/wire.ts'
import { DOCUMENTS } from '../templates/catalogue.ts'
import { Template as ListedTemplate, Rule, TemplateKey, TemplatePurpose, TemplateTitle } from '../templates/schema.ts'
import { ANCHOR_USES } from '../trust/settings.ts'
import { FindingOf } from './finding-schema.ts'
import { LABEL_CHARS_MAX } from './schema.ts'

const PEM_CHARS_MAX = 60_000
const Pem = Text({ minLength: 1, maxLength: PEM_CHARS_MAX })
const Label = PlainText({ maxLength: LABEL_CHARS_MAX })

const Scope = OneOf('verifications:create', 'verifications:read', 'verifications:delete', 'devices:manage')

export const ApiKey = Exactly({
  id: Type.String(),
  /** The first 12 characters. */
  prefix: Type.String(),
  environment: Environment,
  label: Type.String(),
  scopes: Type.Array(Scope),
  status: OneOf('active', 'expired', 'revoked'),
  created_at: Timestamp,
  expires_at: Nullable(Timestamp),
  /** Rounded down to the hour; null before the first use. */
  last_used_at: Nullable(Timestamp),
  revoked_at: Nullable(Timestamp),
})
export type ApiKey = typeof ApiKey.static
export const ApiKeyList = ListOf(ApiKey)

export const CreateKey = Exactly({
  environment: Environment,
  scopes: Type.Array(Scope, { minItems: 1, maxItems: 4, uniqueItems: true }),
  label: Type.Optional(Label),
  /** Null never expires. */
  expires_days: Nullable(Type.Union(EXPIRY_DAYS.map(days => Type.Literal(days)))),
})
export type CreateKey = typeof CreateKey.static
export const RollKey = Exactly({ old_expires: OneOf('now', '1h', '24h', '7d') })
/** The only response with the key itself. */
export const MintedKey = Exactly({ key: Type.String(), api_key: ApiKey })

export const PairableDevice = Exactly({
  device: Device,
  pairing_code: Type.String(),
  /** The text of a QR code, which opens the till's page with the code filled in. */
  pairing_url: Type.String(),
})
export type PairableDevice = typeof PairableDevice.static

/** Networks from which no pairing code is looked at. */
export const PairingLockList = ListOf(Exactly({ id: Type.String(), locked_until: Timestamp }))
export type PairingLockList = typeof PairingLockList.static

/** One credential of a query, with the names of merged claims. */
const Asked = Exactly({
  credential: Type.String(),
  format: OneOf('mso_mdoc', 'dc+sd-jwt'),
  types: Type.Array(Type.String()),
  /** Empty when the query names none: then the wallet sends everything that it cannot withhold. */
  claims: Type.Array(Type.String()),
})

/** A place where the query could ask for less. `claim` is the merged name. */
export const Hint = Exactly({
  code: OneOf('age_instead_of_birthdate', 'portrait', 'identifier', 'many_claims', 'whole_document', 'retained'),
  credential: Type.String(),
  claim: Type.Optional(Type.String()),
})
export type Hint = typeof Hint.static

const Query = Type.Record(Type.String(), Type.Unknown())
const Profile = OneOf('haip', 'plain', 'eu-av')
export const Localized = Exactly({ en: Type.String(), de: Type.String() })

export const Template = Exactly({
  ...ListedTemplate.properties,
  /** Shown to the holder when a verification gives none. */
  purpose: Nullable(Type.String()),
  /** Null for the operator's default. */
  profile: Nullable(Profile),
  query: Query,
  localized: Exactly({ title: Localized, purpose: Nullable(Localized) }),
  /** Null for the default. */
  saved_rules: Nullable(Type.Array(Rule)),
  asks: Type.Array(Asked),
  hints: Type.Array(Hint),
  /** The age in years that a built-in template proves. */
  age_over: Nullable(Type.Integer()),
  updated_at: Nullable(Timestamp),
})
export type Template = typeof Template.static
export const TemplateList = ListOf(Template)

export const TemplatePath = Type.Object({
  tenant: Type.String({ minLength: 1, maxLength: 64 }),
  key: TemplateKey,
})
export const SaveTemplate = Exactly({
  title: TemplateTitle,
  query: Query,
  /** Checked by templates/rules.ts, which gives the reason; null or absent for the default. */
  rules: Type.Optional(Type.Unknown()),
  purpose: Type.Optional(Nullable(TemplatePurpose)),
  profile: Type.Optional(Nullable(Profile)),
  /** `updated_at` of the template that was edited, null for a new one; absent saves over anything. */
  seen_at: Type.Optional(Nullable(Timestamp)),
})
export type SaveTemplate = typeof SaveTemplate.static

const DocumentKey = OneOf(...DOCUMENTS)
const ClaimNames = (charsMax = 64) => Type.Array(Text({ minLength: 1, maxLength: charsMax }), { maxItems: 50, uniqueItems: true })

/** Documents and claims that the builder offers. */
export const Catalogue = Exactly({
  documents: Type.Array(
    Exactly({
      key: DocumentKey,
      /** Doctypes and vcts. */
      types: Type.Array(Type.String()),
      /** Merged names, without ages. */
      claims: Type.Array(Type.String()),
      /** True if the document can prove any age. */
      ages: Type.Boolean(),
    }),
  ),
})
export type Catalogue = typeof Catalogue.static

export const Choice = Exactly({
  documents: Type.Array(DocumentKey, { maxItems: DOCUMENTS.length, uniqueItems: true }),
  claims: ClaimNames(),
})
export type Choice = typeof Choice.static

export const BuiltQuery = Exactly({
  /** Null while no chosen document has all chosen claims. */
  query: Nullable(Query),
  left_out: Type.Array(Exactly({ document: DocumentKey, claims: Type.Array(Type.String()) })),
})
export type BuiltQuery = typeof BuiltQuery.static

/** Tills and verifications that use a template. */
export const TemplateUse = Exactly({
  devices: Type.Array(Exactly({ id: Type.String(), name: Type.String(), environment: Environment })),
  /** Latest use in each environment, by verifications that still exist. */
  last_used_at: Exactly({ test: Nullable(Timestamp), live: Nullable(Timestamp) }),
})
export type TemplateUse = typeof TemplateUse.static

export const CheckTemplate = Exactly({ query: Type.Unknown(), rules: Type.Optional(Type.Unknown()) })
export type CheckTemplate = typeof CheckTemplate.static
const TemplateProblem = Exactly({ path: Type.String(), reason: Type.String() })
/** Each problem is the first one found; its path is relative to the query or the rules. */
export const TemplateCheck = Exactly({
  problem: Nullable(TemplateProblem),
  rules_problem: Nullable(TemplateProblem),
  effective_rules: Type.Array(Rule),
  asks: Type.Array(Asked),
  hints: Type.Array(Hint),
  /** The query as the builder expresses it; null when it cannot. */
  choice: Nullable(Choice),
})
export type TemplateCheck = typeof TemplateCheck.static

export const TrustAnchor = Exactly({
  id: Type.String(),
  environment: Environment,
  label: Type.String(),
  mode: OneOf('auto', 'iso', 'pkix'),
  /** The effect of an unreadable revocation list; null for the mode's default. */
  crl: Type.Union([OneOf('off', 'warn', 'require'), Type.Null()]),
  /** The one document type it is trusted for; null for all. */
  trusted_for: Nullable(Type.String()),
  subject: Type.String(),
  issuer: Type.String(),
  not_before: Timestamp,
  not_after: Timestamp,
  fingerprint_sha256: Type.String(),
  created_at: Timestamp,
  /** The list that names it; null for one that the operator added. */
  source: Nullable(Type.String()),
  /**
   * `both`: for documents and their status lists. `documents`: for no status list. `status`: for status lists only, of
   * every issuer. `none`: withdrawn. `relying_party`: for the operator's own papers.
   */
  use: OneOf('both', 'documents', 'status', 'none', 'relying_party'),
  entity: Nullable(Type.String()),
  country: Nullable(Type.String()),
})
export type TrustAnchor = typeof TrustAnchor.static
export const TrustAnchorList = ListOf(TrustAnchor)

/** Every certificate in `pem` becomes an anchor. */
export const AddTrust = Exactly({
  environment: Environment,
  pem: Pem,
  label: Type.Optional(PlainText({ minLength: 1, maxLength: LABEL_CHARS_MAX })),
  trusted_for: Type.Optional(Text({ minLength: 1, maxLength: 300 })),
  mode: Type.Optional(OneOf('iso', 'pkix')),
  crl: Type.Optional(OneOf('off', 'warn', 'require')),
  use: Type.Optional(OneOf(...ANCHOR_USES)),
})
export type AddTrust = typeof AddTrust.static

/** Settings from the environment of the service. */
export const Installation = Exactly({
  version: Type.String(),
  public_url: Type.String(),
  /** `local`: this machine only. `plain`: without TLS. */
  address: OneOf('local', 'plain', 'secure'),
  /** Some shop has a live key: what is not set up is missing then. */
  has_live_keys: Type.Boolean(),
  wallet_profile: OneOf('haip', 'plain'),
  wallet_scheme: Type.String(),
  client_id_prefix: OneOf('x509_hash', 'x509_san_dns'),
  has_registration_certificate: Type.Boolean(),
  egress_allow: Type.Array(Type.String()),
  webhook_delays_ms: Type.Array(Type.Integer()),
})
export type Installation = typeof Installation.static

/** The report of `vidimus doctor`. */
export const Health = Exactly({
  checked_at: Timestamp,
  checks: Type.Array(
    Exactly({
      name: OneOf(...CHECKS),
      /** `not_set_up`: neither in order nor wrong. */
      status: OneOf('ok', 'not_set_up', 'warning', 'problem'),
      ...FindingOf<Found>().properties,
    }),
  ),
})
export type Health = typeof Health.static

export const AuditFilter = Exactly({
  before: Type.Optional(
    QueryInteger({ minimum: 1, maximum: 999_999_999, default: 999_999_999, description: 'Only records before this one.' }),
  ),
  limit: Limit,
})

export const AuditRecord = Exactly({
  seq: Type.Integer(),
  at: Timestamp,
  tenant: Nullable(Type.String()),
  actor: Type.String(),
  /** Label of the API key that acted; absent without one. */
  actor_label: Type.Optional(Type.String()),
  action: Type.String(),
  /** Null once the subject is erased. */
  details: Nullable(Type.Record(Type.String(), Type.Unknown())),
  hash: Type.String(),
})
export type AuditRecord = typeof AuditRecord.static

export const AuditPage = Exactly({
  data: Type.Array(AuditRecord),
  /** The `before` of the next page, which may be short or empty; null when there is nothing older. */
  next_before: Nullable(Type.Integer()),
})

export const AuditVerification = Exactly({
  state: OneOf('never', 'running', 'done'),
  started_at: Type.Optional(Timestamp),
  verdict: Type.Optional(
    Exactly({
      ok: Type.Boolean(),
      count: Type.Integer(),
      head: Type.String(),
      signed_to: Type.Integer(),
      public_key: Type.String(),
      broken_at: Type.Optional(Type.Integer()),
      problem: Type.Optional(Type.String()),
    }),
  ),
})
export type AuditVerification = typeof AuditVerification.static
