import { useRef, useState } from 'preact/hooks'
import type { Numbers } from '../../../usage/schema.ts'
import { Table } from '../../kit/table.tsx'
import { useFormat } from '../format.ts'
import { hrefTo, Link } from '../route.tsx'
import { KINDS, sumOf, useKindNames } from './kinds.ts'
import { useOverviewWords } from './words.ts'

type Day = Numbers['days'][number]

/** A bar for each day, and the same as a table. */
export function OutcomeChart({ days }: { days: readonly Day[] }) {
  const words = useOverviewWords()
  const nameOf = useKindNames()
  const { number, day: sayDay } = useFormat()
  const most = Math.max(...days.map(sumOf))
  const total = days.reduce((sum, day) => sum + sumOf(day), 0)
  return (
    <>
      <Bars days={days} most={most} label={words.chartLabel(number(total), number(most))} />
      <details class="as-table">
        <summary>{words.asTable}</summary>
        <Table
          caption={words.chart(days.length)}
          columns={[
            { title: words.day, cell: each => sayDay(each.day), kind: 'grows' },
            ...KINDS.map(kind => ({
              title: nameOf(kind),
              cell: (each: Day) => number(each[kind]),
              kind: 'number' as const,
            })),
          ]}
          rows={days.toReversed()}
          keyOf={each => each.day}
        />
      </details>
    </>
  )
}

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowLeft: at => at - 1,
  ArrowRight: at => at + 1,
  Home: () => 0,
  End: (_, last) => last,
}

/** Each bar leads to its day's list. One of them is in the order of Tab; arrow keys reach the others. */
function Bars({ days, most, label }: { days: readonly Day[]; most: number; label: string }) {
  const { number, day: sayDay } = useFormat()
  const list = useRef<HTMLOListElement>(null)
  const last = days.length - 1
  const [chosen, setChosen] = useState(last)
  const current = Math.min(chosen, last)
  const move = (event: KeyboardEvent) => {
    const next = STEPS[event.key]?.(current, last)
    if (next === undefined || next < 0 || next > last) return
    event.preventDefault()
    setChosen(next)
    list.current?.querySelectorAll('a')[next]?.focus()
  }
  return (
    <div class="chart small">
      <p aria-hidden="true">{number(most)}</p>
      <ol ref={list} class="bars" aria-label={label} onKeyDown={move}>
        {days.map((day, i) => (
          <Bar key={day.day} day={day} most={most} isCurrent={i === current} side={i > last / 2 ? 'left' : 'right'} />
        ))}
      </ol>
      <p class="row between" aria-hidden="true">
        <span>{days[0] && sayDay(days[0].day)}</span>
        <span>{days[last] && sayDay(days[last].day)}</span>
      </p>
    </div>
  )
}

type BarProps = {
  day: Day
  most: number
  isCurrent: boolean /** Of the bar, where its numbers have room. */
  side: 'left' | 'right'
}

function Bar({ day, most, isCurrent, side }: BarProps) {
  const nameOf = useKindNames()
  const { number, day: sayDay } = useFormat()
  return (
    <li>
      <Link href={hrefTo('verifications', { from: day.day, to: day.day })} tabIndex={isCurrent ? 0 : -1}>
        {KINDS.toReversed().map(kind => (
          <span key={kind} class={`part ${kind}`} style={{ height: `${most ? (day[kind] / most) * 100 : 0}%` }} />
        ))}
        <span class={`tip ${side}`}>
          <strong>{sayDay(day.day)}</strong>
          {KINDS.map(kind => (
            <span key={kind} class={kind}>
              {nameOf(kind)} {number(day[kind])}
            </span>
          ))}
        </span>
      </Link>
    </li>
  )
}
