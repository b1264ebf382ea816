import type { ComponentChildren } from 'preact'
import type { Status } from '../../verifications/schema.ts'
import { Icon, type IconName } from './icons.tsx'
import { useCommon } from './language.tsx'

export type Tone = 'ok' | 'no' | 'wait' | 'neutral'

export function Badge({ tone = 'neutral', icon, children }: { tone?: Tone; icon?: IconName; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </span>
  )
}

const LOOK = {
  pending: { tone: 'wait', icon: 'clock' },
  completed: { tone: 'ok', icon: 'tick' },
  failed: { tone: 'no', icon: 'cross' },
  expired: { tone: 'neutral', icon: 'dash' },
} as const

/** A verification's status by colour, shape and word. */
export function StatusBadge({ status }: { status: Status }) {
  return <Badge {...LOOK[status]}>{useCommon().statuses[status]}</Badge>
}
