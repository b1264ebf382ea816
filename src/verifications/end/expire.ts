import type { Audited } from '../../audit/deps.ts'
import type { Db } from '../../db/engine.ts'
import { noticeName } from '../../db/topics.ts'
import type { Announcing, Unsealing, Writing } from '../../ground.ts'
import { countEnds } from '../../usage/outcomes.ts'
import { deleteExpiredReplays } from '../create/replay-store.ts'
import { fetchesInRecord } from '../timeline.ts'
import { type Expired, keepExpirySeq, markExpired } from './end-store.ts'

const SWEEP_ROWS_MAX = 100

type Deps = Writing & Announcing & Unsealing & Audited

/** Short transactions, so that other writes need not wait for a large sweep. */
export async function sweepExpired(deps: Deps): Promise<void> {
  const { write, now, publish, metrics } = deps
  let expired: Expired[]
  do {
    expired = await write(tx => expireDue(deps, tx))
    for (const { id, environment } of expired) {
      publish('session', noticeName(id))
      metrics.count('vidimus_verifications_total', { event: 'expired', environment })
    }
  } while (expired.length === SWEEP_ROWS_MAX)
  await write(tx => deleteExpiredReplays(tx, now()))
}

async function expireDue(deps: Deps, tx: Db): Promise<Expired[]> {
  const at = deps.now()
  const expired = await markExpired(tx, at, SWEEP_ROWS_MAX)
  for (const session of expired) if (session.fetchedAt !== null) await recordExpiry(deps, tx, session, at)
  await countEnds(
    tx,
    expired.map(session => ({ ...session, outcome: 'expired', at: session.expiresAt, respondedAt: null })),
  )
  return expired
}

/** A wallet knew the request and gave no answer. */
async function recordExpiry(deps: Deps, tx: Db, session: Expired, at: number): Promise<void> {
  const { id, tenantId, environment, wrappingKey, auditSeq: bornAt } = session
  const sessionKey = await deps.sessionKeys.of(tx, session)
  const seq = await deps.audit.append(tx, {
    at,
    tenantId,
    actor: 'system',
    action: 'verification.expired',
    subjectId: id,
    details: { environment, ...fetchesInRecord(deps, session, sessionKey) },
    session: { id, wrappingKey, sessionKey },
    bornAt,
  })
  await keepExpirySeq(tx, session, seq)
}
