import type { EgressAnswer, EgressCall } from '../egress/client.ts'
import type { Log } from '../log.ts'
import { hireThread } from '../threads.ts'
import type { Order, Report } from './worker.ts'

/** While something is under way the thread is asked this often for a sign of life. */
const PING_EVERY_MS = 100
/** As many questions without any answer, and it is taken to be stuck. */
const UNANSWERED_MAX = 7
/** Until its first word it may still be loading, on a machine that has other things to do. */
const UNANSWERED_AT_START_MAX = 100
/** Should signs of life come from a thread that does nothing else: beyond its own limits a call gets this long. */
const OVERDUE_AFTER_MS = 3000
/** A thread that dies young is not replaced sooner than this. */
const PAUSE_MS = 500

/** Nobody knows what the receiver got. */
type Lost = { ok: false; failure: 'interrupted'; detail: string }
export type CourierAnswer = EgressAnswer | Lost

export type Courier = {
  send(id: string, address: string, call: EgressCall): Promise<CourierAnswer>
  cancel(id: string): void
  /** False for a moment after the thread was lost. */
  isReady(): boolean
  stop(): void
}

type Thread = { worker: Worker; hiredAt: number; hasSpoken: boolean; unanswered: number; askedAt: number }
type Errand = { settle: (answer: CourierAnswer) => void; watchdog: ReturnType<typeof setTimeout> }

const LOST: Lost = { ok: false, failure: 'interrupted', detail: 'The sending thread was lost.' }

/** Keeps one thread at work, from its first errand on, and puts another in its place when it is lost or stuck. */
export function startCourier(log: Log, hire: () => Worker): Courier {
  const errands = new Map<string, Errand>()
  let thread: Thread | undefined
  let heartbeat: ReturnType<typeof setInterval> | undefined
  let isPausing = false
  let isStopped = false

  function workerNow(): Worker {
    if (thread) return thread.worker
    const worker = hire()
    const hired: Thread = { worker, hiredAt: performance.now(), hasSpoken: false, unanswered: 0, askedAt: 0 }
    worker.addEventListener('message', ({ data }: MessageEvent<Report>) => {
      hired.hasSpoken = true
      hired.unanswered = 0
      if (data.kind === 'answer') settle(data.id, data.answer)
    })
    // Without it a failure in the thread would be one of ours.
    worker.addEventListener('error', event => {
      event.preventDefault()
      lose(worker)
    })
    worker.addEventListener('close', () => lose(worker))
    // Answered before the first errand: from then on silence is known for what it is.
    worker.postMessage({ kind: 'ping' } satisfies Order)
    thread = hired
    return worker
  }

  /**
   * A thread that runs in circles answers nothing. Nor does one that gets no processor: so questions count only while this thread, which shares
   * its fate, is on time itself.
   */
  function ask(): void {
    if (!thread || errands.size === 0) {
      clearInterval(heartbeat)
      heartbeat = undefined
      return
    }
    const at = performance.now()
    const isOnTime = at - thread.askedAt < 1.5 * PING_EVERY_MS
    thread.askedAt = at
    // Those before it stay: a service that is late now and then would never find out.
    if (isOnTime) thread.unanswered++
    if (thread.unanswered > (thread.hasSpoken ? UNANSWERED_MAX : UNANSWERED_AT_START_MAX)) lose(thread.worker)
    else thread.worker.postMessage({ kind: 'ping' } satisfies Order)
  }

  function settle(id: string, answer: CourierAnswer): void {
    const errand = errands.get(id)
    if (!errand) return
    errands.delete(id)
    clearTimeout(errand.watchdog)
    errand.settle(answer)
  }

  function lose(worker: Worker): void {
    if (thread?.worker !== worker) return
    const isYoung = performance.now() - thread.hiredAt < PAUSE_MS
    thread = undefined
    if (!isStopped) log.error('webhooks.thread_lost', { count: errands.size })
    if (isYoung) {
      isPausing = true
      setTimeout(() => {
        isPausing = false
      }, PAUSE_MS).unref()
    }
    for (const id of [...errands.keys()]) settle(id, LOST)
    worker.terminate()
  }

  return {
    send(id, address, call) {
      return new Promise(resolve => {
        if (isStopped) return resolve(LOST)
        const worker = workerNow()
        const watchdog = setTimeout(() => lose(worker), call.limits.totalMs + OVERDUE_AFTER_MS)
        errands.set(id, { settle: resolve, watchdog })
        heartbeat ??= setInterval(ask, PING_EVERY_MS)
        worker.postMessage({ kind: 'send', id, address, call } satisfies Order)
      })
    },
    cancel(id) {
      if (errands.has(id)) thread?.worker.postMessage({ kind: 'cancel', id } satisfies Order)
    },
    isReady: () => !isPausing,
    stop() {
      isStopped = true
      if (thread) lose(thread.worker)
    },
  }
}

export const hireWorker = (): Worker => hireThread('webhooks/worker')
