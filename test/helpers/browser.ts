import { afterAll, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const EXECUTABLE = process.env.CHROMIUM ?? (existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : Bun.which('chromium'))
const TIMEOUT_MS = 60_000

let running: Promise<Browser> | undefined

/** A page, and what went wrong on it: errors on its console, uncaught ones, and requests to anywhere but its own origin. */
export type WatchedPage = Page & { complaints: string[] }

export type OpenPage = (origin: string, options?: BrowserContextOptions) => Promise<WatchedPage>

/** A test in a real browser. Where there is none it is skipped, and says so; but not in CI, where nobody would read that. */
export function browserTest(title: string, act: (openPage: OpenPage) => Promise<void>): void {
  if (!EXECUTABLE && process.env.CI !== 'true') {
    test.skip(`NOT TESTED, NO CHROMIUM FOUND (install it, or set CHROMIUM to its path): ${title}`, () => {})
    return
  }
  // Here and not once in this file, which is evaluated once for all test files.
  afterAll(closeBrowser)
  test(title, () => act(openPage), TIMEOUT_MS)
}

async function openPage(origin: string, options?: BrowserContextOptions): Promise<WatchedPage> {
  running ??= launch()
  const browser = await running
  const page = await browser.newPage({ baseURL: origin, ...options })
  return watch(page, origin)
}

async function launch(): Promise<Browser> {
  if (!EXECUTABLE) throw new Error('no Chromium found; install it, or set CHROMIUM to its path')
  return await chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
}

function watch(page: Page, origin: string): WatchedPage {
  const complaints: string[] = []
  // A refusal by the Content-Security-Policy is an error on the console too.
  page.on('console', message => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  page.on('pageerror', error => complaints.push(`uncaught: ${error.message}`))
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.protocol !== 'data:' && url.origin !== origin) complaints.push(`request to ${request.url()}`)
  })
  return Object.assign(page, { complaints })
}

async function closeBrowser(): Promise<void> {
  const browser = await running
  running = undefined
  await browser?.close()
}
