// Requests that work on an Idempotency-Key. In memory, because one process serves a SQLite file: a
// claim ends with its process.
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import type { Deps } from './deps.ts'
import { findReplay, keepReplay, type ReplayRow } from './replay-store.ts'

const LEASE_MS = 30_000

export type ClaimedKey = Pick<ReplayRow, 'hash' | 'tenantId' | 'fingerprint'>

export type KeyClaim = {
  /** In the transaction of the creation. False when another request took the key over. */
  keep(tx: Db, answer: Pick<ReplayRow, 'salt' | 'sealed' | 'expiresAt'>): Promise<boolean>
  /** Must be called however the request ends. */
  release(): void
}

export type Claims = {
  /**
   * The first answer under the key, or a claim to make one. Throws 409 while another request makes
   * it, 422 if that has another body.
   */
  begin(key: ClaimedKey): Promise<{ stored: ReplayRow } | { claim: KeyClaim }>
}

type Held = { fingerprint: string; until: number }

export function createClaims({ warm, now }: Pick<Deps, 'warm' | 'now'>): Claims {
  const inFlight = new Map<string, Held>()

  return {
    async begin(key) {
      const { hash, fingerprint } = key
      refuseWhileHeld(inFlight.get(hash), fingerprint, now())
      const held = { fingerprint, until: now() + LEASE_MS }
      inFlight.set(hash, held)
      const isOurs = () => inFlight.get(hash) === held
      const release = () => {
        if (isOurs()) inFlight.delete(hash)
      }
      const keep: KeyClaim['keep'] = async (tx, answer) => isOurs() && (await keepReplay(tx, { ...key, ...answer }, now()))
      try {
        // While the first request's write is not durable, its key is held above: a row found here
        // is durable.
        const stored = await findReplay(warm(), hash, now())
        if (!stored) return { claim: { keep, release } }
        release()
        return { stored }
      } catch (error) {
        release()
        throw error
      }
    },
  }
}

function refuseWhileHeld(held: Held | undefined, fingerprint: string, now: number): void {
  if (!held || held.until <= now) return
  if (held.fingerprint !== fingerprint) throw apiError('idempotency_key_reused')
  throw apiError('idempotency_key_in_flight', { retryAfter: Math.max(1, Math.ceil((held.until - now) / 1000)) })
}
