import { useEffect, useState } from 'preact/hooks'
import { ApiFailure } from '../../shared/api.ts'

/** Seconds until the next try is allowed, counted down. */
export function useWait(problem: unknown): number {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    setLeft(problem instanceof ApiFailure ? (problem.retryAfterSeconds ?? 0) : 0)
  }, [problem])
  useEffect(() => {
    if (left <= 0) return
    const timer = setTimeout(setLeft, 1000, left - 1)
    return () => clearTimeout(timer)
  }, [left])
  return left
}
