import type { Db } from '../../db/engine.ts'
import { noticeName } from '../../db/topics.ts'
import type { Announcing, Writing } from '../../ground.ts'
import { countEnds } from '../../usage/outcomes.ts'
import { deleteExpiredReplays } from '../create/replay-store.ts'
import { type Expired, markExpired } from './end-store.ts'

const SWEEP_ROWS_MAX = 500

/** Short transactions, so that other writes need not wait for a large sweep. */
export async function sweepExpired({ write, now, publish, metrics }: Writing & Announcing): Promise<void> {
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
