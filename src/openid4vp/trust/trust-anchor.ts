import type { CrlPolicy } from './crl-check.ts'

export type TrustAnchor = {
  id: string
  /** DER. */
  certificate: Uint8Array
  mode: 'auto' | 'iso' | 'pkix'
  /** The effect of an unreadable revocation list; null leaves it to the mode. */
  crl: CrlPolicy | null
  /** The vct or doctype that it is trusted for, or the beginning of several before `:*`; null for all. */
  trustedFor: string | null
  label: string
  isSandbox: boolean
  /**
   * `both`: for documents, and for the status lists of these. `documents`: for no status list. `status`: for status lists
   * only, of every issuer. `none`: withdrawn, for the explanation only.
   */
  use: 'both' | 'documents' | 'status' | 'none'
  /** The list that names it; undefined for one that the operator added. */
  list?: AnchorList
  /** The time since which its entry in the list has its status, in milliseconds. */
  since?: number
}

/** Times are in milliseconds. */
export type AnchorList = {
  id: string
  label: string
  sequence: number | null
  issuedAt: number
  /** When it should have been replaced. */
  nextUpdate: number
  /** The time from which its entries do not count. */
  endsAt: number
}

export const isForDocuments = ({ use }: TrustAnchor): boolean => use === 'both' || use === 'documents'

/** A prefix ends in `:*`, and the type continues after that colon. */
export function covers(trustedFor: string | null, type: string): boolean {
  if (trustedFor === null || trustedFor === type) return true
  const prefix = trustedFor.slice(0, -1)
  return trustedFor.endsWith(':*') && type.startsWith(prefix) && type.length > prefix.length
}
