import { ApiFailure, Unreachable } from '../shared/api.ts'
import { useFollowed } from '../shared/followed.ts'

const FIRST_WAIT_MS = 1000
const WAIT_MS_MAX = 15_000

export type Connection = 'reached' | 'unreachable' | 'no_network'

const CHANGED = new EventTarget()
let isReached = true

/** Called after each call to the service. */
export function report(hasAnswered: boolean): void {
  if (isReached === hasAnswered) return
  isReached = hasAnswered
  CHANGED.dispatchEvent(new Event('change'))
}

export const useConnection = (): Connection => useFollowed(current, [CHANGED, 'change'], [window, 'online'], [window, 'offline'])

/** The server may be on this machine, so a response counts more than `onLine`. */
const current = (): Connection => (isReached ? 'reached' : navigator.onLine ? 'unreachable' : 'no_network')

/** Retries until the response is final. Rejects with the signal's reason when aborted. */
export async function persist<Result>(
  act: () => Promise<Result>,
  signal: AbortSignal,
  isPassing: (failure: ApiFailure) => boolean = passesByItself,
): Promise<Result> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
    try {
      const result = await act()
      report(true)
      return result
    } catch (error) {
      signal.throwIfAborted()
      const isUnreachable = error instanceof Unreachable
      report(!isUnreachable)
      if (!isUnreachable && !(error instanceof ApiFailure && isPassing(error))) throw error
      const wantedMs = error instanceof ApiFailure ? (error.retryAfterSeconds ?? 0) * 1000 : 0
      await pause(Math.max(waitMs, wantedMs), signal)
      signal.throwIfAborted()
    }
  }
}

/** Not a spent quota, which lasts until midnight. */
const passesByItself = ({ status, code }: ApiFailure): boolean =>
  status >= 500 || code === 'rate_limit_exceeded' || code === 'idempotency_key_in_flight'

/** Ends early when the network is back or the page becomes visible. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      removeEventListener('online', end)
      document.removeEventListener('visibilitychange', wake)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const wake = () => {
      if (document.visibilityState === 'visible') end()
    }
    const timer = setTimeout(end, ms)
    addEventListener('online', end)
    document.addEventListener('visibilitychange', wake)
    signal.addEventListener('abort', end)
  })
}
