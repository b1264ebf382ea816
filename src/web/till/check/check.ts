import { useEffect } from 'preact/hooks'
import type { Verification } from '../../../verifications/schema.ts'
import { ApiFailure } from '../../shared/api.ts'
import { persist } from '../connection.ts'
import { type Check, keep, read } from '../memory.ts'
import { newKey } from '../new-key.ts'
import { callTill } from '../tokens.ts'

/** Stored before anything is sent, so that a reload continues the same check. */
export const startCheck = (template: string): void => keep('check', { key: newKey(), template })

export const changeCheck = ({ key }: Check, change: Partial<Check>): void => {
  const kept = read('check')
  if (kept?.key === key) keep('check', { ...kept, ...change })
}

export const endCheck = ({ key }: Check): void => {
  if (read('check')?.key === key) keep('check', undefined)
}

/** A verdict is shown this long, then only on request. */
export const SHOWN_MS = 20_000

/** Called before the page is drawn: an earlier verdict must not greet the next customer. */
export function putAwayStale(): void {
  const kept = read('check')
  if (kept?.shownAt !== undefined && Date.now() - kept.shownAt >= SHOWN_MS) changeCheck(kept, { isPutAway: true })
}

/** Shows a verdict that was put away, for as long as a new one. */
export const restoreCheck = (check: Check): void =>
  changeCheck(check, { isPutAway: undefined, isRestored: true, shownAt: undefined })

/** Creates the session of a check. After a lost response the same key returns the same session. */
export function useOpening(check: Check | undefined, onRefused: (refusal: ApiFailure) => void): void {
  useEffect(() => {
    if (!check || check.id !== undefined) return
    const ended = new AbortController()
    open(check, ended.signal).catch((error: unknown) => {
      if (ended.signal.aborted) return
      endCheck(check)
      // A refused token shows as a till that is not paired any more.
      if (error instanceof ApiFailure && error.status !== 401) onRefused(error)
    })
    return () => ended.abort()
  }, [check?.key, check?.id])
}

async function open(check: Check, signal: AbortSignal): Promise<void> {
  const { id } = await persist(
    () =>
      callTill<Verification>('v1/verifications', {
        method: 'POST',
        body: { template: check.template },
        headers: { 'idempotency-key': check.key },
        signal,
      }),
    signal,
  )
  changeCheck(check, { id })
}
