import type { ListDifference } from '../../trust-lists/list.ts'
import { bytes, environment, integer, json, oneOf, primaryKey, table, text, time } from '../columns.ts'

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

/** Signed lists of what was revoked, for the time when no newer one can be fetched. All of it is public. */
export const revocationLists = table(
  'revocation_lists',
  {
    uri: text('uri').notNull(),
    media: oneOf('media', 'statuslist+jwt', 'statuslist+cwt', 'identifierlist+cwt', 'crl').notNull(),
    bytes: bytes('bytes').notNull(),
    issuedAt: time('issued_at').notNull(),
    /** From then on it never counts. */
    endsAt: time('ends_at'),
    ttlMs: integer('ttl_ms'),
    /** That of a stranger's bundle is the issue. */
    fetchedAt: time('fetched_at').notNull(),
    /** The day of the last session that needed it: its time would tell of the session. */
    seenAt: time('seen_at').notNull(),
    /** The next fetch that is no session's. */
    dueAt: time('due_at').notNull(),
    /** 1 for one that the operator named. */
    wanted: integer('wanted').notNull(),
    from: oneOf('brought_by', 'fetched', 'bundle').notNull(),
  },
  row => [primaryKey({ columns: [row.uri, row.media] })],
)

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
  /** Of an anchor that continues another: the authority of that one. Null where its list, or its own key, says which. */
  lineage: text('lineage'),
})
