import type { ComponentChildren } from 'preact'
import type { HostedVerification } from '../../verifications/schema.ts'
import { Button, LinkButton } from '../kit/button.tsx'
import { Icon } from '../kit/icons.tsx'
import { Seal, type SealState } from '../kit/seal.tsx'
import { useOutcomeNames } from '../shared/outcome.ts'
import type { OutcomeNames } from '../shared/outcome-code.ts'
import type { WayBack } from './return.ts'
import { type HostedWords, useHostedWords, useWithoutWallet } from './words.ts'

/** The heading of the end, which is announced as well. */
export function endTitle(words: HostedWords, names: OutcomeNames, ended: HostedVerification): string {
  const { status, reason = 'not_accepted', unjudged } = ended
  if (status === 'pending') return words.answered
  if (status === 'expired') return words.expired
  if (status === 'completed') return words.thanks(names[unjudged ? 'shared' : 'completed'])
  return reason === 'declined' ? words.declined : reason === 'cancelled' ? words.stopped : words.failed[reason].title
}

/** Where the way back leads. */
export const backName = ({ asked_by, login }: HostedVerification): string => login?.client ?? asked_by

/** Nobody refused these. */
const LATE = ['not_followed', 'not_compared']

/** The result, and the way back. */
export function Ended({ ended, way }: { ended: HostedVerification; way: WayBack }) {
  const words = useHostedWords()
  const { status, asked_by } = ended
  const title = endTitle(words, useOutcomeNames(), ended)
  const without = useWithoutWallet(ended)
  const back = <Back way={way} to={backName(ended)} />
  switch (status) {
    case 'completed':
      return (
        <End seal={ended.unjudged ? 'answered' : 'verified'} title={title} back={back}>
          {!way.isLeaving && <p class="secondary">{words.completedMore(asked_by)}</p>}
        </End>
      )
    case 'failed':
      if (ended.reason === 'declined') return <Declined title={title} way={way} to={backName(ended)} />
      if (ended.reason === 'cancelled')
        return (
          <End seal="open" title={title} back={back}>
            <p class="secondary">{words.stoppedMore}</p>
            {way.href === undefined && <p class="secondary">{words.askAgain(asked_by)}</p>}
          </End>
        )
      return (
        <End seal={LATE.includes(ended.reason ?? '') ? 'expired' : 'refused'} title={title} back={back}>
          <p>{words.failed[ended.reason ?? 'not_accepted'].more}</p>
          {!way.isLeaving && <p class="secondary">{words.failedMore(asked_by)}</p>}
          {without && <p>{without}</p>}
        </End>
      )
    case 'pending':
      return (
        <End seal="busy" title={title} back={back}>
          {!way.isLeaving && <p class="secondary">{(ended.compares ? words.comparedMore : words.answeredMore)(asked_by)}</p>}
        </End>
      )
    case 'expired':
      return (
        <End seal="expired" title={title} back={back}>
          <p class="secondary">{words.expiredMore(asked_by)}</p>
          {without && <p>{without}</p>}
        </End>
      )
  }
}

/** The shopper's own decision, so no error. */
function Declined({ title, way, to }: { title: string; way: WayBack; to: string }) {
  const words = useHostedWords()
  return (
    <End seal="open" title={title} back={<Back way={way} to={to} />}>
      <p class="secondary">{words.declinedMore}</p>
      {way.href === undefined && <p class="secondary">{words.askAgain(to)}</p>}
      {way.href !== undefined && <LinkButton href={way.href}>{words.tryAgain}</LinkButton>}
    </End>
  )
}

function Back({ way: { href, isLeaving, stay }, to }: { way: WayBack; to: string }) {
  const words = useHostedWords()
  return (
    <>
      {isLeaving && <p class="secondary">{words.returning(to)}</p>}
      {href !== undefined && (
        <LinkButton kind="primary" href={href}>
          <Icon name="back" />
          {words.backTo(to)}
        </LinkButton>
      )}
      {isLeaving && (
        <Button kind="quiet" onClick={stay}>
          {words.stay}
        </Button>
      )}
    </>
  )
}

/** A log-in that another browser began: whoever answered here would log in its sender. */
export function Foreign() {
  const words = useHostedWords()
  return (
    <End seal="open" title={words.foreign}>
      <p class="secondary">{words.foreignMore}</p>
    </End>
  )
}

export function Gone() {
  const words = useHostedWords()
  return (
    <End seal="open" title={words.gone}>
      <p class="secondary">{words.goneMore}</p>
    </End>
  )
}

type EndProps = { seal: SealState; title: string; back?: ComponentChildren; children: ComponentChildren }

function End({ seal, title, back, children }: EndProps) {
  return (
    <article class="card end stack centred">
      <Seal state={seal} size={120} />
      <h1>{title}</h1>
      {children}
      {back}
    </article>
  )
}
