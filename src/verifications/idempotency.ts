// One creation per Idempotency-Key for 24 hours. While a request runs its key is held in memory, so that a claim dies with the process; its
// 201 is kept in the same transaction as the session. Refusals are not kept: the repeat runs afresh.

import type { Caller } from '../access/scopes.ts'
import type { Db } from '../db/engine.ts'
import { canonicalJson, hmacSha256With } from '../hash.ts'
import { apiError } from '../http/errors.ts'
import { SALT_BYTES } from '../seal.ts'
import type { Deps } from './deps.ts'
import { findReplay, keepReplay, type ReplayRow } from './replay-store.ts'
import type { CreateVerification, Verification } from './schema.ts'

const LEASE_MS = 30_000
const REPLAY_MS = 24 * 3_600_000

/**
 * The answer of a session created then is kept until before this, and that of the next one under its key until after it: the two ends are a
 * day apart, give or take the milliseconds by which a burst of creations runs ahead of the clock.
 */
export const ownAnswerEndsBefore = (createdAt: number): number => createdAt + 1.5 * REPLAY_MS

export type Claim = {
  /** Kept with the session, so that its erasure finds what is kept here. */
  hash: string
  keep(tx: Db, verification: Verification): Promise<void>
  /** Must be called however the request ends. */
  release(): void
}

export type Idempotency = {
  /** The first answer, when this is a repeat; otherwise a claim to go ahead. */
  begin(caller: Caller, key: string, body: CreateVerification): Promise<{ replay: Verification } | { claim: Claim }>
}

type Held = { fingerprint: string; until: number }

export function createIdempotency(deps: Pick<Deps, 'warm' | 'now' | 'random' | 'sealer'>): Idempotency {
  const mac = hmacSha256With(deps.sealer.key('idempotency key'))
  const inFlight = new Map<string, Held>()
  const digest = (...parts: string[]) => mac(JSON.stringify(parts)).toString('hex')

  return {
    async begin(caller, key, body) {
      const hash = digest(...namespaceOf(caller), key)
      const fingerprint = digest('POST', '/v1/verifications', canonicalJson(body))
      refuseWhileHeld(inFlight.get(hash), fingerprint, deps.now())
      const held = { fingerprint, until: deps.now() + LEASE_MS }
      inFlight.set(hash, held)
      const release = () => {
        if (inFlight.get(hash) === held) inFlight.delete(hash)
      }
      try {
        // While the first request's write is not durable, its key is held above: what is found here is.
        const stored = await findReplay(deps.warm(), hash, deps.now())
        if (!stored) return { claim: claimOf(deps, { hash, fingerprint, tenantId: caller.tenantId }, release) }
        release()
        return { replay: replayOf(deps, stored, fingerprint) }
      } catch (error) {
        release()
        throw error
      }
    },
  }
}

/** Of the tenant and environment, not of the key: rolling an API key in the middle of a retry is safe. No device sees another's. */
const namespaceOf = (caller: Caller): string[] =>
  caller.kind === 'key' ? ['namespace', caller.tenantId, caller.environment] : ['device', caller.deviceId]

function refuseWhileHeld(held: Held | undefined, fingerprint: string, now: number): void {
  if (!held || held.until <= now) return
  if (held.fingerprint !== fingerprint) throw apiError('idempotency_key_reused')
  throw apiError('idempotency_key_in_flight', { retryAfter: Math.max(1, Math.ceil((held.until - now) / 1000)) })
}

const ERASED = 'The verification made with this Idempotency-Key was erased; choose a new key for a new request.'

/** A tombstone has no body: what it made was erased, and the key must not make another. */
function replayOf({ sealer }: Pick<Deps, 'sealer'>, stored: ReplayRow, fingerprint: string): Verification {
  if (stored.fingerprint !== fingerprint) throw apiError('idempotency_key_reused')
  if (!stored.sealed || !stored.salt) throw apiError('idempotency_key_reused', { message: ERASED })
  return JSON.parse(sealer.open(place(stored, stored.salt), stored.sealed))
}

function claimOf(
  { now, random, sealer }: Pick<Deps, 'now' | 'random' | 'sealer'>,
  row: Pick<ReplayRow, 'hash' | 'fingerprint' | 'tenantId'>,
  release: () => void,
): Claim {
  return {
    hash: row.hash,
    release,
    async keep(tx, verification) {
      const at = now()
      const salt = Buffer.from(random(SALT_BYTES))
      const sealed = sealer.seal(place(row, salt), JSON.stringify(verification))
      const kept = await keepReplay(tx, { ...row, salt, sealed, expiresAt: at + REPLAY_MS }, at)
      // Only after a lease ran out under a request that still lived: the later one won.
      if (!kept) throw apiError('idempotency_key_in_flight', { retryAfter: 1 })
    },
  }
}

const place = ({ hash, tenantId }: Pick<ReplayRow, 'hash' | 'tenantId'>, salt: Uint8Array) => ({
  tenant: tenantId,
  table: 'idempotency_keys',
  column: 'sealed',
  row: hash,
  salt,
})
