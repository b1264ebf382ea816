import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { mergedName } from '../../openid4vp/merge-claims.ts'
import { PERSONAS } from '../../sandbox/personas.ts'
import type { Credential, Holder } from '../../sandbox/wallet/wallet.ts'
import type { HostedVerification } from '../../verifications/schema.ts'
import { Button } from '../kit/button.tsx'
import { Icon } from '../kit/icons.tsx'
import { Notice } from '../kit/notice.tsx'
import { useClaimWords } from '../shared/claims.ts'
import { inLanguage, useLanguage } from '../shared/language.ts'
import { FORMATS } from './documents.tsx'
import { useSandboxWords } from './words.ts'

/** Long enough to be noticed. */
const HURRIED_MS = 900

type Shared = { credential: Credential; places: readonly (readonly (string | number)[])[] }

type Props = {
  who: string
  purpose?: HostedVerification['purpose']
  /** Undefined while the documents are being issued. */
  holder: Holder | undefined
  /** Undefined if none of the documents answers. */
  selected: readonly Shared[] | undefined
  isSending: boolean
  /** Shares by itself. */
  isHurried?: boolean
  onShare: () => void
  onDecline: () => void
}

export function Consent({ who, purpose, holder, selected, isSending, isHurried, onShare, onDecline }: Props) {
  const words = useSandboxWords()
  const language = useLanguage()
  useEffect(() => {
    if (!isHurried || isSending || !holder) return
    const timer = setTimeout(onShare, HURRIED_MS)
    return () => clearTimeout(timer)
  }, [isHurried, isSending, holder])
  const canShare = holder ? selected !== undefined && !PERSONAS[holder.persona].declines : true
  return (
    <div class="stack">
      <SheetTitle>
        <span class="breaks">{who}</span> {words.asks}
      </SheetTitle>
      {purpose && <p>{inLanguage(purpose, language)}</p>}
      {selected && <h3>{words.shares}</h3>}
      {selected?.map((shared, i) => (
        <SharedDocument key={i} shared={shared} />
      ))}
      {holder && !selected && <Notice tone="wait">{words.nothingFits}</Notice>}
      {holder && PERSONAS[holder.persona].declines && <p class="secondary">{words.saysNo}</p>}
      <div class="choice stack tight">
        {canShare && (
          <Button kind="primary" large wide busy={isSending || !holder} onClick={onShare}>
            {words.share}
          </Button>
        )}
        <Button large wide kind={canShare ? 'plain' : 'primary'} busy={isSending || !holder} onClick={onDecline}>
          {words.decline}
        </Button>
      </div>
    </div>
  )
}

/** Takes the focus when the sheet opens, before anybody can see it, so that it is read out and Tab continues there. */
export function SheetTitle({ children }: { children: preact.ComponentChildren }) {
  const title = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => title.current?.focus({ preventScroll: true }), [])
  return (
    <h2 ref={title} tabIndex={-1}>
      {children}
    </h2>
  )
}

function SharedDocument({ shared: { credential, places } }: { shared: Shared }) {
  const { claim, document } = useClaimWords()
  const names = places.map(place => claim(mergedName(credential.format, place)))
  return (
    <section class="shared notice neutral">
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
