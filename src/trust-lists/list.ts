// A signed list once it is read: issuers, and their documents. All three kinds of lists become this.

export const LIST_KINDS = ['vical', 'etsi-xml', 'lote'] as const
export type ListKind = (typeof LIST_KINDS)[number]

/** Reasons to refuse a list, in the order of the checks. */
export type RefusalCode =
  | 'unreachable'
  | 'too_large'
  | 'malformed'
  | 'not_this_kind'
  | 'unsigned'
  | 'signature_invalid'
  | 'algorithm_refused'
  | 'signer_unknown'
  | 'signer_expired'
  | 'wrong_list'
  | 'not_yet'
  | 'expired'
  | 'closed'
  | 'rolled_back'
  | 'too_many'
  | 'empty'

/** `detail` is the rest of a sentence that begins with the list's name. */
/** `signer`: the fingerprint of one that is not pinned. */
export type ListRefused = { ok: false; code: RefusalCode; detail: string; signer?: string }

/** Reasons to skip an entry. A bad entry never refuses its list. */
export type SkipReason = 'unreadable' | 'too_large' | 'key_refused' | 'expired' | 'no_certificate' | 'other_type'
export type Skipped = Partial<Record<SkipReason, number>>

/** One certificate of a list, as its operator published it. */
export type ListEntry = {
  /** DER. */
  certificate: Uint8Array
  /** The operator of the service. */
  entity: string | null
  /** Two capital letters. */
  country: string | null
  serviceType: string | null
  serviceStatus: string | null
  /** The time since which it has this status, in milliseconds. */
  since: number | null
  /** The document types it is listed for (VICAL); empty where the type of the service decides. */
  docTypes: readonly string[]
}

/** A list whose signature holds. Whether its signer is the right one is another question: signer.ts. */
export type TrustList = {
  kind: ListKind
  /** The type of the list (LoTEType, TSLType without its scheme); null for a VICAL. */
  type: string | null
  territory: string | null
  /** The operator's own name for it: scheme name or VICAL provider. */
  name: string
  /** Equal for all issues of one list: type and territory, or the provider. */
  identity: string
  sequence: number | null
  issuedAt: number
  nextUpdate: number | null
  /** The certificates of the signature, DER, the signer first. */
  chain: readonly Uint8Array[]
  /** Fingerprints of the signers that the list announces for itself. */
  announced: readonly string[]
  entries: readonly ListEntry[]
  skipped: Skipped
}

export type ReadList = { ok: true; list: TrustList } | ListRefused

/** A row of trust: one type that an entry may vouch for. */
export type Grant = {
  certificate: Uint8Array
  label: string
  /** A type, or the beginning of one before `:*`. */
  trustedFor: string
  mode: 'iso' | 'pkix'
  /** `status`: for status lists only. `none`: withdrawn, kept to explain. `relying_party`: for the operator's own papers. */
  use: 'both' | 'status' | 'none' | 'relying_party'
  entity: string | null
  country: string | null
  since: number | null
}

/** Changes of an accepted list: names with fingerprints, at most 50 of each, and the counts of all. */
export type ListDifference = {
  added: { name: string; fingerprint: string }[]
  removed: { name: string; fingerprint: string }[]
  addedCount: number
  removedCount: number
  /** The replaced list. */
  before: { sequence: number | null; entries: number }
}
