import type { Log } from '../log.ts'
import { hireThread } from '../threads.ts'
import type { EgressAnswer, EgressCall } from './egress-client.ts'
import type { Order, Report } from './worker.ts'

/** Beyond its own limits a call gets this long; then the thread is taken to be stuck. */
const STUCK_AFTER_MS = 3000
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

type Errand = { settle: (answer: CourierAnswer) => void; watchdog: ReturnType<typeof setTimeout> }

const LOST: Lost = { ok: false, failure: 'interrupted', detail: 'The sending thread was lost.' }

/** Keeps one thread at work, from its first errand on, and puts another in its place when it is lost or stuck. */
export function startCourier(log: Log, hire: () => Worker): Courier {
  const errands = new Map<string, Errand>()
  let thread: { worker: Worker; hiredAt: number } | undefined
  let isPausing = false
  let isStopped = false

  function workerNow(): Worker {
    if (thread) return thread.worker
    const worker = hire()
    worker.addEventListener('message', ({ data }: MessageEvent<Report>) => settle(data.id, data.answer))
    // Without it a failure in the thread would be one of ours.
    worker.addEventListener('error', event => {
      event.preventDefault()
      lose(worker)
    })
    worker.addEventListener('close', () => lose(worker))
    thread = { worker, hiredAt: performance.now() }
    return worker
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
        const watchdog = setTimeout(() => lose(worker), call.limits.totalMs + STUCK_AFTER_MS)
        errands.set(id, { settle: resolve, watchdog })
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
