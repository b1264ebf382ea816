import { useEffect, useRef, useState } from 'preact/hooks'
import type { HostedVerification, Share } from '../../verifications/schema.ts'
import { Button, LinkButton } from '../kit/button.tsx'
import { Icon } from '../kit/icons.tsx'
import { Notice } from '../kit/notice.tsx'
import { LeadsHere, QrCode } from '../kit/qr.tsx'
import { Seal } from '../kit/seal.tsx'
import { serviceUrl } from '../shared/base.ts'
import { useClaimWords } from '../shared/claims.ts'
import type { Digital } from '../shared/digital.ts'
import { inLanguage, useReadersLanguage } from '../shared/language.ts'
import { minutes, useLeftMs } from '../shared/time.tsx'
import { backName } from './ended.tsx'
import { useHostedWords, useWithoutWallet } from './words.ts'

const PHONE = '(pointer: coarse) and (max-width: 820px), (pointer: coarse) and (max-height: 500px)'

type Props = { asked: HostedVerification; aheadMs: number; digital: Digital }

export function Request({ asked, aheadMs, digital }: Props) {
  const words = useHostedWords()
  const language = useReadersLanguage()
  const { asked_by, login, purpose, shares, look } = asked
  const without = useWithoutWallet(asked)
  return (
    <article class="card request grid">
      <div class="stack loose">
        <header class="stack tight">
          {look?.logo && <img class="logo" src={serviceUrl(look.logo)} alt="" />}
          <h1>
            <span class="who">{asked_by}</span> {words.asks}
          </h1>
          {login && <p class="purpose">{words.logIn(login.client)}</p>}
          {purpose && <p class="purpose">{inLanguage(purpose, language)}</p>}
        </header>
        <section class="stack tight">
          <h2 class="large">{words.shares}</h2>
          {shares.map((share, i) => (
            <Shared key={i} share={share} />
          ))}
          <p class="hint">{words.nothingElse}</p>
        </section>
        <Accepted shares={shares} />
      </div>
      <Way asked={asked} aheadMs={aheadMs} digital={digital} />
      <div class="about-wallets stack tight">
        {look?.privacy_url && (
          <a class="touch" href={look.privacy_url} target="_blank" rel="noreferrer">
            {words.privacy(asked_by)}
          </a>
        )}
        {without && <p>{without}</p>}
        <Help />
      </div>
    </article>
  )
}

function Shared({ share: { required, alternatives, more } }: { share: Share }) {
  const words = useHostedWords()
  return (
    <>
      {!required && <p class="secondary">{words.optional}</p>}
      {(alternatives.length > 1 || more) && <p class="secondary">{words.oneOf}</p>}
      {alternatives.length > 0 && (
        <ul class="shares grid">
          {alternatives.map(({ claims, documents }, i) => (
            <li key={i} class="notice">
              <Icon name="document" />
              <Alternative claims={claims} documents={documents} />
            </li>
          ))}
        </ul>
      )}
      {more && <p class="secondary">{words.moreWays(more.count)}</p>}
    </>
  )
}

/** The claims in words, or the documents if no claims are named. */
function Alternative({ claims, documents }: Share['alternatives'][number]) {
  const { claim, document } = useClaimWords()
  const names = [...new Set(claims.length > 0 ? claims.map(claim) : documents.map(document))]
  return (
    <ul class={names.length > 1 ? 'several row' : 'grid'}>
      {names.map(name => (
        <li key={name}>{name}</li>
      ))}
    </ul>
  )
}

/** The code or button, hidden once a wallet has the request so that it is not used twice. */
function Way(props: Props) {
  const words = useHostedWords()
  const { asked, aheadMs } = props
  const [isShownAgain, setIsShownAgain] = useState(false)
  if (asked.fetched && !isShownAgain) {
    return (
      <section class="way stack centred">
        <Seal state="busy" />
        <h2 class="large">{words.scanned}</h2>
        <p class="secondary">{words.scannedMore}</p>
        <Remaining asked={asked} aheadMs={aheadMs} />
        <Button kind="quiet" onClick={() => setIsShownAgain(true)}>
          {words.scannedAgain}
        </Button>
        <GiveUp asked={asked} />
      </section>
    )
  }
  return <Choices {...props} />
}

/** One button on a phone, with everything else under "Another way"; the code on a desktop. */
function Choices({ asked, aheadMs, digital }: Props) {
  const words = useHostedWords()
  // Read once: turning the phone must not remove the button.
  const [isPhone] = useState(() => matchMedia(PHONE).matches)
  const fallback = useFallback(digital)
  const opening = useOpening()
  const without = useWithoutWallet(asked)
  const { wallet_uri = '', qr_uri, further_uris: further = [] } = asked
  const code = qr_uri !== undefined && (
    <figure class="code stack tight" ref={isPhone ? undefined : fallback} tabIndex={-1}>
      <QrCode text={qr_uri} label={words.qrLabel} />
      <figcaption class="secondary">{isPhone ? words.otherDevice : words.scan}</figcaption>
      <LeadsHere link={wallet_uri} />
    </figure>
  )
  const remaining = <Remaining asked={asked} aheadMs={aheadMs} />
  const nothingOpened = opening.isNothing && (
    <Notice tone="wait" alert>
      {words.nothingOpened} {without}
    </Notice>
  )
  if (!isPhone) {
    return (
      <section class="way stack centred">
        {code || (digital.offer === 'none' && <p class="secondary">{words.samePhone(backName(asked))}</p>)}
        {remaining}
        <Offer digital={digital} isFirst={!code} />
        <a class="touch" href={wallet_uri} onClick={opening.begin}>
          {words.openHere}
        </a>
        {nothingOpened}
        <GiveUp asked={asked} />
      </section>
    )
  }
  const hasOffer = digital.offer !== 'none'
  const links = hasOffer ? [wallet_uri, ...further] : further
  return (
    <section class="way stack centred">
      <Offer digital={digital} isFirst />
      {!hasOffer && (
        <LinkButton kind="primary" large wide href={wallet_uri} onClick={opening.begin}>
          <Icon name="wallet" />
          {words.open}
        </LinkButton>
      )}
      {nothingOpened}
      {remaining}
      {(links.length > 0 || code) && (
        <details class="unfolds">
          <summary ref={fallback}>
            {words.anotherWay}
            <Icon name="down" size={16} />
          </summary>
          <div class="stack tight centred">
            {links.map(link => (
              <a key={link} class="touch" href={link} onClick={opening.begin}>
                {link === wallet_uri ? words.open : words.wallets[link.slice(0, link.indexOf(':'))]}
              </a>
            ))}
            {code}
          </div>
        </details>
      )}
      <GiveUp asked={asked} />
    </section>
  )
}

const OPENING_MS = 2000

/** No browser says that no app took a link: the page is just still there. A page that is left may come back without an answer. */
function useOpening(): { isNothing: boolean; begin: () => void } {
  const [isNothing, setIsNothing] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const end = () => {
    clearTimeout(timer.current)
    setIsNothing(false)
  }
  useEffect(() => {
    const look = () => document.visibilityState === 'hidden' && end()
    document.addEventListener('visibilitychange', look)
    addEventListener('pagehide', end)
    return () => {
      clearTimeout(timer.current)
      document.removeEventListener('visibilitychange', look)
      removeEventListener('pagehide', end)
    }
  }, [])
  const begin = () => {
    end()
    timer.current = setTimeout(() => setIsNothing(true), OPENING_MS)
  }
  return { isNothing, begin }
}

/** The other way takes the focus after a call that shared nothing. */
function useFallback({ note }: Digital) {
  const fallback = useRef<HTMLElement>(null)
  useEffect(() => {
    if (note) fallback.current?.focus({ preventScroll: true })
  }, [note])
  return fallback
}

/** The wallet call of the browser, where it has one. */
function Offer({ digital: { offer, step, note, askWallet }, isFirst = false }: { digital: Digital; isFirst?: boolean }) {
  const words = useHostedWords()
  const said = note && (
    <Notice tone={note === 'not_delivered' || note === 'unreadable' ? 'wait' : 'neutral'} alert>
      {words.digitalNotes[note]}
    </Notice>
  )
  if (offer === 'none') return said ?? null
  return (
    <div class="offer stack tight">
      {said}
      <Button
        kind={isFirst ? 'primary' : 'plain'}
        large={isFirst}
        wide
        busy={offer === 'preparing' || step !== 'idle'}
        onClick={askWallet}
      >
        {step === 'idle' && <Icon name="wallet" />}
        {words.digital[step]}
      </Button>
      {!isFirst && <p class="hint">{words.digitalMore}</p>}
    </div>
  )
}

function GiveUp({ asked }: { asked: HostedVerification }) {
  const words = useHostedWords()
  return asked.return_url === undefined ? null : (
    <a class="touch" href={asked.return_url}>
      {words.giveUp(backName(asked))}
    </a>
  )
}

/** The remaining time. Not announced by itself: a speaking clock is a nuisance. */
function Remaining({ asked: { created_at, expires_at }, aheadMs }: { asked: HostedVerification; aheadMs: number }) {
  const words = useHostedWords()
  const leftMs = useLeftMs({ expires_at }, aheadMs)
  const wholeMs = Date.parse(expires_at) - Date.parse(created_at)
  return (
    <p class="remaining row tight">
      <Seal state="waiting" size={22} left={leftMs / wholeMs} />
      {words.left(minutes(leftMs))}
    </p>
  )
}

/** One line; the rest of it on a tap. */
function Accepted({ shares }: { shares: readonly Share[] }) {
  const words = useHostedWords()
  const { document } = useClaimWords()
  const types = shares.flatMap(({ alternatives, more }) => [
    ...alternatives.flatMap(each => each.documents),
    ...(more?.documents ?? []),
  ])
  const documents = [...new Set(types.map(document))]
  const line = `${words.accepted} ${documents.join(', ')}`
  if (documents.length < 3) return <p class="secondary">{line}</p>
  return (
    <details class="unfolds accepted">
      <summary>
        <span class="clipped">{line}</span>
        <Icon name="down" size={16} />
      </summary>
    </details>
  )
}

const ABOUT_WALLETS = 'https://ec.europa.eu/digital-building-blocks/sites/display/EUDIGITALIDENTITYWALLET/What+is+the+Wallet'

function Help() {
  const words = useHostedWords()
  return (
    <details class="unfolds">
      <summary>
        {words.noWallet}
        <Icon name="down" size={16} />
      </summary>
      <div class="stack tight">
        <p class="secondary">{words.noWalletMore}</p>
        <a class="touch" href={ABOUT_WALLETS} target="_blank" rel="noreferrer">
          {words.aboutWallets}
        </a>
      </div>
    </details>
  )
}
