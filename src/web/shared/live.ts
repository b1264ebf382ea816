// Follows a session to its end by server-sent events or, if a proxy holds them back, polling.
import type { Status } from '../../verifications/schema.ts'
import { ApiFailure, callApi } from './api.ts'
import { serviceUrl } from './base.ts'

const FIRST_EVENT_MS = 5000
const POLL_MS = 2000
const POLL_MS_MAX = 15_000

type Watch = {
  id: string
  /** Reads more than the status: in place of the poll, and after each event. */
  read?: () => Promise<Status>
  /** Called for every event, even without a new status: the wallet may have fetched the request. */
  onStatus?: (status: Status) => void
  onConnection?: (isConnected: boolean) => void
  /** The session does not exist (any more). */
  onGone?: () => void
}

/** Stops when the session ends; the returned function stops it before. */
export function watchStatus({ id, read, onStatus, onConnection, onGone }: Watch): () => void {
  let isOver = false
  let hasHeard = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const heard = (status: Status) => {
    if (isOver) return
    onConnection?.(true)
    if (status !== 'pending') stop()
    onStatus?.(status)
  }

  const ask = async () => heard(await (read ?? (() => readStatus(id)))())

  const poll = async (waitMs: number) => {
    try {
      await ask()
      if (!isOver) timer = setTimeout(poll, POLL_MS, POLL_MS)
    } catch (error) {
      if (isOver) return
      if (isNotFound(error)) {
        stop()
        return onGone?.()
      }
      if (!(error instanceof ApiFailure)) onConnection?.(false)
      const wantedMs = error instanceof ApiFailure ? (error.retryAfterSeconds ?? 0) * 1000 : 0
      const nextMs = Math.max(Math.min(waitMs * 2, POLL_MS_MAX), wantedMs)
      timer = setTimeout(poll, nextMs, nextMs)
    }
  }

  const pollInstead = () => {
    if (isOver) return
    clearTimeout(timer)
    source.close()
    poll(POLL_MS)
  }

  // The page sleeps on a phone while the wallet is in front.
  const wake = () => {
    if (document.visibilityState === 'visible' && source.readyState !== EventSource.CLOSED) ask().catch(pollInstead)
  }

  const stop = () => {
    isOver = true
    clearTimeout(timer)
    source.close()
    document.removeEventListener('visibilitychange', wake)
  }

  const source = new EventSource(serviceUrl(`v1/verifications/${encodeURIComponent(id)}/events`))
  timer = setTimeout(pollInstead, FIRST_EVENT_MS)
  document.addEventListener('visibilitychange', wake)
  source.addEventListener('status', event => {
    clearTimeout(timer)
    hasHeard = true
    if (read) ask().catch(pollInstead)
    else heard((JSON.parse(event.data) as { status: Status }).status)
  })
  source.addEventListener('error', () => {
    // The browser reconnects by itself; poll after a second failure, a refusal or silence.
    if (!hasHeard || source.readyState === EventSource.CLOSED) return pollInstead()
    hasHeard = false
    clearTimeout(timer)
    timer = setTimeout(pollInstead, FIRST_EVENT_MS)
  })
  return stop
}

const isNotFound = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404

const readStatus = async (id: string): Promise<Status> =>
  (await callApi<{ status: Status }>(`v1/verifications/${encodeURIComponent(id)}/status`)).status
