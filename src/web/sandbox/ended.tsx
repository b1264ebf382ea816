import type { ComponentChildren } from 'preact'
import { Button, LinkButton } from '../kit/button.tsx'
import { Icon } from '../kit/icons.tsx'
import { Seal, type SealState } from '../kit/seal.tsx'
import { useOutcomeNames } from '../shared/outcome.ts'
import { type Ended, outcomeNameOf } from '../shared/outcome-code.ts'
import { SheetTitle } from './consent.tsx'
import type { Problem } from './open-request.ts'
import type { Sent } from './send-answer.ts'
import { useSandboxWords } from './words.ts'

/** The result, as far as the public state of the session tells it. */
export function Done({ sent: { answered, session }, onClose }: { sent: Sent; onClose: () => void }) {
  const words = useSandboxWords()
  const names = useOutcomeNames()
  const end = endOf(session)
  const title = session && end !== 'untaken' ? names[outcomeNameOf(endedOf(session))] : words.notTaken
  const more = end === 'untaken' ? words.untaken(answered.status) : words.endsMore[end]
  const seal = end === 'completed' && session?.unjudged ? 'answered' : (SEALS[end] ?? 'refused')
  return (
    <End seal={seal} title={title} more={more} onClose={onClose}>
      {answered.redirectUri && (
        <LinkButton kind="primary" wide href={answered.redirectUri} rel="noreferrer" target="_top">
          <Icon name="out" />
          {words.goOn}
        </LinkButton>
      )}
    </End>
  )
}

type EndProps = { seal: SealState; title: string; more: string; onClose: () => void; children?: ComponentChildren }

export function End({ seal, title, more, onClose, children }: EndProps) {
  return (
    <div class="ended stack centred breaks">
      <Seal state={seal} size={96} />
      <SheetTitle>{title}</SheetTitle>
      <p class="secondary">{more}</p>
      {children}
      <Button wide onClick={onClose}>
        {useSandboxWords().toDocuments}
      </Button>
    </div>
  )
}

export const Opening = () => (
  <div class="opening" role="status">
    <Seal state="busy" label={useSandboxWords().opening} />
  </div>
)

type Public = NonNullable<Sent['session']>
type End = NonNullable<Public['reason']> | 'completed' | 'held' | 'compares' | 'untaken'

const SEALS: Partial<Record<End, SealState>> = {
  completed: 'verified',
  held: 'busy',
  compares: 'busy',
  untaken: 'expired',
  declined: 'open',
  not_followed: 'expired',
  not_compared: 'expired',
}

const CODES: Readonly<Record<NonNullable<Public['reason']>, string>> = {
  declined: 'wallet_declined',
  wallet_error: 'wallet_error',
  not_accepted: 'not_accepted',
  cancelled: 'cancelled',
  not_followed: 'redirect_not_followed',
  not_compared: 'not_compared',
}

/** The part of the outcome that the wallet learns. */
export const endedOf = ({ status, reason, answered, unjudged }: Public): Ended => ({
  status,
  code: reason && CODES[reason],
  isHeld: answered,
  isJudged: !unjudged,
})

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
    <div class="ended stack centred breaks" role="alert">
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
