import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import decodeQR from 'qr/decode.js'

/** The first is the same engine as the others with fewer processes, at half the cost. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const EXECUTABLE = process.env.CHROMIUM ?? NAMES.map(name => Bun.which(name)).find(found => found !== null)
const TIMEOUT_MS = 60_000

/** One for all files of a test process: contexts have nothing in common. It ends with the process, when its pipe is closed. */
let running: Promise<Browser> | undefined

/** A page with its console errors, uncaught errors and requests to other origins. */
export type WatchedPage = Page & { complaints: string[] }

export type OpenPage = (origin: string, options?: BrowserContextOptions) => Promise<WatchedPage>

/** A test in a real browser. Skipped without one, except in CI. */
export function browserTest(title: string, act: (openPage: OpenPage) => Promise<void>): void {
  if (!EXECUTABLE && process.env.CI !== 'true') {
    test.skip(`NOT TESTED, NO CHROMIUM FOUND (install it, or set CHROMIUM to its path): ${title}`, () => {})
    return
  }
  const leave = async (error: unknown) => {
    await closePages(false)
    throw error
  }
  test(title, () => act(openPage).then(() => closePages(true), leave), TIMEOUT_MS)
}

/**
 * A context with a blank page, whose renderer stays: a page that it opens needs no new process, and finds the scripts of
 * the pages before it compiled. That saves a third of the cost of opening a page.
 */
type Room = { key: string; context: BrowserContext; blank: Page; debuggee: CDPSession; isSpoilt: boolean }

const used: Room[] = []
/** Emptied, for the next test that wants the same. */
const idle: Room[] = []
const IDLE_MAX = 2

/** An open page would continue to draw and to poll. A test that failed may have left anything behind. */
async function closePages(isClean: boolean): Promise<void> {
  await Promise.all(used.splice(0).map(room => (isClean && isEmptiable(room) ? empty(room) : room.context.close())))
  await Promise.all(idle.splice(0, idle.length - IDLE_MAX).map(room => room.context.close()))
}

const isEmptiable = ({ context, isSpoilt }: Room): boolean => !isSpoilt && context.serviceWorkers().length === 0

async function empty(room: Room): Promise<void> {
  const { context, blank, debuggee } = room
  await Promise.all(context.pages().map(async page => page === blank || (await page.close())))
  await Promise.all([
    context.clearPermissions(),
    debuggee.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' }),
    debuggee.send('Network.clearBrowserCache'),
  ])
  idle.push(room)
}

async function openPage(origin: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const key = JSON.stringify(options)
  const at = idle.findIndex(room => room.key === key)
  const room = idle.splice(at, at < 0 ? 0 : 1)[0] ?? (await openRoom(origin, options, key))
  used.push(room)
  const opened = room.context.waitForEvent('page')
  await room.debuggee.send('Runtime.evaluate', { expression: `open('about:blank').opener = null`, userGesture: true })
  const page = await opened
  const goto = page.goto.bind(page)
  page.goto = (path, options) => goto(new URL(path, origin).href, options)
  const { clock } = page
  // The clock is the context's, and cannot be set back.
  Object.defineProperty(page, 'clock', {
    get() {
      room.isSpoilt = true
      return clock
    },
  })
  return watch(page, origin)
}

async function openRoom(origin: string, options: BrowserContextOptions, key: string): Promise<Room> {
  running ??= launch()
  const browser = await running
  // Nothing waits for an animation (and colours during one do not count), but it is drawn 60 times a second.
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  const blank = await context.newPage()
  await blank.route('**', route => route.fulfill({ contentType: 'text/html', body: '' }))
  await blank.goto(origin)
  return {
    key,
    context,
    blank,
    debuggee: await context.newCDPSession(blank),
    isSpoilt: options.permissions !== undefined,
  }
}

async function launch(): Promise<Browser> {
  if (!EXECUTABLE) throw new Error('no Chromium found; install it, or set CHROMIUM to its path')
  return await chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      // One process less to start and to talk to.
      '--in-process-gpu',
      // The pages of a room are in its process.
      '--process-per-site',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      // On Linux only with this; browsers of other systems have it.
      '--enable-features=WebBluetooth',
    ],
  })
}

function watch(page: Page, origin: string): WatchedPage {
  const complaints: string[] = []
  // Violations of the Content-Security-Policy are console errors too.
  page.on('console', message => {
    // A wallet may answer before the page has the request for the browser's own wallet.
    const isTooLate = message.text().includes('status of 409') && message.location().url.includes('/wallet/dc/request/')
    if (message.type() === 'error' && !isTooLate) complaints.push(`console: ${message.text()}`)
  })
  page.on('pageerror', error => complaints.push(`uncaught: ${error.message}`))
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.protocol !== 'data:' && url.origin !== origin) complaints.push(`request to ${request.url()}`)
  })
  return Object.assign(page, { complaints })
}

/** The refusal of an event stream. */
export const NO_PLACE = {
  status: 429,
  headers: { 'content-type': 'application/json', 'retry-after': '10' },
  body: JSON.stringify({ error: { code: 'rate_limit_exceeded', message: 'Too many requests.' } }),
}

const SCREENSHOTS = join(import.meta.dir, '../../screenshots')
const SIZES = [
  { width: 390, height: 844 },
  { width: 820, height: 1180 },
  { width: 1440, height: 900 },
]
const THEMES = ['light', 'dark'] as const

/** For a button that closes its window: the click may end only after the window is gone. */
export async function clickToClose(button: Locator): Promise<void> {
  const closed = button.page().waitForEvent('close')
  await button.click().catch(() => undefined)
  await closed
}

/** Screenshots for people to look at: three sizes, both themes. Taken with SCREENSHOTS=1. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS !== '1') return
  const before = page.viewportSize()
  for (const size of SIZES) {
    await page.setViewportSize(size)
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme })
      const file = `${name}-${size.width}x${size.height}-${colorScheme}.png`
      await page.screenshot({ path: join(SCREENSHOTS, file), fullPage: true, animations: 'disabled' })
    }
  }
  await page.emulateMedia({ colorScheme: null })
  if (before) await page.setViewportSize(before)
}

/** Reads the QR code from a screenshot. */
export async function readCode(page: Page): Promise<string> {
  const png = await page.getByRole('img', { name: /QR code/ }).screenshot()
  const pixels = await page.evaluate(async base64 => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))]))
    const canvas = new OffscreenCanvas(image.width, image.height)
    const context = canvas.getContext('2d')!
    context.drawImage(image, 0, 0)
    const { width, height, data } = context.getImageData(0, 0, image.width, image.height)
    // As one text: Playwright takes seconds over a list of half a million numbers.
    return { width, height, data: btoa(Array.from(data, byte => String.fromCharCode(byte)).join('')) }
  }, png.toString('base64'))
  return decodeQR({ ...pixels, data: Buffer.from(pixels.data, 'base64') })
}

/** The minified file, which compiles twice as fast as the readable one. */
const AXE = readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8')

type Violation = { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] }

/** In one theme every rule of axe runs; the other has other colours and is the same page. Rules of colours read no style sheet. */
const AXE_OPTIONS = {
  light: { resultTypes: ['violations'] },
  dark: { resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block'], preload: false },
}

/** A modal dialog, if there is one: what is behind it cannot be reached, and is checked without it. */
const REACHABLE = `document.querySelector('dialog:modal') ?? document`

/** axe finds no violation in either theme. */
export async function expectAccessible(page: Page): Promise<void> {
  // Through the debugger: the page's policy blocks script elements and eval.
  const debuggee = await page.context().newCDPSession(page)
  const { result: loaded } = await debuggee.send('Runtime.evaluate', { expression: 'typeof axe' })
  // It stays until the page is left.
  if (loaded.value === 'undefined') await debuggee.send('Runtime.evaluate', { expression: AXE })
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme })
    const { result, exceptionDetails } = await debuggee.send('Runtime.evaluate', {
      expression: `axe.run(${REACHABLE}, ${JSON.stringify(AXE_OPTIONS[colorScheme])}).then(({ violations }) => JSON.stringify(violations))`,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(`axe did not run: ${exceptionDetails.text}`)
    const violations = JSON.parse(result.value) as Violation[]
    expect(violations.map(violation => `${colorScheme}: ${describeViolation(violation)}`)).toEqual([])
  }
  await page.emulateMedia({ colorScheme: null })
  await debuggee.detach()
}

const describeViolation = ({ id, help, nodes }: Violation): string =>
  [`${id}: ${help}`, ...nodes.map(({ target, failureSummary }) => `${target.join(' ')}\n${failureSummary}`)].join('\n')
