import type { Numbers } from '../../../usage/schema.ts'
import { Table } from '../../kit/table.tsx'
import { useOutcomeNames } from '../../shared/outcome.ts'
import { useFormat } from '../format.ts'
import { useOverviewWords } from './words.ts'

/** The parts of a bar from bottom to top. */
export const KINDS = ['verified', 'refused', 'declined', 'expired'] as const

const NAMES = { verified: 'completed', refused: 'failed', declined: 'wallet_declined', expired: 'expired' } as const

/** The word of each part. */
export function useKindNames(): (kind: (typeof KINDS)[number]) => string {
  const names = useOutcomeNames()
  return kind => names[NAMES[kind]]
}

const BAR = { width: 14, step: 20 }
const HEIGHT = 140

type Day = Numbers['days'][number]

const sumOf = (day: Day): number => KINDS.reduce((sum, kind) => sum + day[kind], 0)

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
          caption={words.chart}
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

function Bars({ days, most, label }: { days: readonly Day[]; most: number; label: string }) {
  const nameOf = useKindNames()
  const { number, day: sayDay } = useFormat()
  const [first, last] = [days[0], days.at(-1)]
  return (
    <div class="chart small">
      {/* The text is outside of the picture, which is stretched. */}
      <p aria-hidden="true">{number(most)}</p>
      <svg viewBox={`0 0 ${days.length * BAR.step} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {days.map((day, i) => (
          <g key={day.day}>
            <title>{`${sayDay(day.day)}: ${KINDS.map(kind => `${nameOf(kind)} ${number(day[kind])}`).join(', ')}`}</title>
            {/* The whole column shows the title on hover. */}
            <rect class="column" x={i * BAR.step} y="0" width={BAR.step} height={HEIGHT} />
            {partsOf(day, most).map(({ kind, y, height }) => (
              <rect
                key={kind}
                class={`bar ${kind}`}
                x={i * BAR.step + (BAR.step - BAR.width) / 2}
                y={y}
                width={BAR.width}
                height={height}
              />
            ))}
          </g>
        ))}
      </svg>
      <p class="row between" aria-hidden="true">
        <span>{first && sayDay(first.day)}</span>
        <span>{last && sayDay(last.day)}</span>
      </p>
    </div>
  )
}

/** The pieces of a bar, each on top of the one before. */
function partsOf(day: Day, most: number): { kind: (typeof KINDS)[number]; y: number; height: number }[] {
  let top = HEIGHT
  return KINDS.filter(kind => day[kind] > 0).map(kind => {
    const height = (day[kind] / most) * HEIGHT
    top -= height
    return { kind, y: top, height }
  })
}
