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

type StatusProps = {
  status: Status
  /** The code of its error. */
  code?: string | undefined
  /** True while a good answer is held. */
  isHeld?: boolean | undefined
  /** False if it may deny an age that no rule judges: then completed is not a yes. */
  isJudged?: boolean
}

/** A verification's status by colour, shape and word. */
export function StatusBadge({ status, code, isHeld = false, isJudged = true }: StatusProps) {
  const words = useCommon()
  if (code === 'wallet_declined') return <Badge icon="dash">{words.declined}</Badge>
  if (code === 'cancelled') return <Badge icon="dash">{words.stopped}</Badge>
  if (code === 'not_same_person') return <Badge {...LOOK.failed}>{words.notSamePerson}</Badge>
  if (code === 'not_compared') return <Badge icon="dash">{words.notCompared}</Badge>
  if (status === 'pending' && isHeld) return <Badge {...LOOK.pending}>{words.answered}</Badge>
  if (status === 'completed' && !isJudged) return <Badge icon="info">{words.shared}</Badge>
  return <Badge {...LOOK[status]}>{words.statuses[status]}</Badge>
}
