import { useState } from 'preact/hooks'
import type { Till } from '../../../devices/schema.ts'
import type { HostedVerification } from '../../../verifications/schema.ts'
import { Button, LinkButton } from '../../kit/button.tsx'
import { Icon } from '../../kit/icons.tsx'
import { LeadsHere, QrCode } from '../../kit/qr.tsx'
import { HAS_SANDBOX, sandboxUrl } from '../../shared/base.ts'
import { useDigital } from '../../shared/digital.ts'
import { inLanguage, useLanguage } from '../../shared/language.ts'
import { Heading } from '../heading.tsx'
import { type Check, useKept } from '../memory.ts'
import { ReadingPhone } from '../reading/reading-phone.tsx'
import { canRead, usePhoneReader } from '../reading/use-reading.ts'
import { useReadingWords } from '../reading/words.ts'
import { useKeys } from '../use-keys.ts'
import { useTillWords } from '../words.ts'
import { NoWallet } from './no-wallet.tsx'
import { Offer } from './offer.tsx'
import { Remaining } from './remaining.tsx'
import { Stop } from './stop.tsx'
import type { TillTemplate } from './use-verdict.ts'

type Props = {
  check: Check
  title: string
  template: TillTemplate | undefined
  asked: HostedVerification
  leftMs: number
  /** The server's clock minus this one. */
  aheadMs: number
}

/** The code, hidden once a wallet has the request so that it is not scanned twice. */
export function Asking({ check, title, template, asked, leftMs, aheadMs }: Props) {
  const words = useTillWords()
  const readingWords = useReadingWords()
  const language = useLanguage()
  const till = useKept('till')
  // A description that was kept by an earlier version has none.
  const hasWay = (way: Till['ways'][number]): boolean => till?.ways?.includes(way) ?? true
  const digital = useDigital(check.id ?? '', hasWay('dc_api') ? asked : undefined, aheadMs)
  const reader = usePhoneReader(check.id ?? '', asked)
  const reads = hasWay('in_person') && template?.in_person === true && canRead(asked)
  const hasCode = hasWay('qr') || (!reads && digital.offer === 'none')
  const isReading = reader.reading.step !== 'off'
  useKeys(reads && !isReading ? { r: reader.begin, R: reader.begin } : {})
  const [isShownAgain, setIsShownAgain] = useState(false)
  const isScanned = asked.fetched === true && !isShownAgain
  const wholeMs = Date.parse(asked.expires_at) - Date.parse(asked.created_at)
  if (isReading) return <ReadingPhone reader={reader} check={check} asked={asked} />
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
        <NoWallet check={check} waitedMs={wholeMs - leftMs} />
      </main>
    )
  }
  return (
    <main class="asking">
      {hasCode && (
        <div class="code">
          <QrCode text={asked.wallet_uri ?? ''} label={words.qrLabel} />
        </div>
      )}
      <div class="beside stack centred">
        <div class="stack tight">
          <Heading text={hasCode ? words.scan : title} />
          <p class="secondary breaks">{asked.purpose === undefined ? title : inLanguage(asked.purpose, language)}</p>
          {hasCode && <LeadsHere link={asked.wallet_uri ?? ''} />}
        </div>
        <div class="row">
          <Remaining leftMs={leftMs} wholeMs={wholeMs} size={112} />
          <Stop check={check} isAsked />
        </div>
        <div class="ways row">
          {reads && (
            <Button kind={hasCode ? 'plain' : 'primary'} large onClick={reader.begin}>
              <Icon name="device" />
              {readingWords.start}
            </Button>
          )}
          <Offer digital={digital} />
        </div>
        <NoWallet check={check} waitedMs={wholeMs - leftMs} />
        {/* In a frame of the demo the phone is beside it. */}
        {HAS_SANDBOX && asked.environment === 'test' && self === top && (
          <div class="row">
            {hasCode && (
              <LinkButton kind="quiet" href={sandboxUrl(asked.wallet_uri ?? '')} target="_blank" rel="noreferrer">
                {words.trySandbox}
              </LinkButton>
            )}
            {hasWay('dc_api') && (
              <Button kind="quiet" onClick={digital.askSandbox}>
                {words.trySandboxBrowser}
              </Button>
            )}
          </div>
        )}
      </div>
    </main>
  )
}
