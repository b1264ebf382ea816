import type { Template } from '../../../dashboard/templates/schema.ts'
import { Notice } from '../../kit/notice.tsx'
import { Problem } from '../parts/problem.tsx'
import { AGES, ageOf } from './builder.tsx'
import { ConsentSketch } from './consent-sketch.tsx'
import { Hints } from './hints.tsx'
import type { QueryCheck } from './query-check.ts'
import { RuleList } from './rule-list.tsx'
import { useEditorWords, useTemplatesWords } from './words.ts'

const TONES = { good: 'ok', bad: 'no', unfinished: 'neutral', checking: 'neutral' } as const

type Props = { check: QueryCheck; title: string; purpose: string /** Something is not chosen yet. */; isOpen: boolean }

/** The template so far, with the wallet's view. */
export function EditorResult({ check, title, purpose, isOpen }: Props) {
  const words = useEditorWords()
  const { ownPurpose } = useTemplatesWords()
  const state = isOpen && check.state === 'bad' ? 'unfinished' : check.state
  return (
    <aside class="stack editor-result">
      <p class={`notice breaks ${TONES[state]}`} role="status">
        {state === 'good' && words.good}
        {state === 'bad' && (check.state === 'bad' && check.rulesReason ? words.badRules : words.bad)}
        {state === 'unfinished' && (isOpen ? words.notChosen : words.ruleOpen)}
        {state === 'checking' && words.checking}
      </p>
      {check.state === 'good' && <RareAges asks={check.asks} />}
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

/** Ages that a wallet will often have no answer to. */
function RareAges({ asks }: { asks: Template['asks'] }) {
  const words = useEditorWords()
  const asked = new Set(asks.flatMap(({ claims }) => claims.flatMap(claim => ageOf(claim) ?? [])))
  const rare = [...asked].filter(age => !AGES.includes(age)).sort((a, b) => a - b)
  return rare.length > 0 && <Notice tone="wait">{words.rareAges(rare.join(', '), AGES.join(', '))}</Notice>
}
