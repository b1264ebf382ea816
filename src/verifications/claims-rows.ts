// Claims in rows, because a repeat may reach another node. A claim is committed before the work
// begins, and ends with its answer, its release, its time or its node: a later request takes over
// the claim of a dead node.
import type { Db } from '../db/engine.ts'
import { type ClaimedKey, type Claims, inFlight, type KeyClaim, LEASE_MS } from './claims.ts'
import type { Deps } from './deps.ts'
import { dropClaim, findClaim, finishClaim, insertClaim, type ReplayRow, takeOverClaim } from './replay-store.ts'

/** A row may end between two statements; then another request is about to take it. */
const TRIES_MAX = 3
const DROP_AGAIN_MS = 1000

type RowsDeps = Pick<Deps, 'now' | 'node' | 'metrics'> & { light: Db }

export function claimsInRows(deps: RowsDeps): Claims {
  const { light, now, node, metrics } = deps
  let count = 0

  async function begin(key: ClaimedKey, tries = 1): ReturnType<Claims['begin']> {
    const at = now()
    const claimedBy = `${node} ${count++}`
    const own = { ...key, claimedBy, claimedUntil: at + LEASE_MS }
    const claim = claimOf(deps, own)
    const orDropped = (taking: Promise<boolean>) =>
      taking.catch(error => {
        // The database's answer was lost; the claim itself may be there.
        void claim.release(false)
        throw error
      })
    if (await orDropped(insertClaim(light, own, at))) return { claim }
    const found = await findClaim(light, key.hash, at)
    const holder = found?.claimedBy
    if (found && holder === null) return { stored: found }
    if (found?.isHeld || tries === TRIES_MAX) throw inFlight(heldBy(found ?? own), key.fingerprint, at)
    if (!holder || !(await orDropped(takeOverClaim(light, own, holder)))) return await begin(key, tries + 1)
    metrics.count('vidimus_claims_taken_over_total')
    return { claim }
  }

  return { begin }
}

const heldBy = ({ fingerprint, claimedUntil }: Pick<ReplayRow, 'fingerprint' | 'claimedUntil'>) => ({
  fingerprint,
  until: claimedUntil ?? 0,
})

type OwnClaim = { hash: string; claimedBy: string; claimedUntil: number }

const claimOf = ({ light, now }: Pick<RowsDeps, 'light' | 'now'>, own: OwnClaim): KeyClaim => {
  /** The database may be away; then it is tried again until the claim ends by itself. */
  const drop = async (): Promise<void> => {
    try {
      await dropClaim(light, own)
    } catch {
      if (now() < own.claimedUntil) setTimeout(drop, DROP_AGAIN_MS).unref()
    }
  }
  return {
    keep: (tx, answer) => finishClaim(tx, { hash: own.hash, claimedBy: own.claimedBy, ...answer }),
    async release(isKept) {
      if (!isKept) await drop()
    },
  }
}
