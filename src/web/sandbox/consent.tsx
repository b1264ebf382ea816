import { useEffect, useRef } from 'preact/hooks'
import { mergedName } from '../../openid4vp/merge-claims.ts'
import { PERSONAS } from '../../sandbox/personas.ts'
import { type Selection, selectCredentials } from '../../sandbox/wallet.ts'
import { Button } from '../shared/button.tsx'
import { useClaimWords } from '../shared/claims.ts'
import { Icon } from '../shared/icons.tsx'
import { inLanguage, useLanguage } from '../shared/language.tsx'
import { Notice } from '../shared/notice.tsx'
import { FORMATS } from './documents.tsx'
import type { Asked } from './open-request.ts'
import type { Wallet } from './wallet.ts'
import { useSandboxWords } from './words.ts'

type Props = { asked: Asked; isSending: boolean; wallet: Wallet }

export function Consent({ asked, isSending, wallet: { holder, share, decline } }: Props) {
  const words = useSandboxWords()
  const language = useLanguage()
  const { asked_by, purpose } = asked.session
  const selected = holder && selectCredentials(asked.request.query, holder.credentials)
  const canShare = holder ? selected !== undefined && !PERSONAS[holder.persona].declines : true
  return (
    <div class="stack">
      <SheetTitle>
        <span class="who">{asked_by}</span> {words.asks}
      </SheetTitle>
      {purpose && <p>{inLanguage(purpose, language)}</p>}
      {selected && <h3>{words.shares}</h3>}
      {selected?.map(selection => (
        <Shared key={selection.id} selection={selection} />
      ))}
      {holder && !selected && <Notice tone="wait">{words.nothingFits}</Notice>}
      {holder && PERSONAS[holder.persona].declines && <p class="secondary">{words.saysNo}</p>}
      <div class="choice stack tight">
        {canShare && (
          <Button kind="primary" large wide busy={isSending || !holder} onClick={share}>
            {words.share}
          </Button>
        )}
        <Button large wide kind={canShare ? 'plain' : 'primary'} busy={isSending || !holder} onClick={decline}>
          {words.decline}
        </Button>
      </div>
    </div>
  )
}

/** Takes the focus when the sheet opens, so that it is read out and Tab continues there. */
export function SheetTitle({ children }: { children: preact.ComponentChildren }) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus({ preventScroll: true }), [])
  return (
    <h2 ref={title} tabIndex={-1}>
      {children}
    </h2>
  )
}

function Shared({ selection: { credential, places } }: { selection: Selection }) {
  const { claim, document } = useClaimWords()
  const names = places.map(place => claim(mergedName(credential.format, place)))
  return (
    <section class="shared">
      <Icon name="document" />
      <div>
        <strong>{document(credential.type)}</strong> <span class="hint">{FORMATS[credential.format]}</span>
        <ul>
          {[...new Set(names)].map(name => (
            <li key={name}>{name}</li>
          ))}
        </ul>
      </div>
    </section>
  )
}
