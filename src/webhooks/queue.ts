// A message to a merchant is a row of webhook_deliveries, written in the transaction of its result.
// Its way from here: worker.ts runs rounds, claim.ts leases due rows within the slots of slots.ts,
// attempt.ts sends, record.ts writes how the attempt ended.

import { hmacSha256With } from '../base/hash.ts'
import { base62 } from '../base/ids.ts'
import type { Db } from '../db/engine.ts'
import type { Configured, Sealing } from '../ground.ts'
import { readEndpoint } from '../tenants/webhook-endpoint.ts'
import { waitBefore } from './backoff.ts'
import type { DueQueue } from './lease-store.ts'
import { deleteDeliveries, insertDelivery, type Owner } from './store.ts'

type NewDelivery = Owner & {
  verificationId: string
  type: 'verification.completed' | 'verification.failed'
  /** The webhook_url of the session; without one, the tenant's endpoint receives the message. */
  url: string | undefined
  at: number
  /** Null when no request made it due. */
  requestId: string | null
}

/**
 * Called inside the transaction of the result: neither is committed without the other. Returns the
 * payload to publish as `owed` after the commit; nothing when there is no receiver.
 */
export async function enqueueDelivery(
  deps: Sealing & Configured,
  tx: Db,
  { at, url, ...delivery }: NewDelivery,
): Promise<string | undefined> {
  const { random, sealer, config } = deps
  const address = url ?? (await readEndpoint(deps, tx, delivery))
  if (address === undefined) return undefined
  const receiver = hmacSha256With(sealer.key('webhook receivers'))(new URL(address).origin).toString('hex', 0, 8)
  const dueAt = at + (waitBefore(config.webhookDelaysMs, 0, random) ?? 0)
  await insertDelivery(tx, { ...delivery, id: `whd_${base62(random, 22)}`, dueAt, createdAt: at, receiver })
  return duePayload({ receiver, tenantId: delivery.tenantId, dueAt })
}

export const duePayload = ({ receiver, tenantId, dueAt }: DueQueue): string => `${receiver} ${tenantId} ${dueAt}`

export function readDuePayload(payload: string): DueQueue {
  const [receiver = '', tenantId = '', dueAt] = payload.split(' ')
  return { receiver, tenantId, dueAt: Number(dueAt) }
}

/** Called inside the transaction of an erasure. */
export const forgetDeliveries = deleteDeliveries
