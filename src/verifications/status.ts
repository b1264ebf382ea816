import { failureOfHeld, type Held, heldUntil, isHeld } from './hold.ts'
import type { Status } from './schema.ts'

/** Log-ins are erased so long after their end. */
export const LOGIN_KEPT_MS = 3_600_000

export type Timed = Held & { expiresAt: number }

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
