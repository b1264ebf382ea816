import { noticeName } from '../db/topics.ts'
import type { Deps } from './deps.ts'
import { deleteExpiredReplays } from './replay-store.ts'
import { redeemableUntil } from './response-code.ts'
import type { Status } from './schema.ts'
import { markExpired, type VerificationRow } from './store.ts'

const SWEEP_ROWS_MAX = 500

export type Timed = Pick<VerificationRow, 'status' | 'expiresAt' | 'respondedAt'>

/** True while a good answer waits for its redemption; nobody sees it until then. */
export const isHeld = ({ status, respondedAt }: Timed): boolean => status === 'pending' && respondedAt !== null

/** The time at which a pending session ends by itself. A held one outlasts its `expires_at`. */
export const endsAt = ({ expiresAt, respondedAt }: Timed): number =>
  respondedAt === null ? expiresAt : redeemableUntil(respondedAt)

/** Reads do not wait for the sweep: a pending session has ended from its deadline on, inclusive. */
export function statusAt(session: Timed, now: number): Status {
  if (session.status !== 'pending' || endsAt(session) > now) return session.status
  return isHeld(session) ? 'failed' : 'expired'
}

/** Short transactions, so that other writes need not wait for a large sweep. */
export async function sweepExpired({
  write,
  now,
  publish,
  metrics,
}: Pick<Deps, 'write' | 'now' | 'publish' | 'metrics'>): Promise<void> {
  let expired: Pick<VerificationRow, 'id' | 'environment'>[]
  do {
    expired = await write(tx => markExpired(tx, now(), SWEEP_ROWS_MAX))
    for (const { id, environment } of expired) {
      publish('session', noticeName(id))
      metrics.count('vidimus_verifications_total', { event: 'expired', environment })
    }
  } while (expired.length === SWEEP_ROWS_MAX)
  await write(tx => deleteExpiredReplays(tx, now()))
}
