import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { HostedVerification } from '../../verifications/schema.ts'
import { useKeptFocus } from '../kit/kept-focus.ts'
import { LanguageSwitch } from '../kit/language-switch.tsx'
import { Notice } from '../kit/notice.tsx'
import { Seal, Wordmark } from '../kit/seal.tsx'
import { TestBand } from '../kit/test-band.tsx'
import { HAS_SANDBOX, sandboxUrl } from '../shared/base.ts'
import { type Digital, useDigital } from '../shared/digital.ts'
import { suggestLanguage, useCommon } from '../shared/language.ts'
import { useOutcomeNames } from '../shared/outcome.ts'
import type { OutcomeNames } from '../shared/outcome-code.ts'
import { backName, Ended, endTitle, Foreign, Gone } from './ended.tsx'
import { Request } from './request.tsx'
import { useWayBack, type WayBack } from './return.ts'
import { type Session, useSession } from './session.ts'
import { type HostedWords, useHostedWords } from './words.ts'

/** The shopper's page, from the merchant's link to the result. */
export function Hosted({ id }: { id: string }) {
  const words = useHostedWords()
  const common = useCommon()
  const session = useSession(id, { owns: true })
  const main = useRef<HTMLElement>(null)
  useKeptFocus(main, main)
  const { known, isConnected, aheadMs } = session
  const shown = typeof known === 'object' ? known : undefined
  const digital = useDigital(id, shown, aheadMs)
  const way = useWayBack(shown, digital.redirectUri)
  const headline = headlineOf(words, useOutcomeNames(), known)
  const language = shown?.login?.language
  useEffect(() => {
    if (language) suggestLanguage(language)
  }, [language])
  useEffect(() => {
    document.title = headline || 'Vidimus'
  }, [headline])
  return (
    <div class="app hosted" style={accentOf(shown)}>
      {shown?.environment === 'test' && (
        <TestBand>
          {HAS_SANDBOX && shown.wallet_uri && (
            <>
              <a href={sandboxUrl(shown.wallet_uri)}>{words.trySandbox}</a>
              <button type="button" onClick={digital.askSandbox}>
                {words.trySandboxBrowser}
              </button>
            </>
          )}
        </TestBand>
      )}
      {/* Announces each change to screen readers. */}
      <p class="only-heard" role="status">
        {headline}
        {digital.step !== 'idle' && ` ${words.digital[digital.step]}`}
        {shown && way.isLeaving && ` ${words.returning(backName(shown))}`}
      </p>
      <main ref={main} class="stack" tabIndex={-1}>
        {!isConnected && <Notice tone="wait">{common.unreachable}</Notice>}
        <View session={session} way={way} digital={digital} />
      </main>
      <footer class="row between">
        <span class="row tight">
          {words.poweredBy} <Wordmark size={18} />
        </span>
        <LanguageSwitch />
      </footer>
    </div>
  )
}

/** The shop's colour, for the main button. */
const accentOf = (shown: HostedVerification | undefined) =>
  shown?.look?.accent && { '--shop-accent': shown.look.accent.color, '--shop-ink': shown.look.accent.ink }

type ViewProps = { session: Session; way: WayBack; digital: Digital }

function View({ session, way, digital }: ViewProps): ComponentChildren {
  const common = useCommon()
  const { known, aheadMs } = session
  if (known === 'unknown') {
    return (
      <div class="loading">
        <h1 class="only-heard">{common.loading}</h1>
        <Seal state="busy" />
      </div>
    )
  }
  if (known === 'gone') return <Gone />
  if (known.foreign) return <Foreign />
  return known.status === 'pending' && !known.answered ? (
    <Request asked={known} aheadMs={aheadMs} digital={digital} />
  ) : (
    <Ended ended={known} way={way} />
  )
}

function headlineOf(words: HostedWords, names: OutcomeNames, known: Session['known']): string {
  if (known === 'unknown') return ''
  if (known === 'gone') return words.gone
  if (known.foreign) return words.foreign
  return known.status === 'pending' && !known.answered ? pendingHeadline(words, known) : endTitle(words, names, known)
}

const pendingHeadline = (words: HostedWords, { fetched, asked_by }: HostedVerification): string =>
  fetched ? words.scanned : words.title(asked_by)
