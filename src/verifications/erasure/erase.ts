import type { Audited } from '../../audit/deps.ts'
import { describeFailure } from '../../base/log.ts'
import { isoUtc } from '../../base/time.ts'
import type { Db } from '../../db/engine.ts'
import { noticeName } from '../../db/topics.ts'
import { apiError } from '../../http/errors.ts'
import { countEnds, type End } from '../../usage/outcomes.ts'
import type { Held } from '../../webhooks/attempts.ts'
import { forgetDeliveries } from '../../webhooks/queue.ts'
import { ownAnswerEndsBefore } from '../create/idempotency.ts'
import { forgetReplay } from '../create/replay-store.ts'
import type { ErasureResult } from '../schema.ts'
import { uncountedEnd } from '../status.ts'
import { deleteVerification, findVerification, lockSession, type Owner } from '../store.ts'
import type { Deps } from './deps.ts'

const SHRED_RETRY_MS = 1000
const SHRED_ATTEMPTS_MAX = 60

/** Erases a session: afterwards its text is in no file. The quota that it used is not given back. */
export async function eraseVerification(deps: Deps, owner: Owner, actor: string, id: string): Promise<ErasureResult> {
  const at = deps.now()
  // Looked up first: a note cannot be taken back, and nobody may note the sessions of others.
  if (!(await findVerification(deps.db, owner, id))) throw apiError('session_not_found')
  await deps.erasures.note([id], at)
  const erased = await deps.write(async tx => {
    const erased = await eraseIn(deps, tx, { owner, actor, id, at })
    if (!erased) return undefined
    await countEnds(tx, erased.ends)
    return erased
  })
  if (!erased) throw apiError('session_not_found')
  deps.publish('session', noticeName(id))
  await deps.attempts.cancel([id], erased.held)
  deps.metrics.count('vidimus_verifications_total', { event: 'erased', environment: owner.environment })
  await shred(deps)
  return { id, deleted: erased.deleted, erased_at: isoUtc(at) }
}

type Erasure = { owner: Owner; actor: string; id: string; at: number }

/**
 * `held`: the leases of its deliveries, whose attempts must be cancelled. `ends`: its end by time, if no sweep has counted it
 * yet; the caller counts it last in the transaction.
 */
type Erased = Pick<ErasureResult, 'deleted'> & { held: Held[]; ends: End[] }

/** One erasure inside a transaction. Undefined when the owner has no such session, or another erasure was faster. */
export async function eraseIn({ audit }: Audited, tx: Db, { owner, actor, id, at }: Erasure): Promise<Erased | undefined> {
  const { tenantId } = owner
  const session = await lockSession(tx, owner, id)
  if (!session) return undefined
  const { count: deliveries, held } = await forgetDeliveries(tx, tenantId, id)
  const deleted = await deleteVerification(tx, { id, tenantId })
  if (!deleted) return undefined
  const { auditSeq: bornAt, createdAt, idempotencyHash, results, auditSeqs } = deleted
  if (idempotencyHash !== null) await forgetReplay(tx, idempotencyHash, ownAnswerEndsBefore(createdAt))
  await audit.forget(tx, auditSeqs)
  await audit.append(tx, { at, tenantId, actor, action: 'verification.erased', subjectId: id, details: null, bornAt })
  return {
    deleted: { verification_sessions: 1, verification_results: results, webhook_deliveries: deliveries },
    held,
    ends: uncountedEnd(session, at).map(end => ({ ...session, ...end })),
  }
}

/** Deleted rows are overwritten in the file, but stay in the write-ahead log until it is empty. */
export async function shred({ forgetDeleted, log }: Pick<Deps, 'forgetDeleted' | 'log'>, attempt = 1): Promise<void> {
  if (await forgetDeleted()) return
  if (attempt >= SHRED_ATTEMPTS_MAX) return log.warn('erasure.log_not_emptied', { count: attempt })
  // Unreferenced: a service that stops need not wait, because closing empties the log.
  setTimeout(() => {
    shred({ forgetDeleted, log }, attempt + 1).catch(error =>
      log.error('erasure.log_not_emptied', { failure: describeFailure(error) }),
    )
  }, SHRED_RETRY_MS).unref()
}
