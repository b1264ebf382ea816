// Whether this machine has more to do than it can. Then what will be asked again anyway is refused at once, so that customers who
// are in the middle of something wait for no queue.
import type { Metrics } from '../base/metrics.ts'
import { apiError } from './errors.ts'

const SAMPLE_MS = 100
/** A person notices this delay. */
const LAG_MAX_MS = 250

/** A creation or a wallet's answer takes a few milliseconds; with this much, several of the same length wait before it. */
const TOOK_MAX_MS = 400
/** So many in a row, over so long: a single one waited for something else, and what arrives at once is soon done. */
const TAKEN = 8
const SLOW_FOR_MS = 1000
/** What was seen longer ago says nothing of now. */
const TAKEN_WITHIN_MS = 1000

const RETRY_SECONDS = 2

export type LoadWatch = {
  isOverloaded(): boolean
  /** How long a creation or a wallet's answer took, from its arrival. */
  took(ms: number): void
  stop(): void
}

/** Measures the lag of the event loop, as long as this timer is late, and how long requests take that are much alike. */
export function watchLoad(monotonic: () => number, onSample: (lagMs: number) => void = () => {}): LoadWatch {
  let dueAt = monotonic() + SAMPLE_MS
  let lagMs = 0
  let lagBeforeMs = 0
  let slow = 0
  let slowSince = 0
  let tookAt = 0
  const timer = setInterval(() => {
    const at = monotonic()
    lagBeforeMs = lagMs
    lagMs = at - dueAt
    dueAt = at + SAMPLE_MS
    onSample(Math.max(0, lagMs))
  }, SAMPLE_MS)
  timer.unref()

  // Two delays in a row: a single one is a first use of code or a pause of the machine. The delay of the sample that is due
  // counts, because a blocked loop takes none.
  function lags(): boolean {
    const dueMs = monotonic() - dueAt
    return dueMs > LAG_MAX_MS ? lagMs > LAG_MAX_MS : Math.min(lagMs, lagBeforeMs) > LAG_MAX_MS
  }

  const isSlow = () => slow >= TAKEN && tookAt - slowSince >= SLOW_FOR_MS && monotonic() - tookAt <= TAKEN_WITHIN_MS

  return {
    isOverloaded: () => isSlow() || lags(),
    took(ms) {
      tookAt = monotonic()
      slow = ms > TOOK_MAX_MS ? slow + 1 : 0
      if (slow === 1) slowSince = tookAt
    },
    stop: () => clearInterval(timer),
  }
}

/** For creations, lists, polls and pages. Wallets, tills that redeem or compare, tokens and erasures are always served. */
export function refuseWhenOverloaded({ isOverloaded, metrics }: { isOverloaded: () => boolean; metrics: Metrics }): void {
  if (!isOverloaded()) return
  metrics.count('vidimus_rate_limited_total', { policy: 'overload' })
  throw apiError('rate_limit_exceeded', {
    retryAfter: RETRY_SECONDS,
    message: `This machine has more to do than it can. Nothing was done; ask again in ${RETRY_SECONDS} s.`,
  })
}
