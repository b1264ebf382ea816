// The worker claims due deliveries, attempts them and records how each attempt ended. An attempt is stored before it is sent, and
// its delivery is leased meanwhile. When a process ends, another process or the next start retries its deliveries: none is lost, but
// one may be sent twice.

import { describeFailure } from '../../base/log.ts'
import { within } from '../../base/time.ts'
import type { EgressCall } from '../../egress/client.ts'
import { rememberSigningSecrets } from '../../tenants/webhook-secret.ts'
import type { Deps } from '../deps.ts'
import { listDueQueues } from '../lease-store.ts'
import { readDuePayload } from '../queue.ts'
import { attemptDelivery, LIMITS, type Render } from './attempt.ts'
import { type ClaimedAttempt, claimAttempts } from './claim.ts'
import { createGathering } from './gather.ts'
import { type AttemptAnswer, createPoster, startPosterThread } from './poster.ts'
import { recordAttempt, recoverInterrupted } from './record.ts'
import { createSlots } from './slots.ts'

/** The interval between looks for due deliveries. New ones are announced by `owed` and do not wait. */
const LOOK_EVERY_MS = 200
/** Pause after a failed write. */
const AFTER_FAILURE_MS = 1000
/** A stop waits this long for attempts under way. */
const DRAIN_MS = 2000

export type WebhookWorker = { stop(): Promise<void> }

/** For tests. */
export type WorkerOptions = { startThread?: () => Worker; limits?: EgressCall['limits'] }

export async function startWorker(
  deps: Deps,
  render: Render,
  { startThread = startPosterThread, limits = LIMITS }: WorkerOptions = {},
): Promise<WebhookWorker> {
  const poster = createPoster({ log: deps.log, extraCa: deps.egress.extraCa?.pem, startThread })
  const tools = { poster, render, secretsOf: rememberSigningSecrets(deps), limits }
  const slots = createSlots()
  const gathering = createGathering()
  let isStopped = false
  let serving: Promise<void> | undefined
  let isCalledAgain = false
  let isListed = false
  let hasFailed = false

  await recoverInterrupted(deps)
  const unsubscribes = [
    deps.subscribe('owed', payload => {
      // Another process wrote, and may have added deliveries.
      if (payload === '') isListed = false
      else slots.add(readDuePayload(payload))
      serve()
    }),
    deps.subscribe('cancel', notice => deps.attempts.cancelNamed(notice)),
  ]
  const timer = setInterval(serve, LOOK_EVERY_MS)
  serve()

  /** Runs one round at a time; a call during a round starts another one after it. */
  function serve(): void {
    if (isStopped) return
    if (serving) {
      isCalledAgain = true
      return
    }
    serving = round()
      .catch(logOnce)
      .finally(() => {
        serving = undefined
        if (!isCalledAgain) return
        isCalledAgain = false
        serve()
      })
  }

  /** Logs once until the database answers again: rounds go on meanwhile, several a second. */
  function logOnce(error: unknown): void {
    if (!hasFailed) deps.log.error('webhooks.round_failed', { failure: describeFailure(error) })
    hasFailed = true
  }

  async function round(): Promise<void> {
    const isLook = !isListed
    if (isLook) await lookForOthers()
    if (!poster.isReady()) return
    const { claimed, hasFreed } = await claimAttempts(deps, slots)
    if (isLook || claimed.length > 0) hasFailed = false
    for (const attempt of claimed) deps.attempts.run(attempt.verificationId, signal => run(attempt, signal))
    if (hasFreed) serve()
  }

  /** Finds deliveries that were not announced, and those of processes that ended. */
  async function lookForOthers(): Promise<void> {
    // Set before the read: an `owed` event during it must cause another read.
    isListed = true
    try {
      await recoverInterrupted(deps)
      for (const due of await listDueQueues(deps.db)) slots.add(due)
    } catch (error) {
      isListed = false
      throw error
    }
  }

  async function run(attempt: ClaimedAttempt, signal: AbortSignal): Promise<void> {
    gathering.begin()
    const startedAt = performance.now()
    const answer = await attemptDelivery(deps, tools, attempt, signal).catch((error): AttemptAnswer => {
      deps.log.error('webhooks.attempt_failed', { ...idsOf(attempt), failure: describeFailure(error) })
      return { ok: false, failure: 'interrupted', detail: 'The message could not be created.' }
    })
    const ms = performance.now() - startedAt
    slots.release(attempt)
    await gathering.end()
    // Called before the attempt is recorded, so that the next claim shares the commit.
    serve()
    while (!(await tryRecord(attempt, answer, ms)) && !isStopped) await Bun.sleep(AFTER_FAILURE_MS)
    gathering.recorded()
  }

  async function tryRecord(attempt: ClaimedAttempt, answer: AttemptAnswer, ms: number): Promise<boolean> {
    try {
      const dueAt = await recordAttempt(deps, attempt, answer, ms)
      if (dueAt === undefined) return true
      slots.add({ receiver: attempt.receiver, tenantId: attempt.tenantId, dueAt })
      if (dueAt <= deps.now()) serve()
      return true
    } catch (error) {
      deps.log.error('webhooks.record_failed', { ...idsOf(attempt), failure: describeFailure(error) })
      return false
    }
  }

  return {
    async stop() {
      isStopped = true
      clearInterval(timer)
      await serving
      await within(DRAIN_MS, deps.attempts.allEnded(), () => {})
      poster.stop()
      await deps.attempts.allEnded()
      for (const unsubscribe of unsubscribes) unsubscribe()
    },
  }
}

const idsOf = ({ requestId, tenantId }: ClaimedAttempt) => ({ request_id: requestId ?? undefined, tenant: tenantId })
