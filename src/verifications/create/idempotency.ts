// One creation per Idempotency-Key for 24 hours. Its 201 is stored in the transaction of the
// session. Refusals are not stored: a repeat is a new request.
import type { Caller } from '../../access/scopes.ts'
import { canonicalJson } from '../../base/hash.ts'
import { namesUnder, SALT_BYTES } from '../../base/seal.ts'
import type { Db } from '../../db/engine.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import type { Held, Claim as NameClaim } from '../../db/short-lived.ts'
import type { Ground, Making, Sealing, Unsealing } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import type { CreateVerification, Verification } from '../schema.ts'
import { findReplay, keepReplay, type ReplayRow } from './replay-store.ts'

const REPLAY_MS = 24 * 3_600_000
/** A later request may take over the key of one that takes longer. */
const LEASE_MS = 30_000

/** From the creation of a session to a time when its own answer is gone, and that of the next session under its key is not. */
export const KEY_REMEMBERED_MS = 1.5 * REPLAY_MS

/**
 * A time after the kept answer of a session ends, and before that of the next session under the same key. The two ends are a day
 * apart, give or take the milliseconds by which a burst of creations runs ahead of the clock.
 */
export const ownAnswerEndsBefore = (createdAt: number): number => createdAt + KEY_REMEMBERED_MS

/** Held by the one request that may create the session of a key. */
export type Claim = {
  /** Stored with the session, so that its erasure finds the kept answer. */
  hash: string
  /** Called in the transaction of the creation. Throws 409 when another request took the key over. */
  keep(tx: Db, verification: Verification): Promise<void>
  /** Must be called however the request ends; `isKept` when its transaction was committed. */
  release(isKept: boolean): Promise<void>
}

export type Idempotency = {
  /**
   * The first answer, when this is a repeat; otherwise a claim to go ahead. Throws 409 while another request makes the answer,
   * 422 if that has another body.
   */
  begin(caller: Caller, key: string, body: CreateVerification): Promise<{ replay: Verification } | { claim: Claim }>
}

type ClaimedKey = Pick<ReplayRow, 'hash' | 'tenantId' | 'fingerprint'>

export function createIdempotency(deps: Ground): Idempotency {
  const { warm, now, shortLived } = deps
  const namesOf = namesUnder(deps.sealer.key('idempotency key'))
  const digest = (...parts: string[]) => namesOf(JSON.stringify(parts)).at(-1)!

  return {
    async begin(caller, key, body) {
      const claimed = {
        hash: digest(...namespaceOf(caller), key),
        fingerprint: digest('POST', '/v1/verifications', canonicalJson(body)),
        tenantId: caller.tenantId,
      }
      const found = await shortLived.claim(claimed.hash, claimed.fingerprint, LEASE_MS)
      let mayGoAhead = false
      try {
        // A row found here is durable: until then its key is held above, by the request that makes the row.
        const stored = await findReplay(warm(), claimed.hash, now())
        if (stored) return { replay: replayOf(deps, stored, claimed.fingerprint) }
        // Without a row the holder is that request, and no repeat that looks for the row.
        if ('held' in found) throw inFlight(found.held, claimed.fingerprint, now())
        mayGoAhead = true
        return { claim: claimOf(deps, claimed, found.claim) }
      } finally {
        if ('claim' in found && !mayGoAhead) await found.claim.forget(false)
      }
    },
  }
}

/** The refusal while another request holds the key. */
const inFlight = ({ word, until }: Held, fingerprint: string, now: number) =>
  word === fingerprint
    ? apiError('idempotency_key_in_flight', { retryAfter: Math.max(1, Math.ceil((until - now) / 1000)) })
    : apiError('idempotency_key_reused')

/** Shared by the API keys of an environment, so that a key can be rolled in the middle of a retry. Each device has its own. */
const namespaceOf = (caller: Caller): string[] =>
  caller.kind === 'key' ? ['namespace', caller.tenantId, caller.environment] : ['device', caller.deviceId]

const ERASED = 'The verification made with this Idempotency-Key was erased; choose a new key for a new request.'

/** A tombstone has no body: its session was erased, and the key must not make another. */
function replayOf({ sealer, sessionKeys }: Unsealing, stored: ReplayRow, fingerprint: string): Verification {
  if (stored.fingerprint !== fingerprint) throw apiError('idempotency_key_reused')
  if (!stored.sealed || !stored.salt || stored.wrappingKey === null) throw apiError('idempotency_key_reused', { message: ERASED })
  return JSON.parse(
    sealer.open(
      SEALED.replay(
        { id: stored.hash, tenantId: stored.tenantId },
        stored.salt,
        sessionKeys.derive(stored.hash, stored.wrappingKey),
      ),
      stored.sealed,
    ),
  )
}

const claimOf = ({ now, random, sealer, sessionKeys }: Making & Sealing, claimed: ClaimedKey, claim: NameClaim): Claim => ({
  hash: claimed.hash,
  release: claim.forget,
  async keep(tx, verification) {
    const salt = Buffer.from(random(SALT_BYTES))
    const wrappingKey = sessionKeys.current()
    const own = sessionKeys.derive(claimed.hash, wrappingKey)
    const place = SEALED.replay({ id: claimed.hash, tenantId: claimed.tenantId }, salt, own)
    const sealed = sealer.seal(place, JSON.stringify(verification))
    const answer = { ...claimed, salt, sealed, wrappingKey, expiresAt: now() + REPLAY_MS }
    const isKept = (await claim.keep(tx)) && (await keepReplay(tx, answer, now()))
    // The lease ended while this request was still at work, and a later one took the key over.
    if (!isKept) throw apiError('idempotency_key_in_flight', { retryAfter: 1 })
  },
})

/** Its key is derived from its hash: the row is gone before the wrapping key is destroyed. */
