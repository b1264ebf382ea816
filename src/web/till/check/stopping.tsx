import { useEffect } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Seal } from '../../kit/seal.tsx'
import { ApiFailure } from '../../shared/api.ts'
import { persist } from '../connection.ts'
import { Heading } from '../heading.tsx'
import type { Check } from '../memory.ts'
import { callTill } from '../tokens.ts'
import { useTillWords } from '../words.ts'
import { changeCheck, endCheck } from './check.ts'

/** Cancels the session, with retries that continue after a reload. */
export function Stopping({ check, title }: { check: Check; title: string }) {
  const words = useTillWords()
  useEffect(() => {
    const ended = new AbortController()
    cancel(check, ended.signal).catch((error: unknown) => {
      if (ended.signal.aborted) return
      const status = error instanceof ApiFailure ? error.status : undefined
      // An answer or the deadline was first; the page shows that instead.
      if (status === 409) changeCheck(check, { isStopping: undefined, isAnsweredFirst: true })
      else if (status === 410) changeCheck(check, { isStopping: undefined })
      else endCheck(check)
    })
    return () => ended.abort()
  }, [check.key])
  return (
    <main class="hold">
      <Seal state="busy" size={120} />
      <Heading text={words.stopping} />
      <p class="secondary">{title}</p>
      <Button kind="plain" large onClick={() => endCheck(check)}>
        {words.leave}
      </Button>
    </main>
  )
}

async function cancel(check: Check, signal: AbortSignal): Promise<void> {
  const path = `v1/verifications/${encodeURIComponent(check.id ?? '')}/cancel`
  await persist(() => callTill(path, { method: 'POST', signal }), signal)
  endCheck(check)
}
