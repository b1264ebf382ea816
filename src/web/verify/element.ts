// <vidimus-verify session="vs_…">: asks the customer's wallet on a page of the shop. It falls back to a link to the hosted
// page, which has the QR code. Nothing inline and no HTML from text: it works under any policy that loads this script.

import { ask, canAsk, type DcAnswer, fetchRequests, type Prepared, prefetch, Refused, send } from '../../sdk/wallet-call.ts'
import type { askSandbox } from '../shared/ask-sandbox.ts'
import { WORDS } from './words.ts'

const ANSWER_MS = 5000
const POLL_MS = 2000

const pause = (ms: number) => new Promise(done => setTimeout(done, ms))

/** Without spaces, as it is sent. */
const STYLE = `:host{display:block}:host([hidden]),[hidden]{display:none!important}
button,a,p{display:block;box-sizing:border-box;width:100%;margin:0;padding:13px;border:0;font:inherit;line-height:1.4;text-align:center;border-radius:var(--vidimus-radius,10px)}
.main{background:var(--vidimus-accent,#1f4fd8);color:var(--vidimus-on-accent,#fff);font-weight:600;text-decoration:none}
.quiet{background:none;color:inherit;text-decoration:underline}
button{cursor:pointer}[aria-disabled=true]{opacity:.6;cursor:default}
:focus-visible{outline:3px solid;outline-offset:2px}
p:empty{padding:0}`

const sheet = new CSSStyleSheet()
sheet.replaceSync(STYLE)

// Destructured, because the bundler of the program writes the path of this source for import.meta.url.
const { url } = import.meta
/** The folder of /verify.js; the same file is one folder below as an asset. */
const HOME = new URL(url.includes('/assets/') ? '..' : '.', url).href

type End = 'completed' | 'failed' | 'expired' | 'gone'
type State = 'idle' | 'preparing' | 'ready' | 'asking' | 'checking' | 'cancelled' | 'error' | End
type Ended = { status: End; response_code?: string; redirect_uri?: string }

const BUSY: readonly State[] = ['preparing', 'asking', 'checking']
const OVER: readonly State[] = ['idle', 'completed', 'failed', 'expired', 'gone']

/** One request for all elements of a session, and none more when an element is moved. */
const preparing = new Map<string, Promise<Prepared | undefined>>()

async function prepare(base: string, session: string): Promise<Prepared | undefined> {
  const key = `${base} ${session}`
  const found = preparing.get(key) ?? prefetch(base, session, AbortSignal.timeout(ANSWER_MS))
  preparing.set(key, found)
  const prepared = await found
  if (!prepared) preparing.delete(key)
  return prepared
}

/** Ends by the address of the hosted page: a session that is over is not asked again when an element is moved or made anew. */
const ended = new Map<string, End>()

class VidimusVerify extends HTMLElement {
  static observedAttributes = ['session', 'base', 'sandbox', 'lang']
  /** Set by /verify-sandbox.js, or by the demo. */
  static askSandbox: typeof askSandbox | undefined

  #root = this.attachShadow({ mode: 'open' })
  #ask = made('button', 'button')
  #sandbox = made('button', 'sandbox')
  #link = made('a', 'link')
  #status = made('p', 'status')
  #state: State = 'idle'
  #prepared: Prepared | undefined
  /** Until the session ends, is replaced, or the element is removed. */
  #run = new AbortController()
  #isFollowing = false
  #isDue = false

  constructor() {
    super()
    this.#root.adoptedStyleSheets = [sheet]
    this.#root.append(this.#ask, this.#sandbox, this.#link, this.#status)
    this.#status.role = 'status'
    this.#status.tabIndex = -1
    this.#ask.className = 'main'
    this.#sandbox.className = 'quiet'
    this.#link.target = '_blank'
    this.#link.rel = 'noopener'
    this.#ask.onclick = () => this.#answer(signal => this.#prepared && ask(this.#prepared, signal))
    // The popup opens in the click and fetches its requests then: this browser may have no wallet call.
    this.#sandbox.onclick = () =>
      this.#answer(signal =>
        VidimusVerify.askSandbox?.(this.#base, this.#prepared ?? fetchRequests(this.#base, this.#session), signal),
      )
    this.#link.onclick = () => this.#follow()
  }

  connectedCallback() {
    this.#restart()
  }

  disconnectedCallback() {
    this.#run.abort()
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null) {
    if (before === after) return
    if (name === 'lang') this.#show(this.#state)
    else this.#restart()
  }

  get #session() {
    return this.getAttribute('session') || ''
  }

  get #base() {
    const url = URL.parse(this.getAttribute('base') ?? HOME, document.baseURI)
    return url && /^https?:$/.test(url.protocol) ? url.href.replace(/\/?$/, '/') : ''
  }

  get #page() {
    return `${this.#base}v/${encodeURIComponent(this.#session)}`
  }

  /** Once for all attributes that are set together. */
  #restart() {
    this.#run.abort()
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      this.#run = new AbortController()
      this.#isFollowing = false
      this.#prepared = undefined
      if (this.isConnected && this.#session && this.#base) this.#begin()
      else this.#show('idle')
    })
  }

  async #begin() {
    const { signal } = this.#run
    const end = ended.get(this.#page)
    this.#show(end ?? 'preparing')
    if (end) return
    if (this.hasAttribute('sandbox') && !VidimusVerify.askSandbox)
      import(`${HOME}verify-sandbox.js`).then(
        () => this.#show(this.#state),
        () => {},
      )
    const prepared = await prepare(this.#base, this.#session)
    if (signal.aborted) return
    this.#prepared = prepared
    this.#show('ready')
    if (!prepared) return
    const timer = setTimeout(() => this.#follow(), Date.parse(prepared.expires_at) - Date.now())
    signal.addEventListener('abort', () => clearTimeout(timer))
  }

  async #answer(ask: (signal: AbortSignal) => Promise<DcAnswer> | undefined) {
    const { signal } = this.#run
    if (BUSY.includes(this.#state)) return
    this.#show('asking')
    this.#follow()
    try {
      const answer = await ask(signal)
      if (signal.aborted || !answer) return
      this.#show('checking')
      const { status, wallet_error, ...codes } = await send(this.#base, this.#session, answer)
      if (signal.aborted) return
      if (wallet_error !== undefined) this.#giveBack('cancelled', { wallet_error })
      // A till compares the photo: the poll sees the end.
      else if (status === 'pending') this.#show('asking')
      else this.#end({ status, ...codes })
    } catch (error) {
      if (!signal.aborted) this.#refused(error as Error)
    }
  }

  #refused(error: Error) {
    // The browser does not say whether the customer cancelled or has no wallet.
    if (/^(NotAllowed|Abort)Error$/.test(error.name)) this.#giveBack('cancelled', {})
    else this.#giveBack('error', { reason: error instanceof Refused ? 'refused' : 'failed', error })
  }

  #giveBack(state: 'cancelled' | 'error', detail: object) {
    this.#show(state)
    this.#focus(this.#link)
    this.#tell(state, detail)
  }

  /** While the link is in use, the dialog is open, or the time is up: another device may have answered. */
  async #follow() {
    if (this.#isFollowing) return
    this.#isFollowing = true
    const { signal } = this.#run
    while (!signal.aborted) {
      const url = `${this.#base}v1/verifications/${encodeURIComponent(this.#session)}/status`
      // A request that hangs would hold a connection of the browser. AbortSignal.any would do, but Safari has it since 17.4 only.
      const poll = new AbortController()
      const giveUp = () => poll.abort()
      signal.onabort = giveUp
      setTimeout(giveUp, ANSWER_MS)
      // Undefined when it is late, cut off or of a proxy: the next one may be whole.
      const status = await fetch(url, { credentials: 'omit', signal: poll.signal })
        .then(answer => answer.json())
        .then(({ status, error }) => (error?.code === 'session_not_found' ? 'gone' : status))
        .catch(() => undefined)
      // The answer of this page is told with its code.
      if (!signal.aborted && this.#state !== 'checking' && status && status !== 'pending') this.#end({ status })
      else await pause(POLL_MS)
    }
  }

  #end(answer: Ended) {
    const { status } = answer
    this.#run.abort()
    ended.set(this.#page, status)
    this.#show(status)
    this.#focus(this.#status)
    if (status === 'expired' || status === 'gone') this.#tell('error', { reason: 'expired' })
    else this.#tell('answered', answer)
  }

  /** Not while the customer is somewhere else on the page, such as in a form. */
  #focus(element: HTMLElement) {
    if (this.#root.activeElement || document.activeElement === document.body) element.focus()
  }

  #tell(name: 'answered' | 'cancelled' | 'error', detail: object) {
    const init = { bubbles: true, composed: true, detail: { session: this.#session, ...detail } }
    this.dispatchEvent(new CustomEvent(`vidimus-${name}`, init))
  }

  #show(state: State) {
    this.#state = state
    const around = langAround(this).split('-', 1)[0]!.toLowerCase()
    const lang = Object.hasOwn(WORDS, around) ? (around as keyof typeof WORDS) : 'en'
    const words = WORDS[lang]
    for (const each of this.#root.children as Iterable<HTMLElement>) each.lang = lang
    const isOver = OVER.includes(state)
    const canBeAsked = canAsk() && (state === 'preparing' || this.#prepared !== undefined)
    this.#ask.hidden = isOver || !canBeAsked
    this.#link.hidden = isOver
    this.#ask.textContent = words.ask
    this.#sandbox.hidden = isOver || !this.hasAttribute('sandbox') || !VidimusVerify.askSandbox
    this.#sandbox.textContent = words.sandbox
    this.#link.textContent = canBeAsked ? words.other : words.ask
    this.#ask.ariaDisabled = this.#sandbox.ariaDisabled = String(BUSY.includes(state))
    this.#link.className = canBeAsked ? 'quiet' : 'main'
    this.#link.href = this.#page
    this.#status.textContent = (words as Partial<Record<State, string>>)[state] ?? ''
  }
}

function made<Tag extends 'button' | 'a' | 'p'>(tag: Tag, part: string): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  element.part.add(part)
  // All languages run this way, on any page.
  element.dir = 'ltr'
  return element
}

/** Out of shadow roots too, as the language is inherited. */
const langAround = (node: Element | undefined): string =>
  node ? node.closest<HTMLElement>('[lang]')?.lang || langAround((node.getRootNode() as ShadowRoot).host) : navigator.language

// The script may be loaded twice, under both of its addresses.
if (!customElements.get('vidimus-verify')) customElements.define('vidimus-verify', VidimusVerify)
