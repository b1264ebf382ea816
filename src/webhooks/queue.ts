// A message to a merchant is a row of webhook_deliveries, written in the transaction of its result.
// The rows of one tenant for one receiver form a queue. Queues are served in turn, and neither a
// receiver nor a tenant can take all slots: one that never answers delays only itself. The fewer
// slots are free, the fewer a tenant gets, so a handful of tenants with such receivers cannot take
// all of them either.
import type { Db } from '../db/engine.ts'
import { hmacSha256With } from '../hash.ts'
import { base62 } from '../ids.ts'
import { readEndpoint } from '../tenants/webhook-endpoint.ts'
import { waitBefore } from './backoff.ts'
import type { Deps } from './deps.ts'
import {
  beginAttempt,
  type ClaimedDelivery,
  claimDue,
  type DueQueue,
  deleteDeliveries,
  insertDelivery,
  nextDueIn,
  type Owner,
  PER_RECEIVER_MAX,
  type Queue,
} from './store.ts'

export type NewDelivery = Owner & {
  verificationId: string
  type: 'verification.completed' | 'verification.failed'
  /** That of the session; without one, the tenant's endpoint receives the message. */
  url: string | undefined
  at: number
  /** Null when no request made it due. */
  requestId: string | null
}

/**
 * Inside the transaction of the result: neither is committed without the other. Returns the payload
 * to publish as `owed` after the commit; nothing when there is no receiver.
 */
export async function enqueueDelivery(
  { random, sealer, config }: Pick<Deps, 'random' | 'sealer' | 'config'>,
  tx: Db,
  { at, url, ...delivery }: NewDelivery,
): Promise<string | undefined> {
  const address = url ?? (await readEndpoint({ sealer }, tx, delivery))
  if (address === undefined) return undefined
  const receiver = hmacSha256With(sealer.key('webhook lanes'))(new URL(address).origin).toString('hex', 0, 8)
  const dueAt = at + (waitBefore(config.webhookDelaysMs, 0, random) ?? 0)
  await insertDelivery(tx, { ...delivery, id: `whd_${base62(random, 22)}`, dueAt, createdAt: at, receiver })
  return duePayload({ receiver, tenantId: delivery.tenantId, dueAt })
}

export const duePayload = ({ receiver, tenantId, dueAt }: DueQueue): string => `${receiver} ${tenantId} ${dueAt}`

export function readDuePayload(payload: string): DueQueue {
  const [receiver = '', tenantId = '', dueAt] = payload.split(' ')
  return { receiver, tenantId, dueAt: Number(dueAt) }
}

/** For erasure, inside its transaction. */
export const forgetDeliveries = deleteDeliveries

/** The queues that wait, each with its earliest due time, and the slots for attempts. */
export type Queues = {
  add(due: DueQueue): void
  /** The due queues, once for each slot they get, and forgotten until they are added again. */
  take(now: number): Queue[]
  /** Frees one slot. */
  release(queue: Queue): void
}

/** A tenant gets one more slot only while this many times its own slots are free. */
const FREE_FOR_OTHERS = 3
const SLOTS = { atOnce: 32, perReceiver: PER_RECEIVER_MAX, perTenant: 8 }

export function createQueues({ atOnce, perReceiver, perTenant } = SLOTS): Queues {
  const waiting = new Map<string, DueQueue>()
  const taken = new Map<string, number>()
  let takenInAll = 0

  const count = (name: string) => taken.get(name) ?? 0
  const change = (name: string, by: number) => {
    const left = count(name) + by
    if (left === 0) taken.delete(name)
    else taken.set(name, left)
  }
  const occupy = ({ receiver, tenantId }: Queue, by: 1 | -1) => {
    takenInAll += by
    change(`receiver ${receiver}`, by)
    change(`tenant ${tenantId}`, by)
  }
  const hasSlot = ({ receiver, tenantId }: Queue) => {
    const free = atOnce - takenInAll
    const held = count(`tenant ${tenantId}`)
    return free > held * FREE_FOR_OTHERS && held < perTenant && count(`receiver ${receiver}`) < perReceiver
  }

  return {
    add(due) {
      const key = keyOf(due)
      const known = waiting.get(key)
      if (!known || due.dueAt < known.dueAt) waiting.set(key, due)
    },
    take(now) {
      const due = [...waiting].filter(([, queue]) => queue.dueAt <= now)
      const served: Queue[] = []
      for (let before = -1; before < served.length; ) {
        before = served.length
        for (const [key, queue] of due) {
          if (!hasSlot(queue)) continue
          occupy(queue, 1)
          served.push(queue)
          waiting.delete(key)
        }
      }
      return served
    },
    release: queue => occupy(queue, -1),
  }
}

const keyOf = ({ receiver, tenantId }: Queue): string => `${receiver} ${tenantId}`

/** Longer than any attempt. */
const LEASE_MS = 60_000
/** When the database could not be written. */
const AFTER_FAILURE_MS = 1000

/** A leased delivery and its attempt. `at` is in the log, `sent_at` and both signatures. */
export type ClaimedAttempt = ClaimedDelivery & { attemptId: number; at: number }

/**
 * Leases one due delivery for each slot and logs the attempts, before anything is sent, in one
 * write. Slots without a delivery are released; `hasFreed` tells that another queue may use them.
 */
export async function claimAttempts(
  { write, now }: Pick<Deps, 'write' | 'now'>,
  queues: Queues,
  leasedBy: string,
): Promise<{ claimed: ClaimedAttempt[]; hasFreed: boolean }> {
  const at = now()
  const slots = queues.take(at)
  if (slots.length === 0) return { claimed: [], hasFreed: false }
  const perQueue = [...Map.groupBy(slots, keyOf).values()].map(own => ({ queue: own[0]!, limit: own.length }))
  try {
    const served = await write(async tx => {
      const served: { queue: Queue; unused: number; dueAt: number | undefined; claimed: ClaimedAttempt[] }[] = []
      for (const { queue, limit } of perQueue) {
        const claimed: ClaimedAttempt[] = []
        for (const delivery of await claimDue(tx, queue, { now: at, leaseUntil: at + LEASE_MS, leasedBy, limit })) {
          const { id: deliveryId, tenantId, attempts } = delivery
          const attemptId = await beginAttempt(tx, { deliveryId, tenantId, attempt: attempts + 1, at })
          claimed.push({ ...delivery, attemptId, at })
        }
        served.push({ queue, unused: limit - claimed.length, dueAt: await nextDueIn(tx, queue), claimed })
      }
      return served
    })
    for (const { queue, unused, dueAt } of served) {
      for (let i = 0; i < unused; i++) queues.release(queue)
      if (dueAt !== undefined) queues.add({ ...queue, dueAt })
    }
    return { claimed: served.flatMap(({ claimed }) => claimed), hasFreed: served.some(({ unused }) => unused > 0) }
  } catch (error) {
    for (const queue of slots) queues.release(queue)
    for (const { queue } of perQueue) queues.add({ ...queue, dueAt: at + AFTER_FAILURE_MS })
    throw error
  }
}
