import { useEffect, useState } from 'preact/hooks'
import type { TemplateCheck } from '../../../dashboard/settings-schema.ts'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'

const PAUSE_MS = 350

export type QueryCheck = { problem?: unknown } & (
  | { state: 'checking' }
  | { state: 'bad'; reason: string }
  | { state: 'good'; query: Record<string, unknown>; asks: TemplateCheck['asks']; hints: TemplateCheck['hints'] }
)

/** Whether wallets could answer what stands in the editor, asked in the pauses of typing. */
export function useQueryCheck(text: string): QueryCheck {
  const words = useDashboardWords().editor
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [check, setCheck] = useState<QueryCheck>({ state: 'checking' })
  useEffect(() => {
    const leaving = new AbortController()
    const ask = async () => {
      const read = parsed(text)
      if ('reason' in read) return setCheck({ state: 'bad', reason: words.notJson(read.reason) })
      setCheck(before => (before.state === 'good' ? before : { state: 'checking' }))
      try {
        const body = { query: read.query }
        const { problem, asks, hints } = await call<TemplateCheck>(inTenant('templates/check'), {
          method: 'POST',
          body,
          signal: leaving.signal,
        })
        if (leaving.signal.aborted) return
        if (problem) setCheck({ state: 'bad', reason: words.problem(problem.path, problem.reason) })
        else setCheck({ state: 'good', query: read.query as Record<string, unknown>, asks, hints })
      } catch (problem) {
        if (!leaving.signal.aborted) setCheck({ state: 'checking', problem })
      }
    }
    const timer = setTimeout(ask, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [text, words])
  return check
}

function parsed(text: string): { query: unknown } | { reason: string } {
  try {
    return { query: JSON.parse(text) }
  } catch (error) {
    return { reason: (error as Error).message }
  }
}
