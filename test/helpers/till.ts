import type { BrowserContextOptions, Page } from 'playwright-core'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { saveTemplate, type TemplateDraft } from '../../src/templates/save.ts'
import type { startApp, TestApp } from './app.ts'
import { expectAccessible, type OpenPage, shoot, type WatchedPage } from './browser.ts'
import { type Registered, register } from './devices.ts'
import { type Shop, startShop } from './shop.ts'
import { answerWith, holderOf } from './wallet.ts'

export const TEMPLATES = ['age_over_18', 'age_over_18_photo', 'identity_basic', 'of_tomorrow']

export const UNREACHABLE = 'The server does not answer. This till tries again by itself.'

type Options = {
  templates?: string[]
  /** Templates that the shop made itself. */
  own?: Omit<TemplateDraft, 'tenantId'>[]
  live?: boolean
  browser?: BrowserContextOptions
  /** For a service of its own. */
  service?: Parameters<typeof startApp>[0]
}

export type PairedTill = Shop & Registered & { page: WatchedPage }

/** A till in a browser, paired by its link and ready. */
export async function openTill(openPage: OpenPage, { templates = TEMPLATES, own = [], live, browser, service }: Options = {}) {
  const started = await startShop(service)
  for (const template of own) await saveTemplate(started.app.deps, { tenantId: started.tenantId, ...template }, 'olivia')
  const registered = await register(started.app, live ? started.liveKey : started.key, { allowed_templates: templates })
  // Playwright cannot intercept requests through a service worker.
  const page = await openPage(started.origin, { viewport: { width: 1180, height: 820 }, serviceWorkers: 'block', ...browser })
  await page.goto(`/till#pair=${registered.pairing_code}`)
  await page.getByRole('button', { name: 'Pair this till' }).click()
  await isIdle(page)
  return { ...started, ...registered, page }
}

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name, exact: true })

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

export const isIdle = (page: Page) => heading(page, 'What do you want to check?').waitFor()

/** Presses a template's button and waits for the code. */
export async function ask(page: Page, title = 'Age 18 or over'): Promise<string> {
  await button(page, title).click()
  return await walletUri(page)
}

/** The content of the code, from the link to the sandbox wallet. */
export async function walletUri(page: Page): Promise<string> {
  const link = page.getByRole('link', { name: 'Answer with the sandbox wallet' })
  return decodeURIComponent((await link.getAttribute('href'))?.split('wallet_uri=')[1] ?? '')
}

export async function answer(app: TestApp, uri: string, persona: PersonaId = 'adult'): Promise<void> {
  const { status } = await answerWith(app, await holderOf(app, persona), uri)
  if (status !== 200) throw new Error(`the answer was refused: ${status}`)
}

/** As if the network came back: pending retries run now. */
export const wake = (page: Page) => page.evaluate(() => dispatchEvent(new Event('online')))

/** The stored state of the till, by name. */
export async function keptBy(page: Page): Promise<Record<string, unknown>> {
  const entries = await page.evaluate(() => Object.entries({ ...localStorage }) as [string, string][])
  return Object.fromEntries(
    entries.filter(([name]) => name.startsWith('vidimus-till')).map(([name, text]) => [name.split(' ').at(-1), JSON.parse(text)]),
  )
}

/** The next request of a route reaches the server, but its response is lost. */
export async function loseAnswer(page: Page, path: string): Promise<{ count: () => number }> {
  let count = 0
  await page.route(
    `**/${path}`,
    async route => {
      await route.fetch()
      count++
      await route.abort('connectionreset')
    },
    { times: 1 },
  )
  return { count: () => count }
}

/** In both themes: for that the till follows the system, which it usually does not. */
export async function look(page: Page, name: string): Promise<void> {
  const chosen = await page.evaluate(() => {
    const { theme } = document.documentElement.dataset
    delete document.documentElement.dataset.theme
    return theme
  })
  await expectAccessible(page)
  await shoot(page, `till-${name}`)
  await page.evaluate(theme => {
    document.documentElement.dataset.theme = theme
  }, chosen)
}

/** A fake camera that shows only this code. */
export function pretendCamera(code: boolean[][]): void {
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d')!
  const scale = 8
  canvas.width = canvas.height = code.length * scale
  const draw = () => {
    for (const [y, row] of code.entries())
      for (const [x, isDark] of row.entries()) {
        context.fillStyle = isDark ? 'black' : 'white'
        context.fillRect(x * scale, y * scale, scale, scale)
      }
  }
  // A still picture produces no frames.
  setInterval(draw, 50)
  navigator.mediaDevices.enumerateDevices = async () => [{ kind: 'videoinput' } as MediaDeviceInfo]
  navigator.mediaDevices.getUserMedia = async () => canvas.captureStream()
}
