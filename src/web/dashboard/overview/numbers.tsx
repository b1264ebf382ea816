import type { Numbers as NumbersData } from '../../../usage/schema.ts'
import { Card } from '../../kit/card.tsx'
import { Table } from '../../kit/table.tsx'
import { useOutcome, useOutcomeNames } from '../../shared/outcome.ts'
import { useFormat } from '../format.ts'
import { KINDS, OutcomeChart, useKindNames } from './outcome-chart.tsx'
import { useOverviewWords } from './words.ts'

/** The outcomes of the last 30 days in one environment. */
export function Numbers({ numbers }: { numbers: NumbersData }) {
  const words = useOverviewWords()
  const nameOf = useKindNames()
  const names = useOutcomeNames()
  const { number, percent, duration } = useFormat()
  const { total, success_rate, median_answer_ms, reasons } = numbers
  return (
    <div class="overview-numbers grid loose">
      <Card title={words.chart}>
        <dl class="figures grid">
          {KINDS.map(kind => (
            <div key={kind} class={kind}>
              <dt class="small">{nameOf(kind)}</dt>
              <dd>{number(total[kind])}</dd>
            </div>
          ))}
          <div>
            <dt class="small">{words.successRate}</dt>
            <dd>{success_rate === null ? '–' : percent(success_rate)}</dd>
          </div>
          <div>
            <dt class="small">{words.median}</dt>
            <dd>{median_answer_ms === null ? '–' : duration(median_answer_ms)}</dd>
          </div>
        </dl>
        <OutcomeChart days={numbers.days} />
        <p class="hint">{words.counted(names)}</p>
      </Card>
      <Card title={words.reasons}>
        {reasons.length > 0 ? (
          <Table
            caption={words.reasons}
            columns={[
              { title: words.reason, kind: 'wraps', cell: ({ code }) => <Reason code={code} /> },
              { title: words.count, kind: 'number', cell: ({ count }) => number(count) },
            ]}
            rows={reasons}
            keyOf={({ code }) => code}
          />
        ) : (
          <p class="secondary">{words.noReasons}</p>
        )}
      </Card>
    </div>
  )
}

function Reason({ code }: { code: string }) {
  return useOutcome(code).sentence
}
