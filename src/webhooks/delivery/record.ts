import { SALT_BYTES } from '../../base/seal.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import type { Configured, Making } from '../../ground.ts'
import { countInterruptions, endAttempt } from '../attempt-store.ts'
import { retryAfterOf, waitBefore } from '../backoff.ts'
import type { Deps } from '../deps.ts'
import { listLostLeases, settleDelivery } from '../lease-store.ts'
import type { Outcome } from '../schema.ts'
import type { DeliveryRow } from '../store.ts'
import { outcomeOf } from './attempt.ts'
import type { ClaimedAttempt } from './claim.ts'
import type { AttemptAnswer } from './poster.ts'

/** An interrupted attempt does not count, up to this often: it may be the cause itself. */
const INTERRUPTIONS_MAX = 3
const AFTER_INTERRUPTION_MS = 1000
const EMPTY = Buffer.alloc(0)

/** Records the end of an attempt; returns when its delivery is due again, if it is. */
export async function recordAttempt(
  deps: Deps,
  attempt: ClaimedAttempt,
  answer: AttemptAnswer,
  ms: number,
): Promise<number | undefined> {
  const outcome = outcomeOf(answer)
  const salt = Buffer.from(deps.random(SALT_BYTES))
  const httpStatus = ('status' in answer && answer.status) || null
  const settled = await deps.write(async tx => {
    const { attemptId: id, tenantId } = attempt
    // Nothing is left to end when the verification was erased meanwhile.
    const sessionKey = await deps.sessionKeys.find(tx, attempt.verificationId)
    const place = SEALED.attempt(attempt, salt, sessionKey)
    const sealed = sessionKey ? deps.sealer.seal(place, JSON.stringify(keptOf(answer))) : EMPTY
    await endAttempt(tx, { id, tenantId, outcome, httpStatus, durationMs: Math.round(ms), salt, sealed })
    const interruptions = outcome === 'interrupted' ? await countInterruptions(tx, attempt.id, attempt.attempts + 1) : 0
    const settled = next(deps, attempt.attempts, answer, interruptions)
    return (await settleDelivery(tx, { ...attempt, ...settled })) ? settled : undefined
  })
  deps.metrics.count('vidimus_webhook_attempts_total', { outcome })
  deps.metrics.observe('vidimus_webhook_attempt_seconds', {}, ms / 1000)
  if (settled && settled.status !== 'pending') deps.metrics.count('vidimus_webhook_deliveries_total', { status: settled.status })
  deps.log.info('webhook.attempt', {
    request_id: attempt.requestId ?? undefined,
    tenant: attempt.tenantId,
    status: httpStatus ?? undefined,
    ms: Math.round(ms),
    detail: `${attempt.id} ${attempt.attempts + 1}/${deps.config.webhookDelaysMs.length} ${outcome}`,
  })
  return settled?.status === 'pending' ? settled.dueAt : undefined
}

/** Sealed, because an answer may hold anything. */
export type KeptAnswer = { address?: string; detail?: string; answer?: string }

const keptOf = (answer: AttemptAnswer): KeptAnswer =>
  answer.ok
    ? { address: answer.address, answer: Buffer.from(answer.body).toString('utf8') }
    : { ...('address' in answer && { address: answer.address }), detail: answer.detail }

type Settled = Pick<DeliveryRow, 'status' | 'attempts' | 'dueAt'>

function next(
  { config, random, now }: Making & Configured,
  ended: number,
  answer: AttemptAnswer,
  interruptions: number,
): Settled {
  const at = now()
  const outcome = outcomeOf(answer)
  if (outcome === 'interrupted' && interruptions < INTERRUPTIONS_MAX)
    // Jitter, because one of them may have interrupted all the others.
    return { status: 'pending', attempts: ended, dueAt: at + (waitBefore([AFTER_INTERRUPTION_MS], 0, random) ?? 0) }
  const attempts = ended + 1
  const final = finalStatus(outcome)
  if (final) return { status: final, attempts, dueAt: at }
  const isAsked = answer.ok && (answer.status === 429 || answer.status === 503)
  const asked = isAsked ? retryAfterOf(answer.headers['retry-after'], at) : undefined
  const wait = waitBefore(config.webhookDelaysMs, attempts, random, asked)
  return wait === undefined ? { status: 'failed', attempts, dueAt: at } : { status: 'pending', attempts, dueAt: at + wait }
}

function finalStatus(outcome: Outcome): 'delivered' | 'failed' | 'cancelled' | undefined {
  if (outcome === 'delivered' || outcome === 'cancelled') return outcome
  return outcome === 'gone' ? 'failed' : undefined
}

/**
 * Frees leases that nobody will end (store.ts); their attempts are in the log as interrupted. Of
 * several processes that find the same one, the first frees it.
 */
export async function recoverInterrupted(deps: Deps): Promise<void> {
  const { holder } = deps.leases
  const found = await listLostLeases(deps.db, holder, deps.now())
  const lost = found.filter(({ leasedBy, verificationId: id }) => leasedBy !== holder || !deps.attempts.isUnderWay(id))
  if (lost.length === 0) return
  const count = await deps.write(async tx => {
    let freed = 0
    for (const delivery of lost) {
      const interruptions = await countInterruptions(tx, delivery.id, delivery.attempts + 1)
      const settled = next(deps, delivery.attempts, { ok: false, failure: 'interrupted', detail: '' }, interruptions)
      if (await settleDelivery(tx, { ...delivery, ...settled })) freed++
    }
    return freed
  })
  if (count > 0) deps.log.warn('webhooks.recovered', { count })
}
