import type { Db } from '../db/engine.ts'
import { hmacSha256With } from '../hash.ts'
import { base62 } from '../ids.ts'
import { readEndpoint } from '../tenants/webhook-endpoint.ts'
import { waitBefore } from './backoff.ts'
import type { Deps } from './deps.ts'
import type { DueLane } from './lanes.ts'
import { deleteDeliveries, insertDelivery, type Owner } from './store.ts'

export type Owed = Owner & {
  verificationId: string
  type: 'verification.completed' | 'verification.failed'
  /** The session's own; without one it is the tenant's endpoint that is told. */
  url: string | undefined
  at: number
  /** Null when no request made it due. */
  requestId: string | null
}

/** Inside the transaction of the result: there is no result without the message that is owed for it, if anybody is to be told. The outbox is told after the commit. */
export async function enqueueDelivery(
  { random, sealer, config }: Pick<Deps, 'random' | 'sealer' | 'config'>,
  tx: Db,
  { at, url, environment, ...owed }: Owed,
): Promise<DueLane | undefined> {
  const receiver = url ?? (await readEndpoint({ sealer }, tx, { tenantId: owed.tenantId, environment }))
  if (receiver === undefined) return undefined
  const lane = hmacSha256With(sealer.key('webhook lanes'))(new URL(receiver).origin).toString('hex', 0, 8)
  const dueAt = at + (waitBefore(config.webhookDelaysMs, 0, random) ?? 0)
  await insertDelivery(tx, {
    ...owed,
    id: `whd_${base62(random, 22)}`,
    status: 'pending',
    attempts: 0,
    dueAt,
    leaseUntil: null,
    createdAt: at,
    lane,
    environment,
  })
  return { lane, tenantId: owed.tenantId, dueAt }
}

/** For erasure: nothing more is sent, and nothing of what was sent stays in the log. */
export async function forgetDeliveries(tx: Db, tenantId: string, verificationId: string): Promise<number> {
  return await deleteDeliveries(tx, tenantId, verificationId)
}
