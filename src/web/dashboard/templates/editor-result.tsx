import { Problem } from '../parts/problem.tsx'
import { useDashboardWords } from '../words.ts'
import { ConsentSketch } from './consent-sketch.tsx'
import { Hints } from './hints.tsx'
import type { QueryCheck } from './query-check.ts'
import { RuleList } from './rule-list.tsx'

const TONES = { good: 'ok', bad: 'no', checking: 'neutral' } as const

type Props = { check: QueryCheck; title: string; purpose: string /** By the builder. */; isBuilt: boolean }

/** The template so far, with the wallet's view. */
export function EditorResult({ check, title, purpose, isBuilt }: Props) {
  const words = useDashboardWords()
  const bad = isBuilt ? words.editor.notChosen : words.editor.bad
  return (
    <aside class="stack editor-result">
      <p class={`notice breaks ${TONES[check.state]}`} role="status">
        {check.state === 'good' && words.editor.good}
        {check.state === 'bad' && (check.rulesReason ? words.editor.badRules : bad)}
        {check.state === 'checking' && words.editor.checking}
      </p>
      <Problem of={check.problem} />
      {check.state === 'good' && (
        <>
          <ConsentSketch
            asks={check.asks}
            query={check.query}
            purpose={purpose || words.templates.ownPurpose}
            title={title || words.editor.newTitle}
          />
          <RuleList rules={check.effective_rules} asks={check.asks} />
          <Hints hints={check.hints} />
        </>
      )}
    </aside>
  )
}
