import { type EgressCall, locate } from '../../egress/client.ts'
import type { Calling } from '../../ground.ts'
import type { SigningSecrets } from '../../tenants/webhook-secret.ts'
import type { Deps } from '../deps.ts'
import type { ClaimedDelivery } from '../lease-store.ts'
import type { Outcome } from '../schema.ts'
import type { Owner } from '../store.ts'
import type { ClaimedAttempt } from './claim.ts'
import { signedMessage } from './message.ts'
import type { AttemptAnswer, Poster } from './poster.ts'

export const LIMITS: EgressCall['limits'] = { resolveMs: 2000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }

/** The verification as its merchant reads it, and its receiver, if any; nothing when erased. */
export type Render = (
  delivery: ClaimedDelivery,
) => Promise<{ url: string | undefined; environment: Owner['environment']; verification: object } | undefined>

type Tools = { poster: Poster; render: Render; secretsOf: SigningSecrets; limits: EgressCall['limits'] }

/** Renders, resolves, signs and posts. `signal` aborts when the verification is erased. */
export async function attemptDelivery(
  deps: Calling & Pick<Deps, 'leases'>,
  { poster, render, secretsOf, limits }: Tools,
  attempt: ClaimedAttempt,
  signal: AbortSignal,
): Promise<AttemptAnswer> {
  // Begun before the rows are read: when others take its lease for lost meanwhile, they may erase the rows.
  const heldUntil = deps.leases.begin()
  const mayUntil = () => (signal.aborted ? undefined : heldUntil())
  const rendered = await render(attempt)
  if (!rendered) return ERASED
  if (rendered.url === undefined) return NO_RECEIVER
  const { environment, verification } = rendered
  const resolve = (host: string) => deps.resolve(host, attempt.tenantId)
  const found = await locate(deps.egress, resolve, rendered.url, { resolveMs: limits.resolveMs, webhookOf: environment })
  if (!found.ok) return found
  const message = await signedMessage(secretsOf, { ...attempt, environment }, verification)
  // Checked last: nothing is awaited between here and the thread.
  if (signal.aborted) return ERASED
  // Another address each time: one that cannot be reached must not fail every attempt.
  const address = found.addresses[attempt.attempts % found.addresses.length] ?? ''
  const call: EgressCall = { ...message, url: found.url, method: 'POST', limits, onLargeAnswer: 'cut' }
  // The id is the attempt's: if the lease was taken for lost, another attempt of the same delivery may still be under way.
  return await poster.post(String(attempt.attemptId), address, call, { signal, mayUntil })
}

const ERASED: AttemptAnswer = { ok: false, failure: 'cancelled', detail: 'The verification was erased.' }
const NO_RECEIVER: AttemptAnswer = { ok: false, failure: 'cancelled', detail: 'The endpoint was removed.' }

export function outcomeOf(answer: AttemptAnswer): Outcome {
  if (!answer.ok) return answer.failure === 'too_large' ? 'connection_failed' : answer.failure
  const { status } = answer
  if (status >= 200 && status < 300) return 'delivered'
  if (status >= 300 && status < 400) return 'redirect'
  return status === 410 ? 'gone' : 'http_status'
}
