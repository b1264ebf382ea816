import { useEffect } from 'preact/hooks'
import { changeCheck } from './check.ts'
import { persist } from './connection.ts'
import { type Check, type Compared, keep, read, useKept } from './memory.ts'
import { callTill } from './tokens.ts'

/** Stored before it is sent: the answer reaches the service after a reload and for the next customer too. */
export function recordComparison(check: Check, isSame: boolean): void {
  if (check.id === undefined) return
  keep('compared', [...(read('compared') ?? []), { id: check.id, isSame }])
  changeCheck(check, { isSame, shownAt: undefined })
}

/** Sends the answers, oldest first, until the service has each. */
export function useComparisons(): void {
  const [first] = useKept('compared') ?? []
  useEffect(() => {
    if (!first) return
    const ended = new AbortController()
    send(first, ended.signal)
      // Refused: erased since, or the first answer stays.
      .catch(() => {})
      .then(() => {
        if (!ended.signal.aborted) forget(first)
      })
    return () => ended.abort()
  }, [first?.id])
}

const send = ({ id, isSame }: Compared, signal: AbortSignal): Promise<unknown> =>
  persist(
    () =>
      callTill(`v1/verifications/${encodeURIComponent(id)}/comparison`, {
        method: 'POST',
        body: { same_person: isSame },
        signal,
      }),
    signal,
  )

function forget({ id }: Compared): void {
  const left = (read('compared') ?? []).filter(each => each.id !== id)
  keep('compared', left.length > 0 ? left : undefined)
}
