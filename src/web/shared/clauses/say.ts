// What the clauses of `vidimus doctor --profile eu` ask for, in words.
import type { ClauseId, FoundCode } from '../../../doctor/eu/clauses.ts'
import type { ClauseRow } from '../../../doctor/eu/examine.ts'

/** What must hold; and what to do where it does not, unless that is a fault of this service. */
export type ClauseWords = {
  rules: Readonly<Record<ClauseId, readonly [rule: string, remedy?: string]>>
  found: Readonly<Record<FoundCode, string>>
  fault: string
  said: Readonly<Record<ClauseRow['status'], (rule: string, found: string, subject: string | null) => string>>
}

export function sayClause(words: ClauseWords, { id, status, found, subject }: ClauseRow) {
  const [rule, remedy = words.fault] = words.rules[id]
  const what = found.map(each => words.found[each as FoundCode] ?? each).join(', ')
  return { detail: words.said[status](rule, what, subject), remedy: status === 'fail' ? remedy : undefined }
}
