import { Problem } from '../parts/problem.tsx'
import { ConsentSketch } from './consent-sketch.tsx'
import { Hints } from './hints.tsx'
import type { QueryCheck } from './query-check.ts'
import { RuleList } from './rule-list.tsx'
import { useEditorWords, useTemplatesWords } from './words.ts'

const TONES = { good: 'ok', bad: 'no', checking: 'neutral' } as const

type Props = { check: QueryCheck; title: string; purpose: string /** By the builder. */; isBuilt: boolean }

/** The template so far, with the wallet's view. */
export function EditorResult({ check, title, purpose, isBuilt }: Props) {
  const words = useEditorWords()
  const { ownPurpose } = useTemplatesWords()
  const bad = isBuilt ? words.notChosen : words.bad
  return (
    <aside class="stack editor-result">
      <p class={`notice breaks ${TONES[check.state]}`} role="status">
        {check.state === 'good' && words.good}
        {check.state === 'bad' && (check.rulesReason ? words.badRules : bad)}
        {check.state === 'checking' && words.checking}
      </p>
      <Problem of={check.problem} />
      {check.state === 'good' && (
        <>
          <ConsentSketch asks={check.asks} query={check.query} purpose={purpose || ownPurpose} title={title || words.newTitle} />
          <RuleList rules={check.effective_rules} asks={check.asks} />
          <Hints hints={check.hints} />
        </>
      )}
    </aside>
  )
}
