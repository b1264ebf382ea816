import type { ComponentChildren } from 'preact'
import type { HostedVerification } from '../../verifications/schema.ts'
import { LinkButton } from '../shared/button.tsx'
import { Icon } from '../shared/icons.tsx'
import { useWords } from '../shared/language.tsx'
import { Seal, type SealState } from '../shared/seal.tsx'
import * as de from '../shared/strings/de.ts'
import * as en from '../shared/strings/en.ts'

/** The end, honest and quiet, and the way back. */
export function Ended({ ended }: { ended: HostedVerification }) {
  const words = useWords({ en: en.hosted, de: de.hosted })
  const { status, asked_by, return_url } = ended
  const back = return_url && (
    <LinkButton kind="primary" href={return_url}>
      <Icon name="back" />
      {words.backTo(asked_by)}
    </LinkButton>
  )
  switch (status) {
    case 'completed':
      return (
        <End seal="verified" title={words.completed} back={back}>
          <p class="secondary">{words.completedMore(asked_by)}</p>
        </End>
      )
    case 'failed':
      return (
        <End seal="refused" title={words.failed} back={back}>
          <p>{words.reasons[ended.reason ?? 'not_accepted']}</p>
          <p class="secondary">{words.failedMore(asked_by)}</p>
        </End>
      )
    default:
      return (
        <End seal="expired" title={words.expired} back={back}>
          <p class="secondary">{words.expiredMore(asked_by)}</p>
        </End>
      )
  }
}

/** No such session, or no more. */
export function Gone() {
  const words = useWords({ en: en.hosted, de: de.hosted })
  return (
    <End seal="open" title={words.gone}>
      <p class="secondary">{words.goneMore}</p>
    </End>
  )
}

type EndProps = { seal: SealState; title: string; back?: ComponentChildren; children: ComponentChildren }

function End({ seal, title, back, children }: EndProps) {
  return (
    <article class="card end stack">
      <Seal state={seal} size={120} />
      <h1>{title}</h1>
      {children}
      {back}
    </article>
  )
}
