import type { ComponentChildren } from 'preact'
import { useOutcomeNames } from '../shared/outcome.ts'
import { type Ended, type OutcomeName, outcomeNameOf } from '../shared/outcome-code.ts'
import { Icon, type IconName } from './icons.tsx'

export type Tone = 'ok' | 'no' | 'wait' | 'neutral'

export function Badge({ tone = 'neutral', icon, children }: { tone?: Tone; icon?: IconName; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </span>
  )
}

const LOOK: Readonly<Record<OutcomeName, { tone: Tone; icon: IconName }>> = {
  pending: { tone: 'wait', icon: 'clock' },
  held: { tone: 'wait', icon: 'clock' },
  completed: { tone: 'ok', icon: 'tick' },
  shared: { tone: 'neutral', icon: 'info' },
  failed: { tone: 'no', icon: 'cross' },
  wallet_declined: { tone: 'neutral', icon: 'dash' },
  wallet_error: { tone: 'no', icon: 'cross' },
  cancelled: { tone: 'neutral', icon: 'dash' },
  redirect_not_followed: { tone: 'neutral', icon: 'dash' },
  not_same_person: { tone: 'no', icon: 'cross' },
  not_compared: { tone: 'neutral', icon: 'dash' },
  expired: { tone: 'neutral', icon: 'dash' },
}

/** The outcome of a verification by colour, shape and word. */
export function StatusBadge(ended: Ended) {
  const name = outcomeNameOf(ended)
  return <Badge {...LOOK[name]}>{useOutcomeNames()[name]}</Badge>
}
