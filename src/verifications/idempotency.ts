// One creation per Idempotency-Key for 24 hours. Its 201 is stored in the transaction of the
// session. Refusals are not stored: a repeat is a new request.
import type { Caller } from '../access/scopes.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import { canonicalJson, hmacSha256With } from '../hash.ts'
import { apiError } from '../http/errors.ts'
import { SALT_BYTES } from '../seal.ts'
import type { ClaimedKey, Claims, KeyClaim } from './claims.ts'
import type { Deps } from './deps.ts'
import type { ReplayRow } from './replay-store.ts'
import type { CreateVerification, Verification } from './schema.ts'

const REPLAY_MS = 24 * 3_600_000

/**
 * A time after the kept answer of a session ends, and before that of the next session under the same key. The two ends are a day
 * apart, give or take the milliseconds by which a burst of creations runs ahead of the clock.
 */
export const ownAnswerEndsBefore = (createdAt: number): number => createdAt + 1.5 * REPLAY_MS

/** Held by the one request that may create the session of a key. */
export type Claim = Pick<KeyClaim, 'release'> & {
  /** Stored with the session, so that its erasure finds the kept answer. */
  hash: string
  keep(tx: Db, verification: Verification): Promise<void>
}

export type Idempotency = {
  /** The first answer, when this is a repeat; otherwise a claim to go ahead. */
  begin(caller: Caller, key: string, body: CreateVerification): Promise<{ replay: Verification } | { claim: Claim }>
}

type IdempotencyDeps = Pick<Deps, 'now' | 'random' | 'sealer' | 'sessionKeys'> & { claims: Claims }

export function createIdempotency(deps: IdempotencyDeps): Idempotency {
  const mac = hmacSha256With(deps.sealer.key('idempotency key'))
  const digest = (...parts: string[]) => mac(JSON.stringify(parts)).toString('hex')

  return {
    async begin(caller, key, body) {
      const claimed = {
        hash: digest(...namespaceOf(caller), key),
        fingerprint: digest('POST', '/v1/verifications', canonicalJson(body)),
        tenantId: caller.tenantId,
      }
      const begun = await deps.claims.begin(claimed)
      if ('stored' in begun) return { replay: replayOf(deps, begun.stored, claimed.fingerprint) }
      return { claim: claimOf(deps, claimed, begun.claim) }
    },
  }
}

/** Shared by the API keys of an environment, so that a key can be rolled in the middle of a retry. Each device has its own. */
const namespaceOf = (caller: Caller): string[] =>
  caller.kind === 'key' ? ['namespace', caller.tenantId, caller.environment] : ['device', caller.deviceId]

const ERASED = 'The verification made with this Idempotency-Key was erased; choose a new key for a new request.'

/** A tombstone has no body: its session was erased, and the key must not make another. */
function replayOf(
  { sealer, sessionKeys }: Pick<Deps, 'sealer' | 'sessionKeys'>,
  stored: ReplayRow,
  fingerprint: string,
): Verification {
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

const claimOf = ({ now, random, sealer, sessionKeys }: IdempotencyDeps, claimed: ClaimedKey, claim: KeyClaim): Claim => ({
  hash: claimed.hash,
  release: claim.release,
  async keep(tx, verification) {
    const salt = Buffer.from(random(SALT_BYTES))
    const wrappingKey = sessionKeys.current()
    const own = sessionKeys.derive(claimed.hash, wrappingKey)
    const sealed = sealer.seal(
      SEALED.replay({ id: claimed.hash, tenantId: claimed.tenantId }, salt, own),
      JSON.stringify(verification),
    )
    const isKept = await claim.keep(tx, { salt, sealed, wrappingKey, expiresAt: now() + REPLAY_MS })
    // The lease ended while this request was still at work, and a later one took the key over.
    if (!isKept) throw apiError('idempotency_key_in_flight', { retryAfter: 1 })
  },
})

/** Its key is derived from its hash: the row is gone before the wrapping key is destroyed. */
