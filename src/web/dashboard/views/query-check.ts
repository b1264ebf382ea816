import { useEffect, useState } from 'preact/hooks'
import type { TemplateCheck } from '../../../dashboard/settings-schema.ts'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'

const PAUSE_MS = 350

export type QueryCheck = { problem?: unknown } & (
  | { state: 'checking' }
  | { state: 'bad'; reason?: string; rulesReason?: string }
  | ({ state: 'good'; query: Record<string, unknown>; rules: unknown } & Pick<
      TemplateCheck,
      'asks' | 'hints' | 'effective_rules'
    >)
)

/** Validates the query and the rules in the editor after each pause in typing. */
export function useQueryCheck(text: string, rulesText: string): QueryCheck {
  const words = useDashboardWords().editor
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [check, setCheck] = useState<QueryCheck>({ state: 'checking' })
  useEffect(() => {
    const leaving = new AbortController()
    const ask = async () => {
      const read = parsed(text)
      if ('reason' in read) return setCheck({ state: 'bad', reason: words.notJson(read.reason) })
      // An empty text means the default rules, not an empty list.
      const readRules = parsed(rulesText.trim() || 'null')
      if ('reason' in readRules) return setCheck({ state: 'bad', rulesReason: words.notJson(readRules.reason) })
      setCheck(before => (before.state === 'good' ? before : { state: 'checking' }))
      try {
        const body = { query: read.value, rules: readRules.value }
        const { problem, rules_problem, ...checked } = await call<TemplateCheck>(inTenant('templates/check'), {
          method: 'POST',
          body,
          signal: leaving.signal,
        })
        if (leaving.signal.aborted) return
        if (problem) setCheck({ state: 'bad', reason: words.problem(problem.path, problem.reason) })
        else if (rules_problem) setCheck({ state: 'bad', rulesReason: words.problem(rules_problem.path, rules_problem.reason) })
        else setCheck({ state: 'good', query: read.value as Record<string, unknown>, rules: readRules.value, ...checked })
      } catch (problem) {
        if (!leaving.signal.aborted) setCheck({ state: 'checking', problem })
      }
    }
    const timer = setTimeout(ask, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [text, rulesText, words])
  return check
}

function parsed(text: string): { value: unknown } | { reason: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { reason: (error as Error).message }
  }
}
