import type { BrowserContextOptions, Page } from 'playwright-core'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { saveTemplate, type TemplateDraft } from '../../src/templates/save.ts'
import { startApp, type TestApp } from './app.ts'
import { expectAccessible, type OpenPage, shoot, type WatchedPage } from './browser.ts'
import { type Registered, register } from './devices.ts'
import { freePort } from './free-port.ts'
import { answerWith, holderOf } from './wallet.ts'

export const SHOP = 'Wine & Co'
export const TEMPLATES = ['age_over_18', 'age_over_18_photo', 'identity_basic', 'of_tomorrow']

export const UNREACHABLE = 'The server does not answer. This till tries again by itself.'

export type Shop = { app: TestApp; origin: string; tenantId: string; key: string; liveKey: string }

/** A shop at the address that a browser opens, on a port that is still free when it is started again. */
export async function startShop(options: Parameters<typeof startApp>[0] = {}): Promise<Shop> {
  const app = await startApp({ ...options, config: { publicUrl: '', port: await freePort(), ...options.config } })
  const { id: tenantId, key, liveKey } = await app.tenant({ name: SHOP })
  return { app, origin: app.deps.config.publicUrl, tenantId, key, liveKey }
}

/** The same shop after a restart, at the same address. */
export async function startAgain({ app }: Shop): Promise<TestApp> {
  const port = Number(new URL(app.url).port)
  return await startApp({ dir: app.dir, now: app.clock.now(), config: { publicUrl: '', port } })
}

type Options = {
  templates?: string[]
  /** Templates that the shop made itself. */
  own?: Omit<TemplateDraft, 'tenantId'>[]
  live?: boolean
  browser?: BrowserContextOptions
  shop?: Parameters<typeof startApp>[0]
}

export type PairedTill = Shop & Registered & { page: WatchedPage }

/** A till in a browser, paired by its link and ready. */
export async function openTill(openPage: OpenPage, { templates = TEMPLATES, own = [], live, browser, shop }: Options = {}) {
  const started = await startShop(shop)
  for (const template of own) await saveTemplate(started.app.deps, { tenantId: started.tenantId, ...template }, 'olivia')
  const registered = await register(started.app, live ? started.liveKey : started.key, { allowed_templates: templates })
  // Past a service worker a test could neither see nor lose an answer.
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

/** What the code on the screen holds, as the link to the sandbox wallet tells. */
export async function walletUri(page: Page): Promise<string> {
  const link = page.getByRole('link', { name: 'Answer with the sandbox wallet' })
  return decodeURIComponent((await link.getAttribute('href'))?.split('wallet_uri=')[1] ?? '')
}

export async function answer(app: TestApp, uri: string, persona: PersonaId = 'adult'): Promise<void> {
  const { status } = await answerWith(app, await holderOf(app, persona), uri)
  if (status !== 200) throw new Error(`the answer was refused: ${status}`)
}

/** As when a network comes back: whatever waits, tries now. */
export const wake = (page: Page) => page.evaluate(() => dispatchEvent(new Event('online')))

/** What this till keeps over a reload, by name. */
export async function keptBy(page: Page): Promise<Record<string, unknown>> {
  const entries = await page.evaluate(() => Object.entries({ ...localStorage }) as [string, string][])
  return Object.fromEntries(
    entries.filter(([name]) => name.startsWith('vidimus-till')).map(([name, text]) => [name.split(' ').at(-1), JSON.parse(text)]),
  )
}

/** The next answer of a route reaches the server, and is lost on its way back. */
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

/** In both themes: for that it follows the system, which by itself it does not. */
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
