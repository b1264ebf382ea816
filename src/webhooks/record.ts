import { SALT_BYTES } from '../seal.ts'
import { retryAfterOf, waitBefore } from './backoff.ts'
import type { CourierAnswer } from './courier.ts'
import type { Flight } from './deliver.ts'
import type { Deps } from './deps.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { countInterruptions, type DeliveryRow, endAttempt, listLeased, settleDelivery } from './store.ts'

/** An attempt whose end nobody saw is made again without being counted, but not for ever: it may be the cause. */
const INTERRUPTIONS_MAX = 3
const AFTER_INTERRUPTION_MS = 1000

type RecordDeps = Pick<Deps, 'db' | 'write' | 'now' | 'random' | 'sealer' | 'config' | 'log' | 'metrics'>

/** How an attempt ended, and what becomes of its delivery: when it is due again, nothing when this was its end. */
export async function recordAttempt(
  deps: RecordDeps,
  flight: Flight,
  answer: CourierAnswer,
  ms: number,
): Promise<number | undefined> {
  const outcome = outcomeOf(answer)
  const salt = Buffer.from(deps.random(SALT_BYTES))
  const sealed = deps.sealer.seal(attemptPlace(flight, salt), JSON.stringify(keptOf(answer)))
  const httpStatus = ('status' in answer && answer.status) || null
  const settled = await deps.write(async tx => {
    const { attemptId: id, tenantId } = flight
    await endAttempt(tx, { id, tenantId, outcome, httpStatus, durationMs: Math.round(ms), salt, sealed })
    const interruptions = outcome === 'interrupted' ? await countInterruptions(tx, flight.id, flight.attempts + 1) : 0
    const settled = next(deps, flight.attempts, answer, interruptions)
    await settleDelivery(tx, { id: flight.id, tenantId, ...settled })
    return settled
  })
  deps.metrics.count('vidimus_webhook_attempts_total', { outcome })
  deps.metrics.observe('vidimus_webhook_attempt_seconds', {}, ms / 1000)
  if (settled.status !== 'pending') deps.metrics.count('vidimus_webhook_deliveries_total', { status: settled.status })
  deps.log.info('webhook.attempt', {
    request_id: flight.requestId ?? undefined,
    tenant: flight.tenantId,
    status: httpStatus ?? undefined,
    ms: Math.round(ms),
    detail: `${flight.id} ${flight.attempts + 1}/${deps.config.webhookDelaysMs.length} ${outcome}`,
  })
  return settled.status === 'pending' ? settled.dueAt : undefined
}

export const attemptPlace = ({ id, tenantId }: Pick<Flight, 'id' | 'tenantId'>, salt: Uint8Array) => ({
  tenant: tenantId,
  table: 'webhook_attempts',
  column: 'sealed',
  row: id,
  salt,
})

/** What the log keeps of an answer: it may hold anything, so it is sealed. */
export type KeptAnswer = { address?: string; detail?: string; answer?: string }

const keptOf = (answer: CourierAnswer): KeptAnswer =>
  answer.ok
    ? { address: answer.address, answer: Buffer.from(answer.body).toString('utf8') }
    : { ...('address' in answer && { address: answer.address }), detail: answer.detail }

type Settled = Pick<DeliveryRow, 'status' | 'attempts' | 'dueAt'>

/** What becomes of a delivery after an attempt. */
function next({ config, random, now }: RecordDeps, ended: number, answer: CourierAnswer, interruptions: number): Settled {
  const at = now()
  const outcome = outcomeOf(answer)
  if (outcome === 'interrupted' && interruptions < INTERRUPTIONS_MAX)
    // Not all at the same moment again: one of them may be what ended the others.
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

/** What was under way when the process ended: its attempts stand in the log as interrupted. */
export async function recoverInterrupted(deps: RecordDeps): Promise<void> {
  const lost = await listLeased(deps.db)
  if (lost.length === 0) return
  deps.log.warn('webhooks.recovered', { count: lost.length })
  await deps.write(async tx => {
    for (const delivery of lost) {
      const interruptions = await countInterruptions(tx, delivery.id, delivery.attempts + 1)
      const settled = next(deps, delivery.attempts, { ok: false, failure: 'interrupted', detail: '' }, interruptions)
      await settleDelivery(tx, { id: delivery.id, tenantId: delivery.tenantId, ...settled })
    }
  })
}
