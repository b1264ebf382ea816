import { version } from '../../package.json' with { type: 'json' }
import type { Deps } from '../deps.ts'
import { signStandardWebhook, signWebhook } from '../sdk/webhook.ts'
import { readWebhookSecrets } from '../tenants/webhook-secret.ts'
import { isoUtc } from '../time.ts'
import type { Courier, CourierAnswer } from './courier.ts'
import { locate } from './egress-client.ts'
import type { ClaimedDelivery } from './store.ts'

const LIMITS = { resolveMs: 2000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }

/** The verification as its merchant reads it, and where it is to be sent; nothing when it was erased. */
export type Render = (
  delivery: Pick<ClaimedDelivery, 'tenantId' | 'verificationId'>,
) => Promise<{ url: string; verification: object } | undefined>

export type Flight = ClaimedDelivery & { attemptId: number; isCancelled: boolean }

type DeliverDeps = Pick<Deps, 'db' | 'now' | 'sealer' | 'egress' | 'resolve'>

/** One attempt: render, resolve, refuse, sign, post. */
export async function deliver(deps: DeliverDeps, courier: Courier, render: Render, flight: Flight): Promise<CourierAnswer> {
  const rendered = await render(flight)
  if (!rendered) return CANCELLED
  const found = await locate(deps.egress, deps.resolve, rendered.url, LIMITS.resolveMs)
  if (!found.ok) return found
  const message = await signedMessage(deps, flight, rendered.verification)
  // Erased since: from here to the thread nothing is awaited.
  if (flight.isCancelled) return CANCELLED
  // One that cannot be reached must not fail every attempt when there are others.
  const address = found.addresses[flight.attempts % found.addresses.length] ?? ''
  return await courier.send(flight.id, address, {
    ...message,
    url: found.url,
    method: 'POST',
    limits: LIMITS,
    onLargeAnswer: 'cut',
  })
}

const CANCELLED: CourierAnswer = { ok: false, failure: 'cancelled', detail: 'The verification was erased.' }

export type SignedMessage = { headers: Record<string, string>; body: string }

/** The exact bytes and headers of an attempt at this moment: `sent_at` and both signatures have one reading of the clock. */
export async function signedMessage(
  deps: Pick<Deps, 'db' | 'now' | 'sealer'>,
  { id, tenantId, type, attempts }: Pick<ClaimedDelivery, 'id' | 'tenantId' | 'type' | 'attempts'>,
  verification: object,
): Promise<SignedMessage> {
  const known = await readWebhookSecrets(deps, tenantId)
  if (!known) throw new Error('a tenant has a webhook secret')
  const secrets = [known.current, ...(known.previous ? [known.previous.secret] : [])]
  const now = deps.now()
  const timestamp = Math.floor(now / 1000)
  const payload = JSON.stringify({ type, verification, sent_at: isoUtc(now) })
  const signing = { payload, secrets, timestamp }
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
