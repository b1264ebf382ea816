import type { Deps } from '../deps.ts'
import { deleteExpiredReplays } from './replay-store.ts'
import type { Status } from './schema.ts'
import { markExpired, type VerificationRow } from './store.ts'

const SWEEP_ROWS_MAX = 500

/** Reads never wait for the sweep: a pending session is expired from its deadline on, that instant included. */
export const statusAt = ({ status, expiresAt }: Pick<VerificationRow, 'status' | 'expiresAt'>, now: number): Status =>
  status === 'pending' && expiresAt <= now ? 'expired' : status

/** Stores what time has decided. Short transactions, so that nobody waits behind a large sweep. */
export async function sweepExpired({
  writeSession,
  now,
  changes,
  metrics,
}: Pick<Deps, 'writeSession' | 'now' | 'changes' | 'metrics'>): Promise<void> {
  let expired: Pick<VerificationRow, 'id' | 'environment'>[]
  do {
    expired = await writeSession(tx => markExpired(tx, now(), SWEEP_ROWS_MAX))
    for (const { id, environment } of expired) {
      changes.announce(id)
      metrics.count('vidimus_verifications_total', { event: 'expired', environment })
    }
  } while (expired.length === SWEEP_ROWS_MAX)
  await writeSession(tx => deleteExpiredReplays(tx, now()))
}
