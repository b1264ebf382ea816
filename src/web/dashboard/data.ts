import { useEffect, useRef, useState } from 'preact/hooks'
import { Unreachable } from '../shared/api.ts'
import { useSession } from './session.tsx'

const AGAIN_MS = 5000
const USED_MS = 5 * 60_000

export type Data<Value> = {
  value: Value | undefined
  problem: unknown
  /** The last reload failed: the value is old. */
  isStale: boolean
  reload: () => void
  set: (value: Value) => void
}

type LoadedState<Value> = { path: string | null; value?: Value; problem?: unknown }

/** The response of a route, retried while the service is unreachable; null loads nothing. */
export function useData<Value>(path: string | null): Data<Value> {
  const { call } = useSession()
  const [kept, setKept] = useState<LoadedState<Value>>({ path })
  const [round, setRound] = useState(0)
  const reload = () => setRound(before => before + 1)
  const isCurrent = kept.path === path
  useEffect(() => {
    if (path === null) return
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    call<Value>(path, { signal: leaving.signal })
      .then(value => setKept({ path, value }))
      .catch(problem => {
        if (leaving.signal.aborted) return
        setKept(before => ({ path, problem, ...(before.path === path && { value: before.value }) }))
        if (problem instanceof Unreachable) timer = setTimeout(whenVisible, AGAIN_MS, reload)
      })
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [path, round])
  return {
    value: isCurrent ? kept.value : undefined,
    problem: isCurrent ? kept.problem : undefined,
    isStale: isCurrent && kept.problem !== undefined && kept.value !== undefined,
    reload,
    set: value => setKept({ path, value }),
  }
}

/** A request extends the session, so a hidden page must not send any. */
function whenVisible(act: () => void): void {
  if (document.visibilityState === 'visible') act()
  else document.addEventListener('visibilitychange', () => whenVisible(act), { once: true })
}

/** Calls at an interval while somebody uses the page: one that is left alone must not keep its session. */
export function useWhileUsed(ms: number, act: () => void): void {
  const usedAt = useRef(performance.now())
  useEffect(() => {
    const leaving = new AbortController()
    const note = () => {
      usedAt.current = performance.now()
    }
    for (const kind of ['pointermove', 'pointerdown', 'keydown', 'wheel'])
      addEventListener(kind, note, { signal: leaving.signal, passive: true })
    return () => leaving.abort()
  }, [])
  useEvery(ms, true, () => {
    if (performance.now() - usedAt.current < USED_MS) act()
  })
}

/** Calls at an interval while `isOn` and the page is visible. */
export function useEvery(ms: number, isOn: boolean, act: () => void): void {
  const current = useRef(act)
  current.current = act
  useEffect(() => {
    if (!isOn) return
    const timer = setInterval(() => document.visibilityState === 'visible' && current.current(), ms)
    return () => clearInterval(timer)
  }, [ms, isOn])
}
