import type { ComponentChildren } from 'preact'
import type { Ends } from '../../../usage/kinds.ts'
import type { Numbers as NumbersData } from '../../../usage/schema.ts'
import { Card } from '../../kit/card.tsx'
import { Choice } from '../../kit/field.tsx'
import { Table } from '../../kit/table.tsx'
import { useOutcome, useOutcomeNames } from '../../shared/outcome.ts'
import { useFormat } from '../format.ts'
import { goTo, hrefTo, Link, type Route } from '../route.tsx'
import { useTemplates, useTemplateTitle } from '../template-names.ts'
import { KINDS, STATUS_OF, sumOf, useKindNames } from './kinds.ts'
import { OutcomeChart } from './outcome-chart.tsx'
import { useOverviewWords } from './words.ts'

const RANGES = ['7', '30', '90']

/** In the address. */
export const rangeOf = ({ search }: Pick<Route, 'search'>): string => RANGES.find(days => days === search.get('days')) ?? '30'

/** The outcomes of the last days in one environment; each number leads to its list. */
export function Numbers({ numbers }: { numbers: NumbersData }) {
  const words = useOverviewWords()
  const nameOf = useKindNames()
  const names = useOutcomeNames()
  const { number, percent, about } = useFormat()
  const { days, total, success_rate, median_answer_ms, reasons } = numbers
  const from = days[0]!.day
  return (
    <div class="stack loose">
      <Card>
        <div class="section-header row between">
          <h2>{words.chart(days.length)}</h2>
          <Choice
            label={words.range}
            value={String(days.length)}
            options={RANGES.map(range => [range, words.days(range)])}
            onChoose={range => goTo(hrefTo('', { days: range }), { replace: true })}
          />
        </div>
        <dl class="figures grid">
          {KINDS.map(kind => (
            <div key={kind} class={kind}>
              <dt class="small">{nameOf(kind)}</dt>
              <dd>
                <Link href={hrefTo('verifications', { status: STATUS_OF[kind], from })}>{number(total[kind])}</Link>
              </dd>
            </div>
          ))}
          <Figure title={words.successRate} more={words.ofAllAsked}>
            {success_rate === null ? '–' : percent(success_rate)}
          </Figure>
          <Figure title={words.median}>{median_answer_ms === null ? '–' : words.about(about(median_answer_ms))}</Figure>
        </dl>
        <OutcomeChart days={days} />
        <p class="hint">{words.counted(names)}</p>
      </Card>
      <div class="overview-numbers grid loose">
        <Sources numbers={numbers} />
        <Card title={words.reasons}>
          {reasons.length > 0 ? (
            <Table
              caption={words.reasons}
              columns={[
                {
                  title: words.reason,
                  kind: 'wraps',
                  cell: ({ code }) => (
                    <Link class="row-button" href={hrefTo('verifications', { status: 'failed', from })}>
                      <Reason code={code} />
                    </Link>
                  ),
                },
                { title: words.count, kind: 'number', cell: ({ count }) => number(count) },
              ]}
              rows={reasons}
              keyOf={({ code }) => code}
            />
          ) : (
            <p class="secondary">{words.noReasons(days.length)}</p>
          )}
        </Card>
      </div>
    </div>
  )
}

function Figure({ title, more, children }: { title: string; more?: string; children: ComponentChildren }) {
  return (
    <div>
      <dt class="small">{title}</dt>
      <dd>{children}</dd>
      {more && <dd class="hint">{more}</dd>}
    </div>
  )
}

type Source = Ends & { id: string; name: string; search: Record<string, string> | null }

/** By template and by till, those that were asked most first. */
function Sources({ numbers: { by_template, by_till, days } }: { numbers: NumbersData }) {
  const words = useOverviewWords()
  const title = useTemplateTitle(useTemplates())
  const from = days[0]!.day
  const templates = by_template.map(({ template, ...ends }) => ({
    ...ends,
    id: template ?? '',
    name: title(template ?? undefined),
    search: template === null ? null : { template, from },
  }))
  const tills = by_till.map(({ till, ...ends }) => ({
    ...ends,
    id: till?.id ?? '',
    name: till?.name ?? words.byKeys,
    search: till && { device: till.id, from },
  }))
  return (
    <>
      {templates.length > 0 && <SourceCard title={words.byTemplate} column={words.template} rows={templates} />}
      {by_till.some(({ till }) => till !== null) && <SourceCard title={words.byTill} column={words.till} rows={tills} />}
    </>
  )
}

function SourceCard({ title, column, rows }: { title: string; column: string; rows: readonly Source[] }) {
  const nameOf = useKindNames()
  const words = useOverviewWords()
  const { number } = useFormat()
  return (
    <Card title={title}>
      <Table
        caption={title}
        columns={[
          {
            title: column,
            kind: 'wraps',
            cell: ({ name, search }) =>
              search ? (
                <Link class="row-button" href={hrefTo('verifications', search)}>
                  {name}
                </Link>
              ) : (
                name
              ),
          },
          { title: words.count, kind: 'number', cell: row => number(sumOf(row)) },
          { title: nameOf('verified'), kind: 'number', cell: row => number(row.verified) },
          { title: nameOf('refused'), kind: 'number', folds: 'phone', cell: row => number(row.refused) },
        ]}
        rows={rows}
        keyOf={({ id }) => id}
      />
    </Card>
  )
}

function Reason({ code }: { code: string }) {
  return useOutcome(code).sentence
}
