import type { Usage } from '../../../usage/schema.ts'
import { Table } from '../../shared/table.tsx'
import { useFormat } from '../format.ts'
import { useDashboardWords } from '../words.ts'

const DAYS = 30
const DAY_MS = 86_400_000
const BAR = { width: 14, step: 20 }
const HEIGHT = 140

type Day = { day: string; count: number }

/** A bar chart, and the same as a table. */
export function UsageChart({ usage }: { usage: Usage }) {
  const words = useDashboardWords().overview
  const { number, day: sayDay } = useFormat()
  const days = lastDays(usage)
  const most = Math.max(...days.map(({ count }) => count))
  const total = days.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      <Bars days={days} most={most} label={words.chartLabel(number(total), number(most))} />
      <details class="as-table">
        <summary>{words.asTable}</summary>
        <Table
          caption={words.chart}
          columns={[
            { title: words.day, cell: each => sayDay(each.day), kind: 'grows' },
            { title: words.count, cell: each => number(each.count), kind: 'number' },
          ]}
          rows={days.toReversed()}
          keyOf={each => each.day}
        />
      </details>
    </>
  )
}

/** The service leaves out days without verifications. */
function lastDays({ day, recent }: Usage): Day[] {
  const counts = new Map(recent.map(each => [each.day, each.verifications_created]))
  return Array.from({ length: DAYS }, (_, i) => {
    const each = new Date(Date.parse(day) - (DAYS - 1 - i) * DAY_MS).toISOString().slice(0, 10)
    return { day: each, count: counts.get(each) ?? 0 }
  })
}

function Bars({ days, most, label }: { days: readonly Day[]; most: number; label: string }) {
  const { number, day: sayDay } = useFormat()
  const width = DAYS * BAR.step
  const [first, last] = [days[0], days.at(-1)]
  return (
    <div class="chart">
      {/* The text is outside of the picture, which is stretched. */}
      <p aria-hidden="true">{number(most)}</p>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {days.map(({ day, count }, i) => {
          const height = most === 0 ? 0 : Math.max(count > 0 ? 3 : 0, (count / most) * HEIGHT)
          return (
            <g key={day} class={i === DAYS - 1 ? 'last' : undefined}>
              <title>{`${sayDay(day)}: ${number(count)}`}</title>
              {/* The whole column shows the title on hover. */}
              <rect class="column" x={i * BAR.step} y="0" width={BAR.step} height={HEIGHT} />
              <rect
                class="bar"
                x={i * BAR.step + (BAR.step - BAR.width) / 2}
                y={HEIGHT - height}
                width={BAR.width}
                height={height}
              />
            </g>
          )
        })}
      </svg>
      <p class="days" aria-hidden="true">
        <span>{first && sayDay(first.day)}</span>
        <span>{last && sayDay(last.day)}</span>
      </p>
    </div>
  )
}
