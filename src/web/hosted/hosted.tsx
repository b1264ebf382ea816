import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { HostedVerification } from '../../verifications/schema.ts'
import { HAS_SANDBOX, sandboxUrl } from '../shared/base.ts'
import { LanguageSwitch, useCommon, useWords } from '../shared/language.tsx'
import { Notice } from '../shared/notice.tsx'
import { Seal, Wordmark } from '../shared/seal.tsx'
import * as de from '../shared/strings/de.ts'
import * as en from '../shared/strings/en.ts'
import { TestBand } from '../shared/test-band.tsx'
import { Ended, Gone } from './ended.tsx'
import { Request } from './request.tsx'
import { type Session, useSession } from './session.ts'

/** What a shopper sees from the merchant's link to the end, which is told here too: the wallet may be on another device. */
export function Hosted({ id }: { id: string }) {
  const words = useWords({ en: en.hosted, de: de.hosted })
  const common = useCommon()
  const session = useSession(id)
  const { known, isConnected } = session
  const headline = headlineOf(words, known)
  useEffect(() => {
    document.title = headline || 'Vidimus'
  }, [headline])
  return (
    <div class="hosted">
      {typeof known === 'object' && known.environment === 'test' && (
        <TestBand>{HAS_SANDBOX && known.wallet_uri && <a href={sandboxUrl(known.wallet_uri)}>{words.trySandbox}</a>}</TestBand>
      )}
      {/* Says each change to those who do not see it. */}
      <p class="only-heard" role="status">
        {headline}
      </p>
      <main>
        {!isConnected && <Notice tone="wait">{common.unreachable}</Notice>}
        <View session={session} />
      </main>
      <footer>
        <span class="row">
          {words.poweredBy} <Wordmark size={18} />
        </span>
        <LanguageSwitch />
      </footer>
    </div>
  )
}

function View({ session }: { session: Session }): ComponentChildren {
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
  return known.status === 'pending' ? <Request asked={known} aheadMs={aheadMs} /> : <Ended ended={known} />
}

function headlineOf(words: typeof en.hosted, known: Session['known']): string {
  if (known === 'unknown') return ''
  if (known === 'gone') return words.gone
  return known.status === 'pending' ? pendingHeadline(words, known) : words[known.status]
}

const pendingHeadline = (words: typeof en.hosted, { answered, fetched, asked_by }: HostedVerification): string =>
  answered ? words.answered : fetched ? words.scanned : words.title(asked_by)
