import type { ComponentChildren } from 'preact'
import type { Tone } from './badge.tsx'
import { Icon, type IconName } from './icons.tsx'

const ICONS: Readonly<Record<Tone, IconName>> = { ok: 'tick', no: 'warning', wait: 'warning', neutral: 'info' }

type Props = { tone?: Tone /** Read out at once when it appears. */; alert?: boolean; children: ComponentChildren }

export function Notice({ tone = 'neutral', alert = false, children }: Props) {
  return (
    <div class={`notice ${tone}`} role={alert ? 'alert' : undefined}>
      <Icon name={ICONS[tone]} />
      <div>{children}</div>
    </div>
  )
}
