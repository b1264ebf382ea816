import type { ComponentChildren } from 'preact'
import { Button, LinkButton } from '../shared/button.tsx'
import { Icon } from '../shared/icons.tsx'
import { Seal, type SealState } from '../shared/seal.tsx'
import { SheetTitle } from './consent.tsx'
import type { Problem } from './open-request.ts'
import type { Sent } from './send-answer.ts'
import { type SandboxWords, useSandboxWords } from './words.ts'

/** The result, as far as the public state of the session tells it. */
export function Done({ sent: { answered, session }, onClose }: { sent: Sent; onClose: () => void }) {
  const words = useSandboxWords()
  const end = endOf(session)
  return (
    <div class="ended stack">
      <Seal state={end === 'completed' && session?.unjudged ? 'answered' : (SEALS[end] ?? 'refused')} size={96} />
      <SheetTitle>{words.ends[end]}</SheetTitle>
      <p class="secondary">{end === 'untaken' ? words.untaken(answered.status) : words.endsMore[end]}</p>
      {answered.redirectUri && (
        <LinkButton kind="primary" wide href={answered.redirectUri} rel="noreferrer" target="_top">
          <Icon name="out" />
          {words.goOn}
        </LinkButton>
      )}
      <Button wide onClick={onClose}>
        {words.toDocuments}
      </Button>
    </div>
  )
}

type End = keyof SandboxWords['ends']

const SEALS: Partial<Record<End, SealState>> = {
  completed: 'verified',
  held: 'busy',
  compares: 'busy',
  untaken: 'expired',
  declined: 'open',
}

function endOf(session: Sent['session']): End {
  if (session?.answered) return session.compares ? 'compares' : 'held'
  if (session?.status === 'completed') return 'completed'
  return session?.reason ?? 'untaken'
}

type StoppedProps = { problem: Problem; onClose: () => void; children: ComponentChildren }

/** Nothing was sent; the reason and the remedy. */
export function Stopped({ problem: { kind, detail }, onClose, children }: StoppedProps) {
  const words = useSandboxWords()
  const { title, more } = words.problems[kind]
  return (
    <div class="ended stack" role="alert">
      {kind === 'unreadable' ? (
        <Icon name="unreadable" size={72} />
      ) : (
        <Seal state={kind === 'expired' ? 'expired' : 'open'} size={96} />
      )}
      <SheetTitle>{title}</SheetTitle>
      <p class="secondary">{more}</p>
      {detail && <p class="mono hint">{words.unreadable[detail] ?? detail}</p>}
      <Button wide onClick={onClose}>
        {children}
      </Button>
    </div>
  )
}
