import type { Log } from '../../base/log.ts'
import { startThread } from '../../base/threads.ts'
import type { EgressAnswer, EgressCall } from '../../egress/client.ts'
import type { Order, Report } from './poster-thread.ts'

/** How often the thread is pinged while a call is under way. */
const PING_EVERY_MS = 100
/** Pings without any message from the thread, after which it counts as stuck. */
const UNANSWERED_MAX = 7
/** A thread may still be loading on a busy machine before its first message. */
const UNANSWERED_AT_START_MAX = 100
/** Time beyond a call's own limit after which a thread that still answers pings has forgotten the call. */
const OVERDUE_AFTER_MS = 3000
/** A thread that ends within this time after its start is replaced only after this time. */
const PAUSE_MS = 500

export type AttemptAnswer = EgressAnswer

/** `mayUntil`: the time until which the message may be sent, by this machine's clock; undefined when no longer. */
type Permit = { signal: AbortSignal; mayUntil: () => number | undefined }

/** Posts messages in a separate thread. */
export type Poster = {
  post(id: string, address: string, call: EgressCall, permit: Permit): Promise<AttemptAnswer>
  /** False for a moment after the thread was lost. */
  isReady(): boolean
  stop(): void
}

type Thread = {
  worker: Worker
  /** Orders that are not sent to the thread yet. */
  orders: Order[]
  startedAt: number
  hasReported: boolean
  unanswered: number
  pingedAt: number
}
type Call = { settle: (answer: AttemptAnswer) => void; mayUntil: Permit['mayUntil']; watchdog: ReturnType<typeof setTimeout> }

/** Whether the receiver got the message is unknown. */
const LOST: AttemptAnswer = { ok: false, failure: 'interrupted', detail: 'The sending thread was lost.' }

type Tools = { log: Log; extraCa: string | undefined; startThread: () => Worker }

/** Starts the thread with the first call, and another one when it is lost or stuck. */
export function createPoster({ log, extraCa, startThread }: Tools): Poster {
  const calls = new Map<string, Call>()
  let thread: Thread | undefined
  let pinging: ReturnType<typeof setInterval> | undefined
  let isPausing = false
  let isStopped = false

  function currentThread(): Thread {
    if (thread) return thread
    const worker = startThread()
    const started: Thread = { worker, orders: [], startedAt: performance.now(), hasReported: false, unanswered: 0, pingedAt: 0 }
    worker.addEventListener('message', ({ data: reports }: MessageEvent<Report[]>) => {
      started.hasReported = true
      started.unanswered = 0
      for (const report of reports) {
        if (report.kind === 'answer') settle(report.id, report.answer)
        if (report.kind === 'late') sendOrder({ kind: 'until', id: report.id, until: calls.get(report.id)?.mayUntil() })
      }
    })
    // Unless handled, an error in the thread is an error of this process.
    worker.addEventListener('error', event => {
      event.preventDefault()
      drop(worker)
    })
    worker.addEventListener('close', () => drop(worker))
    thread = started
    // The answer comes after the first turn of the thread, with which a call may have begun: the longer limit covers both.
    sendOrder({ kind: 'ping' })
    return started
  }

  /** Sends all orders of one turn in one message: attempts that were claimed together are ready together. */
  function sendOrder(order: Order): void {
    if (!thread) return
    const { worker, orders } = thread
    if (orders.push(order) > 1) return
    queueMicrotask(() => {
      if (thread?.worker === worker) worker.postMessage(orders.splice(0))
    })
  }

  /**
   * A thread in an endless loop answers no ping. Nor does one that gets no processor time, so a ping counts only while the
   * pings themselves are on time.
   */
  function ping(): void {
    if (!thread || calls.size === 0) {
      clearInterval(pinging)
      pinging = undefined
      return
    }
    const at = performance.now()
    const isOnTime = at - thread.pingedAt < 1.5 * PING_EVERY_MS
    thread.pingedAt = at
    // A late ping does not reset the count: a service that is often late would never notice a stuck thread.
    if (isOnTime) thread.unanswered++
    if (thread.unanswered > (thread.hasReported ? UNANSWERED_MAX : UNANSWERED_AT_START_MAX)) drop(thread.worker)
    else sendOrder({ kind: 'ping' })
  }

  function settle(id: string, answer: AttemptAnswer): void {
    const call = calls.get(id)
    if (!call) return
    calls.delete(id)
    clearTimeout(call.watchdog)
    call.settle(answer)
  }

  function drop(worker: Worker): void {
    if (thread?.worker !== worker) return
    const isYoung = performance.now() - thread.startedAt < PAUSE_MS
    thread = undefined
    if (!isStopped) log.error('webhooks.thread_lost', { count: calls.size })
    if (isYoung) {
      isPausing = true
      setTimeout(() => {
        isPausing = false
      }, PAUSE_MS).unref()
    }
    for (const id of [...calls.keys()]) settle(id, LOST)
    worker.terminate()
  }

  return {
    post(id, address, call, { signal, mayUntil }) {
      return new Promise(resolve => {
        if (isStopped) return resolve(LOST)
        const { worker } = currentThread()
        const watchdog = setTimeout(() => drop(worker), call.limits.totalMs + OVERDUE_AFTER_MS)
        calls.set(id, { settle: resolve, mayUntil, watchdog })
        pinging ??= setInterval(ping, PING_EVERY_MS)
        sendOrder({ kind: 'post', id, address, call, extraCa, until: mayUntil() })
        signal.addEventListener('abort', () => {
          if (calls.has(id)) sendOrder({ kind: 'cancel', id })
        })
      })
    },
    isReady: () => !isPausing,
    stop() {
      isStopped = true
      if (thread) drop(thread.worker)
    },
  }
}

export const startPosterThread = (): Worker => startThread('webhooks/delivery/poster-thread')
