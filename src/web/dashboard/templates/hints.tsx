import type { Hint } from '../../../dashboard/templates/schema.ts'
import { Notice } from '../../kit/notice.tsx'
import { useTemplatesWords } from './words.ts'

/** Advice to ask for less, each code once. */
export function Hints({ hints }: { hints: readonly Hint[] }) {
  const words = useTemplatesWords()
  const codes = [...new Set(hints.map(({ code }) => code))]
  if (codes.length === 0) return null
  return (
    <Notice tone="wait">
      <strong>{words.hints}</strong>
      <ul class="plain-list">
        {codes.map(code => (
          <li key={code}>{words.hintWords[code]}</li>
        ))}
      </ul>
    </Notice>
  )
}
