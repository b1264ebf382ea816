import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PersonaId } from '../../sandbox/personas.ts'
import { Button, LinkButton } from '../kit/button.tsx'
import { LanguageSwitch } from '../kit/language-switch.tsx'
import { Notice } from '../kit/notice.tsx'
import { Wordmark } from '../kit/seal.tsx'
import { serviceUrl } from '../shared/base.ts'
import { useCommon, useLanguage } from '../shared/language.ts'
import { Cheats } from './cheats.tsx'
import { Office } from './office.tsx'
import { useAskedPhone, useShownCode } from './platform.ts'
import { Shop } from './shop.tsx'
import { type Step, type Story, useStory } from './story.ts'
import { useDemoWords } from './words.ts'

const PANES = ['till', 'shop', 'phone', 'office'] as const
type Pane = (typeof PANES)[number]

/** The pane of each step, for screens that show one pane at a time. */
const PANE_OF: Readonly<Record<Step, Pane>> = {
  begin: 'till',
  ask: 'till',
  scan: 'till',
  share: 'phone',
  shopping: 'shop',
  webhook: 'till',
  erase: 'office',
  cheat: 'till',
  show: 'phone',
  cheating: 'till',
  done: 'till',
}

/** Till, phone and element are the real ones; the demo hands the request over. */
export function DemoPage() {
  const words = useDemoWords()
  const common = useCommon()
  const language = useLanguage()
  const phone = useRef<HTMLIFrameElement>(null)
  const till = useRef<HTMLIFrameElement>(null)
  const isAsked = useAskedPhone(phone)
  const [code, forgetCode] = useShownCode(phone)
  const story = useStory({
    hand: (walletUri, persona, isHurried) => tell(phone.current, { wallet_uri: walletUri, persona }, isHurried),
    isAsked,
    show: (persona, isHurried) => {
      forgetCode()
      tell(phone.current, { in_person: '', persona }, isHurried)
    },
    code,
    scanCode: shown => till.current?.contentWindow?.postMessage({ type: 'vidimus-code', code: shown }, location.origin),
  })
  const [shown, setShown] = useState<Pane>('till')
  useEffect(() => setShown(PANE_OF[story.step]), [story.step])
  useEffect(() => {
    document.title = words.title
  }, [words])
  return (
    <div class="demo stack">
      <header class="top row">
        <Wordmark />
        <h1>{words.title}</h1>
        <LanguageSwitch />
      </header>
      <Next story={story} />
      {story.problem !== undefined && (
        <Notice tone="no" alert>
          {common.unreachable}
        </Notice>
      )}
      <nav class="pane-choice line dense" aria-label={words.panes}>
        {PANES.map(pane => (
          <button key={pane} type="button" class="button" aria-pressed={pane === shown} onClick={() => setShown(pane)}>
            {words.tabs[pane]}
          </button>
        ))}
      </nav>
      <main class="panes" data-shown={shown}>
        <PaneOf pane="till" step={story.step}>
          {/* Reloaded when the language changes. */}
          <iframe key={language} ref={till} title={words.till.title} src={serviceUrl('till')} allow="camera; bluetooth" />
        </PaneOf>
        <PaneOf pane="shop" step={story.step}>
          <Shop story={story} />
        </PaneOf>
        <PaneOf pane="phone" step={story.step}>
          <iframe key={language} ref={phone} title={words.phone.title} src={serviceUrl('sandbox')} allow="camera" />
        </PaneOf>
        <PaneOf pane="office" step={story.step}>
          <Office story={story} />
        </PaneOf>
      </main>
      <Cheats story={story} />
    </div>
  )
}

type Order = { persona: PersonaId } & ({ wallet_uri: string } | { in_person: '' })

function tell(phone: HTMLIFrameElement | null, order: Order, isHurried: boolean): void {
  const fragment = new URLSearchParams({ ...order, ...(isHurried && { share: 'now' }) })
  const page = phone?.contentWindow
  if (page) page.location.hash = fragment.toString()
}

function Next({ story: { step, ask, scan, erase, show, hold } }: { story: Story }) {
  const words = useDemoWords()
  const { say, press } = words.steps[step]
  const act = { ask, scan, erase, cheat: show, show: hold }[step as 'ask' | 'scan' | 'erase' | 'cheat' | 'show']
  return (
    <section class="next card row" aria-label={words.next}>
      <p role="status">{say}</p>
      {act && press && (
        <div class="glowing">
          <Button kind="primary" onClick={act}>
            {press}
          </Button>
        </div>
      )}
      {step === 'done' && <Onwards />}
    </section>
  )
}

function Onwards() {
  const words = useDemoWords().onwards
  return (
    <nav class="row" aria-label={words.title}>
      <LinkButton href={serviceUrl('dashboard')}>{words.dashboard}</LinkButton>
      <LinkButton href={serviceUrl('docs')}>{words.handbook}</LinkButton>
      <LinkButton kind="primary" href={serviceUrl('docs/install')}>
        {words.own}
      </LinkButton>
    </nav>
  )
}

function PaneOf({ pane, step, children }: { pane: Pane; step: Step; children: ComponentChildren }) {
  const words = useDemoWords()
  const { title, more } = words[pane]
  const isGlowing = step === 'share' && pane === 'phone'
  return (
    <section class={`card stack pane ${pane}${isGlowing ? ' glowing' : ''}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <p class="small">{more}</p>
      </header>
      <div class="pane-body">{children}</div>
    </section>
  )
}
