import { useEffect } from 'preact/hooks'
import { ApiFailure, Unreachable } from '../shared/api.ts'
import { useCommon } from '../shared/language.tsx'
import { Notice } from '../shared/notice.tsx'
import { useDashboardWords } from './words.ts'

/** What went wrong, in a sentence, with the code behind it for whoever is asked for help. */
export function Problem({ of: problem }: { of: unknown }) {
  const sentence = useSentence(problem)
  useEffect(() => {
    // A mistake of ours belongs to the boundary, and to the console.
    if (problem !== undefined && !(problem instanceof ApiFailure) && !(problem instanceof Unreachable)) reportError(problem)
  }, [problem])
  if (problem === undefined) return null
  return (
    <Notice tone="no" alert>
      {sentence} {problem instanceof ApiFailure && <code class="hint">{problem.code}</code>}
    </Notice>
  )
}

/** The names of fields on the wire are not those on the page. */
const withoutField = (message: string): string => message.replace(/^[a-z_]+: (.)/, (_, first: string) => first.toUpperCase())

function useSentence(problem: unknown): string {
  const words = useDashboardWords()
  const common = useCommon()
  if (problem instanceof ApiFailure) return words.problems[problem.code] ?? withoutField(problem.message)
  if (problem instanceof Unreachable) return common.unreachable
  return common.broken
}
