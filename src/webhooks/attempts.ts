import type { Clock } from '../base/time.ts'
import type { Engine } from '../db/engine.ts'
import { noticeName } from '../db/topics.ts'
import type { Announcing } from '../ground.ts'

/** Duration of a delivery's lease; longer than any attempt. */
export const LEASE_MS = 60_000
/** Longer than any attempt, including the time in which its thread must stop. */
const ATTEMPT_MS_MAX = 18_000
/** A cancellation is repeated, because notices can be lost and processes can end. */
const ASK_AGAIN_MS = 1000

/** A lease that was deleted with its delivery. */
export type Held = { verificationId: string; leasedBy: string; leaseUntil: number }

/** Attempts under way. An erasure cancels them in every process and waits for their end. */
export type Attempts = {
  /** Runs `work` with a signal that aborts when the verification is erased. */
  run(verificationId: string, work: (signal: AbortSignal) => Promise<void>): void
  /** Settles when no attempt for these verifications is under way in any process. `held`: the leases of their deliveries. */
  cancel(verificationIds: readonly string[], held: readonly Held[]): Promise<void>
  /** Handles a `cancel` notice: aborts the attempts, and confirms their end to the process that asked. */
  cancelNamed(notice: string): void
  isUnderWay(verificationId: string): boolean
  allEnded(): Promise<void>
}

type UnderWay = { name: string; abort(): void; ended: Promise<void> }

type AttemptsDeps = Announcing & Pick<Engine, 'leases' | 'subscribe'> & { now: Clock }

export function createAttempts(deps: AttemptsDeps): Attempts {
  const { holder } = deps.leases
  const underWay = new Set<UnderWay>()
  const ofThese = (names: readonly string[]) => {
    const wanted = new Set(names)
    return [...underWay].filter(({ name }) => wanted.has(name))
  }
  const end = async (attempts: Iterable<UnderWay>) => {
    await Promise.all([...attempts].map(({ ended }) => ended))
  }
  return {
    run(verificationId, work) {
      const controller = new AbortController()
      const ended = work(controller.signal).finally(() => underWay.delete(attempt))
      const attempt = { name: noticeName(verificationId), abort: () => controller.abort(), ended }
      underWay.add(attempt)
    },
    async cancel(ids, held) {
      const names = ids.map(noticeName)
      deps.publish('cancel', [holder, ...names].join(' '))
      await end(ofThese(names))
      await othersEnd(deps, held)
    },
    cancelNamed(notice) {
      const [from, ...names] = notice.split(' ')
      const cancelled = ofThese(names)
      for (const { abort } of cancelled) abort()
      if (from === holder || from === '') return
      void end(cancelled).then(() => deps.publish('cancelled', [holder, ...names].join(' ')))
    },
    isUnderWay: id => ofThese([noticeName(id)]).length > 0,
    allEnded: () => end(underWay),
  }
}

async function othersEnd({ leases, now, publish, subscribe }: AttemptsDeps, held: readonly Held[]): Promise<void> {
  const endOf = ({ leaseUntil }: Held) => Math.min(leaseUntil - LEASE_MS - now() + ATTEMPT_MS_MAX, ATTEMPT_MS_MAX)
  let waiting = held
    .filter(({ leasedBy }) => leasedBy !== leases.holder)
    .map(each => ({ holder: each.leasedBy, name: noticeName(each.verificationId), until: performance.now() + endOf(each) }))
  let wake = () => {}
  const leave = subscribe('cancelled', notice => {
    const [from, ...names] = notice.split(' ')
    waiting = waiting.filter(each => each.holder !== from || !names.includes(each.name))
    wake()
  })
  try {
    while (waiting.length > 0) {
      const holders = await leases.holders()
      waiting = waiting.filter(each => holders.includes(each.holder) && each.until > performance.now())
      if (waiting.length === 0) return
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, ASK_AGAIN_MS)
        wake = () => {
          if (waiting.length > 0) return
          clearTimeout(timer)
          resolve()
        }
        wake()
      })
      publish('cancel', [leases.holder, ...waiting.map(({ name }) => name)].join(' '))
    }
  } finally {
    leave()
  }
}
