import { useEffect } from 'preact/hooks'
import type { StaffLanguage } from '../../../words/languages.ts'
import { sayRefusal } from '../../../words/signing.ts'
import { Notice } from '../../kit/notice.tsx'
import { ApiFailure, Unreachable } from '../../shared/api.ts'
import { useCommon, useLanguage } from '../../shared/language.ts'
import { useDashboardWords } from '../words.ts'

/** An error as a sentence, with its code for support. */
export function Problem({ of: problem }: { of: unknown }) {
  const sentence = useSentence(problem)
  useEffect(() => {
    // Errors of our own also go to the console.
    if (problem !== undefined && !(problem instanceof ApiFailure) && !(problem instanceof Unreachable)) reportError(problem)
  }, [problem])
  if (problem === undefined) return null
  return (
    <Notice tone="no" alert>
      {sentence} {problem instanceof ApiFailure && <code class="hint">{problem.code}</code>}
    </Notice>
  )
}

/** The message is the English sentence; field names of the API differ from the labels on the page. */
const sentenceOf = ({ message, reason }: ApiFailure, language: StaffLanguage): string =>
  reason && language !== 'en'
    ? sayRefusal(reason)[language]
    : message.replace(/^[a-z_]+: (.)/, (_, first: string) => first.toUpperCase())

function useSentence(problem: unknown): string {
  const words = useDashboardWords()
  const common = useCommon()
  const language = useLanguage()
  if (problem instanceof ApiFailure) return words.problems[problem.code] ?? sentenceOf(problem, language)
  if (problem instanceof Unreachable) return common.unreachable
  return common.broken
}
