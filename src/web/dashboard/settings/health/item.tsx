import type { ComponentChildren } from 'preact'
import { Badge } from '../../../kit/badge.tsx'

export const LOOK = {
  problem: { tone: 'no', icon: 'cross' },
  warning: { tone: 'wait', icon: 'warning' },
  not_set_up: { tone: 'neutral', icon: 'dash' },
  ok: { tone: 'ok', icon: 'tick' },
} as const

type Props = {
  look: (typeof LOOK)[keyof typeof LOOK]
  status: string
  title: string
  detail: string
  remedy: string | undefined
  children?: ComponentChildren
}

/** A check or clause, and what to do. */
export const HealthItem = ({ look, status, title, detail, remedy, children }: Props) => (
  <li>
    <Badge {...look}>{status}</Badge>
    <div class="stack tight">
      <h3>{title}</h3>
      <p>{detail}</p>
      {remedy && <p class="remedy secondary">{remedy}</p>}
      {children}
    </div>
  </li>
)
