// Requests that work on an Idempotency-Key: in memory where one process serves a database, in rows where several do.
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import type { ReplayRow } from './replay-store.ts'

export const LEASE_MS = 30_000

export type ClaimedKey = Pick<ReplayRow, 'hash' | 'tenantId' | 'fingerprint'>

export type KeyClaim = {
  /** Called in the transaction of the creation. False when another request took the key over. */
  keep(tx: Db, answer: Pick<ReplayRow, 'salt' | 'sealed' | 'wrappingKey' | 'expiresAt'>): Promise<boolean>
  /** Must be called however the request ends; `isKept` when its transaction was committed. */
  release(isKept: boolean): Promise<void>
}

export type Claims = {
  /**
   * The first answer under the key, or a claim to make one. Throws 409 while another request makes
   * it, 422 if that has another body.
   */
  begin(key: ClaimedKey): Promise<{ stored: ReplayRow } | { claim: KeyClaim }>
}

/** The refusal while another request holds the key. */
export const inFlight = (held: { fingerprint: string; until: number }, fingerprint: string, now: number) =>
  held.fingerprint === fingerprint
    ? apiError('idempotency_key_in_flight', { retryAfter: Math.max(1, Math.ceil((held.until - now) / 1000)) })
    : apiError('idempotency_key_reused')
