import { useEffect, useState } from 'preact/hooks'
import type { TemplateCheck } from '../../../dashboard/templates/schema.ts'
import { usePlace, useSession } from '../session.tsx'
import { findJsonProblem } from './json-problem.ts'
import { useEditorWords } from './words.ts'

const PAUSE_MS = 350

export type QueryCheck = { problem?: unknown } & (
  | { state: 'checking' }
  | { state: 'unfinished' }
  | { state: 'bad'; reason?: string; rulesReason?: string }
  | ({ state: 'good'; text: string; rulesText: string; query: Record<string, unknown>; rules: unknown } & Pick<
      TemplateCheck,
      'asks' | 'hints' | 'effective_rules' | 'choice'
    >)
)

/** Validates the query and the rules in the editor after each pause in typing. */
export function useQueryCheck(text: string, rulesText: string): QueryCheck {
  const words = useEditorWords()
  const jsonReason = useJsonReason()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [check, setCheck] = useState<QueryCheck>({ state: 'checking' })
  useEffect(() => {
    const leaving = new AbortController()
    // An empty text means the default rules, not an empty list.
    const rules = rulesText.trim() === '' ? 'null' : rulesText
    const ask = async () => {
      const reason = jsonReason(text)
      if (reason) return setCheck({ state: 'bad', reason })
      const rulesReason = jsonReason(rules)
      if (rulesReason) return setCheck({ state: 'bad', rulesReason })
      if (isUnfinished(rules)) return setCheck({ state: 'unfinished' })
      setCheck(before => (before.state === 'good' ? before : { state: 'checking' }))
      try {
        const body = { query: JSON.parse(text), rules: JSON.parse(rules) }
        const { problem, rules_problem, ...checked } = await call<TemplateCheck>(inTenant('template-check'), {
          method: 'POST',
          body,
          signal: leaving.signal,
        })
        if (leaving.signal.aborted) return
        if (problem) setCheck({ state: 'bad', reason: words.problem(problem.path, problem.reason) })
        else if (rules_problem) setCheck({ state: 'bad', rulesReason: words.problem(rules_problem.path, rules_problem.reason) })
        else setCheck({ state: 'good', text, rulesText, ...body, ...checked })
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

/** A rule of the builder without its values, or without its age. */
function isUnfinished(rulesText: string): boolean {
  const rules: unknown = JSON.parse(rulesText)
  return Array.isArray(rules) && rules.some(rule => rule?.one_of?.length === 0 || rule?.age_at_least === 0)
}

/** Why a text is not JSON, with the line and the column. */
function useJsonReason(): (text: string) => string | undefined {
  const words = useEditorWords()
  return text => {
    const found = findJsonProblem(text)
    return found && words.notJson(found.line, found.column, words.jsonProblems[found.kind](found.found))
  }
}
