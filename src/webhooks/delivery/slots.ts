// The deliveries of one tenant to one receiver form a queue. Queues are served in turn, and neither a receiver nor a tenant can
// take all slots: a receiver that never answers delays only itself. The fewer slots are free, the fewer a tenant gets, so a few
// tenants with such receivers cannot take all slots either.
import { type DueQueue, PER_RECEIVER_MAX } from '../lease-store.ts'
import type { Queue } from '../store.ts'

/** The waiting queues, each with its earliest due time, and the slots for attempts. */
export type Slots = {
  add(due: DueQueue): void
  /** Returns the due queues, once for each slot they get, and forgets them until they are added again. */
  take(now: number): Queue[]
  release(queue: Queue): void
}

/** A tenant gets one more slot only while this many times its own slots are free. */
const FREE_FOR_OTHERS = 3
const LIMITS = { atOnce: 32, perReceiver: PER_RECEIVER_MAX, perTenant: 8 }

export function createSlots({ atOnce, perReceiver, perTenant } = LIMITS): Slots {
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

export const keyOf = ({ receiver, tenantId }: Queue): string => `${receiver} ${tenantId}`
