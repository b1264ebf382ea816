// A test event shows a merchant how the endpoint answers. It is signed like a result: the failure of a verification whose id
// cannot exist, with the code `test_event`. It is not stored as a delivery, and not retried.

import { base62 } from '../../base/ids.ts'
import { isoUtc } from '../../base/time.ts'
import { callAt, type EgressAnswer, type EgressCall, locate } from '../../egress/client.ts'
import { apiError } from '../../http/errors.ts'
import { readEndpoint } from '../../tenants/webhook-endpoint.ts'
import { readSigningSecrets } from '../../tenants/webhook-secret.ts'
import type { Deps } from '../deps.ts'
import type { Outcome } from '../schema.ts'
import type { Owner } from '../store.ts'
import { outcomeOf } from './attempt.ts'
import { signedMessage } from './message.ts'

/** No verification has this id: there is no underscore after the prefix of a real one. */
export const TEST_VERIFICATION_ID = 'vs_test_event'
const TEST_CODE = 'test_event'

/** Together shorter than the time that a connection to us may be silent. */
const LIMITS: EgressCall['limits'] = { resolveMs: 2000, connectMs: 5000, totalMs: 10_000, answerBytes: 4096 }

export type TestDelivery = { outcome: Outcome; answer: EgressAnswer; ms: number }

export async function sendTestEvent(deps: Deps, owner: Owner, actor: string): Promise<TestDelivery> {
  const { tenantId, environment } = owner
  const url = await readEndpoint(deps, deps.db, owner)
  if (url === undefined) throw apiError('endpoint_not_found')
  deps.limits.take('webhook-test', tenantId)
  const at = deps.now()
  const sent = { at, tenantId, actor, action: 'webhook.tested' as const, subjectId: tenantId, details: { environment } }
  await deps.write(tx => deps.audit.append(tx, sent))
  const startedAt = performance.now()
  const answer = await post(deps, owner, url, at)
  return { outcome: outcomeOf(answer), answer, ms: Math.round(performance.now() - startedAt) }
}

async function post(deps: Deps, owner: Owner, url: string, at: number): Promise<EgressAnswer> {
  const resolve = (host: string) => deps.resolve(host, owner.tenantId)
  const found = await locate(deps.egress, resolve, url, { resolveMs: LIMITS.resolveMs, webhookOf: owner.environment })
  if (!found.ok) return found
  const id = `whd_${base62(deps.random, 22)}`
  const sent = { ...owner, id, type: 'verification.failed' as const, attempts: 0, at }
  const message = await signedMessage(readSigningSecrets(deps), sent, verificationAt(at))
  const call: EgressCall = { ...message, url: found.url, method: 'POST', limits: LIMITS, onLargeAnswer: 'cut' }
  return await callAt(found.addresses[0] ?? '', call, { extraCa: deps.egress.extraCa })
}

const verificationAt = (at: number) => ({
  id: TEST_VERIFICATION_ID,
  status: 'failed',
  error: { code: TEST_CODE, message: 'A test event, sent from the dashboard. It is not the result of a verification.' },
  created_at: isoUtc(at),
  expires_at: isoUtc(at),
})
