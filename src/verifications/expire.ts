import type { Db } from '../db/engine.ts'
import { noticeName } from '../db/topics.ts'
import { countEnds } from '../usage/outcomes.ts'
import type { Deps } from './deps.ts'
import { type Expired, markExpired } from './end-store.ts'
import { failureOfHeld, type Held, heldUntil, isHeld } from './hold.ts'
import { deleteExpiredReplays } from './replay-store.ts'
import type { Status } from './schema.ts'
import type { VerificationRow } from './store.ts'

const SWEEP_ROWS_MAX = 500

export type Timed = Held & Pick<VerificationRow, 'expiresAt'>

/** The time at which a pending session ends by itself. A held one outlasts its `expires_at`. */
export const endsAt = (session: Timed): number =>
  session.respondedAt === null ? session.expiresAt : heldUntil(session.respondedAt, session)

/** Reads do not wait for the sweep: a pending session has ended from its deadline on, inclusive. */
export function statusAt(session: Timed, now: number): Status {
  if (session.status !== 'pending' || endsAt(session) > now) return session.status
  return isHeld(session) ? 'failed' : 'expired'
}

/** The end of a session that no sweep has stored, and counted, yet. */
export function uncountedEnd(session: Timed, now: number): { outcome: string; at: number }[] {
  if (session.status !== 'pending' || endsAt(session) > now) return []
  return [{ outcome: isHeld(session) ? failureOfHeld(session).code : 'expired', at: endsAt(session) }]
}

/** Short transactions, so that other writes need not wait for a large sweep. */
export async function sweepExpired({
  write,
  now,
  publish,
  metrics,
}: Pick<Deps, 'write' | 'now' | 'publish' | 'metrics'>): Promise<void> {
  let expired: Expired[]
  do {
    expired = await write(tx => expireDue(tx, now()))
    for (const { id, environment } of expired) {
      publish('session', noticeName(id))
      metrics.count('vidimus_verifications_total', { event: 'expired', environment })
    }
  } while (expired.length === SWEEP_ROWS_MAX)
  await write(tx => deleteExpiredReplays(tx, now()))
}

async function expireDue(tx: Db, now: number): Promise<Expired[]> {
  const expired = await markExpired(tx, now, SWEEP_ROWS_MAX)
  await countEnds(
    tx,
    expired.map(session => ({ ...session, outcome: 'expired', at: session.expiresAt, respondedAt: null })),
  )
  return expired
}
