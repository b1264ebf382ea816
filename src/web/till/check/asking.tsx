import { useState } from 'preact/hooks'
import type { HostedVerification } from '../../../verifications/schema.ts'
import { Button } from '../../kit/button.tsx'
import { LeadsHere, QrCode } from '../../kit/qr.tsx'
import { HAS_SANDBOX, sandboxUrl } from '../../shared/base.ts'
import { useDigital } from '../../shared/digital.ts'
import { inLanguage, useLanguage } from '../../shared/language.ts'
import { Heading } from '../heading.tsx'
import type { Check } from '../memory.ts'
import { useTillWords } from '../words.ts'
import { Offer } from './offer.tsx'
import { Remaining } from './remaining.tsx'
import { Stop } from './stop.tsx'

type Props = {
  check: Check
  title: string
  asked: HostedVerification
  leftMs: number
  /** The server's clock minus this one. */
  aheadMs: number
}

/** The code, hidden once a wallet has the request so that it is not scanned twice. */
export function Asking({ check, title, asked, leftMs, aheadMs }: Props) {
  const words = useTillWords()
  const language = useLanguage()
  const digital = useDigital(check.id ?? '', asked, aheadMs)
  const [isShownAgain, setIsShownAgain] = useState(false)
  const isScanned = asked.fetched === true && !isShownAgain
  const wholeMs = Date.parse(asked.expires_at) - Date.parse(asked.created_at)
  if (isScanned) {
    return (
      <main class="hold">
        <Remaining leftMs={leftMs} wholeMs={wholeMs} size={200} />
        <Heading text={words.scanned} />
        <p class="secondary">{words.scannedMore}</p>
        <div class="row">
          <Button kind="quiet" large onClick={() => setIsShownAgain(true)}>
            {words.codeAgain}
          </Button>
          <Stop check={check} isAsked />
        </div>
      </main>
    )
  }
  return (
    <main class="asking">
      <div class="code">
        <QrCode text={asked.wallet_uri ?? ''} label={words.qrLabel} />
      </div>
      <div class="beside stack centred">
        <div class="stack tight">
          <Heading text={words.scan} />
          <p class="secondary breaks">{asked.purpose === undefined ? title : inLanguage(asked.purpose, language)}</p>
          <LeadsHere link={asked.wallet_uri ?? ''} />
        </div>
        <div class="row">
          <Remaining leftMs={leftMs} wholeMs={wholeMs} size={112} />
          <Stop check={check} isAsked />
        </div>
        <div class="ways row">
          <Offer digital={digital} />
        </div>
        {HAS_SANDBOX && asked.environment === 'test' && (
          <div class="row">
            <a href={sandboxUrl(asked.wallet_uri ?? '')} target="_blank" rel="noreferrer">
              {words.trySandbox}
            </a>
            {/* In a frame of the demo the phone is beside it. */}
            {self === top && (
              <button type="button" class="link" onClick={digital.askSandbox}>
                {words.trySandboxBrowser}
              </button>
            )}
          </div>
        )}
      </div>
    </main>
  )
}
