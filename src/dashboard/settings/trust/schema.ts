// Lists of issuers, their signers, single issuers, and blocked certificates.
import { Type } from '@sinclair/typebox'
import { PlainText, Text, Timestamp } from '../../../http/schema.ts'
import { Environment, Exactly, ListOf, Nullable, OneOf } from '../../../http/wire.ts'
import { ANCHOR_USES } from '../../../trust/settings.ts'
import { LIST_KINDS } from '../../../trust-lists/list.ts'
import { LABEL_CHARS_MAX } from '../../schema.ts'

const PEM_CHARS_MAX = 60_000
const Pem = Text({ minLength: 1, maxLength: PEM_CHARS_MAX })

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

const LIST_BYTES_MAX = 4 * 1024 * 1024
/** A list as base64, and the rest of its body. */
export const LIST_BODY_BYTES_MAX = 6 * 1024 * 1024

const Kind = OneOf(...LIST_KINDS)
const Use = OneOf('issuers', 'relying_party')
const Fingerprint = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Counts = Type.Record(Type.String(), Type.Integer())
const Named = Exactly({ name: Type.String(), fingerprint: Type.String() })

/** The page has a sentence for each code; the message is the one of the command line. */
const Refused = Exactly({ code: Type.String(), message: Type.String() })

export const TrustSource = Exactly({
  id: Type.String(),
  environment: Environment,
  kind: Kind,
  use: Use,
  label: Type.String(),
  preset: Nullable(Type.String()),
  /** Null where lists are brought by hand. */
  location: Nullable(Type.String()),
  types: Nullable(Type.Array(Type.String())),
  /** The types that its accepted list names issuers for. */
  counts_for: Type.Array(Type.String()),
  service_type: Nullable(Type.String()),
  mode: Nullable(OneOf('iso', 'pkix')),
  every_seconds: Type.Number(),
  grace_seconds: Type.Number(),
  name: Type.String(),
  state: OneOf('fresh', 'stale', 'ended'),
  sequence: Nullable(Type.Integer()),
  issued_at: Timestamp,
  next_update: Timestamp,
  ends_at: Timestamp,
  digest: Type.String(),
  signer: Fingerprint,
  accepted_at: Timestamp,
  entries: Type.Integer(),
  withdrawn: Type.Integer(),
  /** Skipped entries, counted by reason. */
  skipped: Counts,
  difference: Nullable(
    Exactly({
      added: Type.Array(Named),
      removed: Type.Array(Named),
      added_count: Type.Integer(),
      removed_count: Type.Integer(),
    }),
  ),
  checked_at: Timestamp,
  /** `signer`: of the refused list, where it is not pinned. */
  failure: Nullable(Exactly({ ...Refused.properties, signer: Nullable(Fingerprint), since: Timestamp })),
  pins: Type.Array(
    Exactly({
      fingerprint: Type.String(),
      subject: Type.Optional(Type.String()),
      not_after: Type.Optional(Timestamp),
      added_at: Timestamp,
    }),
  ),
  announced: Type.Array(Type.String()),
  created_at: Timestamp,
})
export type TrustSource = typeof TrustSource.static

export const TrustPreset = Exactly({
  name: Type.String(),
  environment: Environment,
  label: Type.String(),
  location: Type.String(),
  types: Type.Array(Type.String()),
  /** Fingerprints that the program carries. */
  pins: Type.Array(Type.String()),
  /** The address where the operator publishes who signs the list. */
  compare_at: Type.String(),
  /** Terms that must be read first. */
  terms: Nullable(Type.String()),
})
export type TrustPreset = typeof TrustPreset.static

export const TrustSources = Exactly({ data: Type.Array(TrustSource), presets: Type.Array(TrustPreset) })
export type TrustSources = typeof TrustSources.static

export const TrustSourceDetail = Exactly({ source: TrustSource, anchors: Type.Array(TrustAnchor) })
export type TrustSourceDetail = typeof TrustSourceDetail.static

/** Base64. */
const List = Type.String({ minLength: 1, maxLength: Math.ceil(LIST_BYTES_MAX / 3) * 4, pattern: '^[A-Za-z0-9+/]+={0,2}$' })
/** An https address: only a command may name a file of this machine. */
const Location = Text({ minLength: 1, maxLength: 2000 })
const Preset = Text({ minLength: 1, maxLength: 40 })

/** One of preset, location and list. */
export const CheckList = Exactly({
  preset: Type.Optional(Preset),
  location: Type.Optional(Location),
  list: Type.Optional(List),
})
export type CheckList = typeof CheckList.static

export const CheckedList = Exactly({
  /** Null when it is refused. */
  list: Nullable(
    Exactly({
      location: Nullable(Type.String()),
      kind: Kind,
      name: Type.String(),
      type: Nullable(Type.String()),
      territory: Nullable(Type.String()),
      sequence: Nullable(Type.Integer()),
      issued_at: Timestamp,
      next_update: Nullable(Timestamp),
      digest: Type.String(),
      signer: Exactly({ fingerprint: Fingerprint, subject: Type.String(), not_before: Timestamp, not_after: Timestamp }),
      announced: Type.Array(Type.String()),
      entries: Type.Integer(),
      skipped: Counts,
      /** Types of documents that its entries count for without any further setting. */
      types: Type.Array(Exactly({ type: Type.String(), entries: Type.Integer() })),
    }),
  ),
  refused: Nullable(Refused),
})
export type CheckedList = typeof CheckedList.static

/** A fingerprint as tools print it, or a certificate (PEM). */
const Signer = Text({ minLength: 1, maxLength: 20_000 })

export const AddSource = Exactly({
  environment: Environment,
  ...CheckList.properties,
  kind: Type.Optional(Kind),
  label: Type.Optional(PlainText({ minLength: 1, maxLength: LABEL_CHARS_MAX })),
  signers: Type.Array(Signer, { maxItems: 8 }),
  types: Type.Optional(Type.Array(Text({ minLength: 1, maxLength: 300 }), { minItems: 1, maxItems: 20 })),
  service_type: Type.Optional(Text({ minLength: 1, maxLength: 300 })),
  terms_read: Type.Optional(Type.Boolean()),
})
export type AddSource = typeof AddSource.static

export const RefreshSource = Exactly({ list: Type.Optional(List) })
export const RefreshedSource = Exactly({
  outcome: OneOf('accepted', 'unchanged', 'refused'),
  refused: Nullable(Refused),
  source: TrustSource,
})
export type RefreshedSource = typeof RefreshedSource.static

export const PinSigner = Exactly({ signer: Signer })
/** `good_until`: how long it counts when no newer one can be fetched. */
const RevocationList = Exactly({
  uri: Type.String(),
  media: OneOf('statuslist+jwt', 'statuslist+cwt', 'identifierlist+cwt', 'crl'),
  issued_at: Timestamp,
  ends_at: Nullable(Timestamp),
  as_of: Timestamp,
  good_until: Timestamp,
  from: OneOf('fetched', 'bundle'),
  wanted: Type.Boolean(),
  /** Why it could not be fetched just now. */
  problem: Type.Optional(Type.String()),
})
export type RevocationList = typeof RevocationList.static

/** Lists of revoked documents that are kept, and the greatest age of one without a newer. */
export const RevocationLists = Exactly({ data: Type.Array(RevocationList), max_age_hours: Type.Integer() })
export type RevocationLists = typeof RevocationLists.static

/** `withdraw`: what that signer signed counts no more, at once. */
export const UnpinSigner = Exactly({ signer: Signer, withdraw: Type.Optional(Type.Boolean()) })

export const TrustBlock = Exactly({
  environment: Environment,
  fingerprint: Type.String(),
  reason: Type.String(),
  created_at: Timestamp,
})
export type TrustBlock = typeof TrustBlock.static
export const TrustBlockList = ListOf(TrustBlock)

const BlockedFingerprint = Text({ minLength: 1, maxLength: 200 })
export const Block = Exactly({
  environment: Environment,
  fingerprint: BlockedFingerprint,
  reason: PlainText({ minLength: 1, maxLength: 200 }),
})
export type Block = typeof Block.static
export const Unblock = Exactly({ environment: Environment, fingerprint: BlockedFingerprint })
export type Unblock = typeof Unblock.static

const BUNDLE_BYTES_MAX = 16 * 1024 * 1024
/** A bundle, and the rest of its body. */
export const BUNDLE_BODY_BYTES_MAX = BUNDLE_BYTES_MAX + 64 * 1024

export const ImportBundle = Exactly({
  /** The signed text of the file, unchanged. */
  bundle: Type.String({ minLength: 1, maxLength: BUNDLE_BYTES_MAX }),
  /** Accepts the installation with this fingerprint from now on. */
  from: Type.Optional(Text({ minLength: 1, maxLength: 200 })),
  /** Takes a bundle that was made before the last one. */
  older: Type.Optional(Type.Boolean()),
})
export type ImportBundle = typeof ImportBundle.static

export const ImportedBundle = Exactly({
  signer: Type.String(),
  signature_valid: Type.Boolean(),
  signer_accepted: Type.Boolean(),
  made_at: Timestamp,
  made_by: Type.String(),
  items: Type.Array(
    Exactly({
      what: OneOf('list', 'anchor', 'block', 'status'),
      environment: Type.Optional(Environment),
      name: Type.String(),
      outcome: OneOf('accepted', 'unchanged', 'added', 'known', 'refused', 'not_taken'),
      source: Type.Optional(Type.String()),
      detail: Type.Optional(Type.String()),
    }),
  ),
})
export type ImportedBundle = typeof ImportedBundle.static
