import { version } from '../../package.json' with { type: 'json' }
import { type EgressCall, locate } from '../egress/client.ts'
import { signStandardWebhook, signWebhook } from '../sdk/webhook.ts'
import { signingSecrets } from '../tenants/webhook-secret.ts'
import { isoUtc } from '../time.ts'
import type { Courier, CourierAnswer } from './courier.ts'
import type { Deps } from './deps.ts'
import type { ClaimedDelivery, Owner } from './store.ts'

export const LIMITS: EgressCall['limits'] = { resolveMs: 2000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }

/** The verification as its merchant reads it, and where it is to be sent, if anywhere; nothing when it was erased. */
export type Render = (
  delivery: Pick<ClaimedDelivery, 'tenantId' | 'verificationId'>,
) => Promise<{ url: string | undefined; environment: Owner['environment']; verification: object } | undefined>

/** An attempt under way. Its time is one reading of the clock, for the log, `sent_at` and both signatures: what was sent can be told from the log. */
export type Flight = ClaimedDelivery & { attemptId: number; at: number; isCancelled: boolean }

type DeliverDeps = Pick<Deps, 'db' | 'sealer' | 'egress' | 'resolve'>

/** One attempt: render, resolve, refuse, sign, post. */
export async function deliver(
  deps: DeliverDeps,
  { courier, render, limits }: { courier: Courier; render: Render; limits: EgressCall['limits'] },
  flight: Flight,
): Promise<CourierAnswer> {
  const rendered = await render(flight)
  if (!rendered) return CANCELLED
  if (rendered.url === undefined) return UNWANTED
  const resolve = (host: string) => deps.resolve(host, flight.tenantId)
  const { resolveMs } = limits
  const found = await locate(deps.egress, resolve, rendered.url, { resolveMs, webhookOf: rendered.environment })
  if (!found.ok) return found
  const message = await signedMessage(deps, { ...flight, environment: rendered.environment }, rendered.verification)
  // Erased since: from here to the thread nothing is awaited.
  if (flight.isCancelled) return CANCELLED
  // One that cannot be reached must not fail every attempt when there are others.
  const address = found.addresses[flight.attempts % found.addresses.length] ?? ''
  return await courier.send(flight.id, address, {
    ...message,
    url: found.url,
    method: 'POST',
    limits,
    onLargeAnswer: 'cut',
    extraCa: deps.egress.extraCa,
  })
}

const CANCELLED: CourierAnswer = { ok: false, failure: 'cancelled', detail: 'The verification was erased.' }
const UNWANTED: CourierAnswer = { ok: false, failure: 'cancelled', detail: 'The endpoint was removed.' }

export type SignedMessage = { headers: Record<string, string>; body: string }

type Stamped = Owner & Pick<ClaimedDelivery, 'id' | 'type' | 'attempts'> & { at: number }

/** The exact bytes and headers of an attempt. */
export async function signedMessage(
  deps: Pick<Deps, 'db' | 'sealer'>,
  { id, tenantId, environment, type, attempts, at }: Stamped,
  verification: object,
): Promise<SignedMessage> {
  const payload = JSON.stringify({ type, verification, sent_at: isoUtc(at) })
  const secrets = await signingSecrets(deps, { tenantId, environment }, at)
  const signing = { payload, secrets, timestamp: Math.floor(at / 1000) }
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': `Vidimus/${version}`,
      'x-service-signature': await signWebhook(signing),
      'x-service-attempt': String(attempts + 1),
      ...(await signStandardWebhook({ ...signing, id })),
    },
    body: payload,
  }
}
