// In rows, because a repeat may reach another node. A claim is committed before the work begins, and ends with its
// answer, its release, its time or its node: a later request takes over the claim of a node that is dead.
import type { Db } from '../db/engine.ts'
import { type ClaimedKey, type Claims, inFlight, type KeyClaim, LEASE_MS } from './claims.ts'
import type { Deps } from './deps.ts'
import { dropClaim, findClaim, finishClaim, insertClaim, type ReplayRow, takeOverClaim } from './replay-store.ts'

/** A row may end between two statements; then another request is about to take it. */
const TRIES_MAX = 3

type RowsDeps = Pick<Deps, 'now' | 'node' | 'metrics'> & { light: Db }

export function claimsInRows({ light, now, node, metrics }: RowsDeps): Claims {
  let count = 0

  async function begin(key: ClaimedKey, tries = 1): ReturnType<Claims['begin']> {
    const at = now()
    const claimedBy = `${node} ${count++}`
    const own = { ...key, claimedBy, claimedUntil: at + LEASE_MS }
    if (await insertClaim(light, own, at)) return { claim: claimOf(light, own) }
    const found = await findClaim(light, key.hash, at)
    const holder = found?.claimedBy
    if (found && holder === null) return { stored: found }
    if (found?.isHeld || tries === TRIES_MAX) throw inFlight(heldBy(found ?? own), key.fingerprint, at)
    if (!holder || !(await takeOverClaim(light, own, holder))) return await begin(key, tries + 1)
    metrics.count('vidimus_claims_taken_over_total')
    return { claim: claimOf(light, own) }
  }

  return { begin }
}

const heldBy = ({ fingerprint, claimedUntil }: Pick<ReplayRow, 'fingerprint' | 'claimedUntil'>) => ({
  fingerprint,
  until: claimedUntil ?? 0,
})

const claimOf = (light: Db, { hash, claimedBy }: { hash: string; claimedBy: string }): KeyClaim => ({
  keep: (tx, answer) => finishClaim(tx, { hash, claimedBy, ...answer }),
  async release(isKept) {
    // What cannot be dropped ends with its time.
    if (!isKept) await dropClaim(light, { hash, claimedBy }).catch(() => {})
  },
})
