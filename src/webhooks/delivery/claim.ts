import type { Writing } from '../../ground.ts'
import { beginAttempt } from '../attempt-store.ts'
import { LEASE_MS } from '../attempts.ts'
import type { Deps } from '../deps.ts'
import { type ClaimedDelivery, claimDue, nextDueIn } from '../lease-store.ts'
import type { Queue } from '../store.ts'
import { keyOf, type Slots } from './slots.ts'

/** Pause of a queue after a failed write. */
const AFTER_FAILURE_MS = 1000

/** A leased delivery and its attempt. `at` is in the log, `sent_at` and both signatures. */
export type ClaimedAttempt = ClaimedDelivery & { attemptId: number; at: number }

/**
 * Leases one due delivery for each slot and logs the attempts, in one write and before anything is sent. Slots without a delivery
 * are released; `hasFreed` is true when other queues may use them.
 */
export async function claimAttempts(
  { write, now, leases: { holder: leasedBy } }: Writing & Pick<Deps, 'leases'>,
  slots: Slots,
): Promise<{ claimed: ClaimedAttempt[]; hasFreed: boolean }> {
  const at = now()
  const taken = slots.take(at)
  if (taken.length === 0) return { claimed: [], hasFreed: false }
  const perQueue = [...Map.groupBy(taken, keyOf).values()].map(own => ({ queue: own[0]!, limit: own.length }))
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
        // A full claim may have left some behind: the next one finds out.
        const dueAt = claimed.length === limit ? at : await nextDueIn(tx, queue)
        served.push({ queue, unused: limit - claimed.length, dueAt, claimed })
      }
      return served
    })
    for (const { queue, unused, dueAt } of served) {
      for (let i = 0; i < unused; i++) slots.release(queue)
      if (dueAt !== undefined) slots.add({ ...queue, dueAt })
    }
    return { claimed: served.flatMap(({ claimed }) => claimed), hasFreed: served.some(({ unused }) => unused > 0) }
  } catch (error) {
    for (const queue of taken) slots.release(queue)
    for (const { queue } of perQueue) slots.add({ ...queue, dueAt: at + AFTER_FAILURE_MS })
    throw error
  }
}
