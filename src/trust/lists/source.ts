// A source is a signed list of issuers with pinned signers. These are its forms: as it is asked for, before its first
// list, as it is kept, and as a look at a list shows it.
import type { trustSourcePins, trustSources } from '../../db/schema/trust.ts'
import type { ListKind, TrustList } from '../../trust-lists/list.ts'
import type { Pin } from '../../trust-lists/signer.ts'

export type SourceRow = typeof trustSources.$inferSelect
export type PinRow = typeof trustSourcePins.$inferSelect

/** `entries` are the anchors that count, `withdrawn` those that only explain a refusal. */
export type SourceView = SourceRow & { pins: PinRow[]; entries: number; withdrawn: number }

/** A preset fixes kind, use and location. */
export type NewSource = {
  environment: SourceRow['environment']
  kind?: ListKind
  use?: SourceRow['use']
  /** The operator's name for the list if not given. */
  label?: string
  preset?: string
  /** An https address or a `file:` path; without one, lists are brought by hand. */
  location?: string | null
  /** The first list; fetched from the location if not given. */
  bytes?: Uint8Array
  /** Fingerprints or certificates (PEM), beside those of the preset. */
  signers: readonly string[]
  types?: readonly string[]
  serviceType?: string
  mode?: 'iso' | 'pkix'
  everyMs?: number
  graceMs?: number
  /** The operator has read the terms of the preset. */
  isReadTerms?: boolean
}

type Rules = Pick<
  SourceRow,
  'id' | 'environment' | 'kind' | 'use' | 'preset' | 'location' | 'types' | 'serviceType' | 'mode' | 'everyMs' | 'graceMs'
>

/** A source before its first list. */
export type SourceDraft = Rules & {
  label: string | null
  /** The end of the type that its lists must have. */
  listType: string | null
  pins: readonly Pin[]
  createdAt: number
}

/** The digest of a source whose list was withdrawn with its signer: no list has it, so the next one is always judged. */
export const WITHDRAWN = ''

export const isKept = (source: SourceRow | SourceDraft): source is SourceRow => 'digest' in source

/** A list whose signature holds. Nobody said yet that its signer is the right one. */
export type CheckedList = {
  location: string | null
  bytes: Uint8Array
  /** SHA-256, in hex. */
  digest: string
  list: TrustList
  signer: { fingerprint: string; subject: string; notBefore: number; notAfter: number }
  /** The number of entries that count for each type without any further setting. */
  types: { type: string; entries: number }[]
}
