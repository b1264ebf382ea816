// The stage of a scene: a page, the words of its language, sessions with an answer, and a camera.
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { WORDS, type Words } from './words.ts'

const SIZES = [
  { width: 390, height: 844 },
  { width: 1024, height: 768 },
  { width: 1440, height: 900 },
]
const THEMES = ['light', 'dark'] as const
/** Longer pages are cut: a person looks at the beginning. */
const HEIGHT_MAX = 2600
const PASSWORD = 'orchard lantern 8 crisp'

type Demo = { origin: string; key: string; setupUrl: string }
type Options = { language: 'en' | 'de'; out: string; wanted: readonly string[] }

export type Scene = (stage: Stage) => Promise<void>
export type Stage = {
  language: 'en' | 'de'
  words: Words
  /** The page of the scene. */
  page: Page
  isWanted(name: string): boolean
  /** Every scene has a page of its own; one that fails does not stop the others. */
  play(name: string, scene: Scene): Promise<void>
  close(): Promise<void>
  /** The API, with the key of the demo. */
  call<Body>(method: string, path: string, body?: object): Promise<Body>
  create(body?: object): Promise<Created>
  /** Answers with the sandbox wallet, in a page of its own. */
  answer(walletUri: string, persona?: PersonaId): Promise<void>
  verify(persona: PersonaId, body?: object): Promise<Created>
  /** A page whose user is logged in as the owner. */
  asOwner(path: string): Promise<Page>
  /** Waits until a view of the dashboard has its data. */
  settle(page: Page): Promise<void>
  /** Three sizes, both themes. */
  shoot(name: string, page?: Page): Promise<void>
}

type Created = Verification & { wallet_uri: string }

export async function openStage(browser: Browser, demo: Demo, { language, out, wanted }: Options): Promise<Stage> {
  const { origin, key } = demo
  const words = WORDS[language]
  const contexts: BrowserContext[] = []
  let owner: BrowserContext | undefined

  const newContext = async () => {
    const locale = { en: 'en-GB', de: 'de-DE' }[language]
    const context = await browser.newContext({ baseURL: origin, locale, reducedMotion: 'reduce', serviceWorkers: 'block' })
    contexts.push(context)
    return context
  }

  async function call<Body>(method: string, path: string, body?: object): Promise<Body> {
    const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const response = await fetch(`${origin}${path}`, { method, headers, body: body && JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Body
  }

  const stage: Stage = {
    language,
    words,
    page: undefined as unknown as Page,
    call,

    isWanted: name => wanted.length === 0 || wanted.some(word => name.includes(word)),

    async play(name, scene) {
      stage.page = await (await newContext()).newPage()
      await scene(stage).catch((error: unknown) => console.error(`${name} (${language}): ${error}`))
      await Promise.all(contexts.splice(0).map(context => context !== owner && context.close()))
    },

    async close() {
      await owner?.close()
    },

    create: (body = { template: 'age_over_18' }) => call<Created>('POST', '/v1/verifications', body),

    async answer(walletUri, persona = 'adult') {
      const page = await (await newContext()).newPage()
      await page.goto(`/sandbox#${new URLSearchParams({ wallet_uri: walletUri, persona })}`)
      const { share, decline } = words.sandbox
      await page.getByRole('button', { name: persona === 'declines' ? decline : share, exact: true }).click()
      await page.getByRole('button', { name: words.sandbox.toDocuments }).waitFor()
      await page.context().close()
    },

    async verify(persona, body) {
      const made = await stage.create(body)
      await stage.answer(made.wallet_uri, persona)
      return made
    },

    async asOwner(path) {
      owner ??= await logIn()
      const page = owner.pages()[0] ?? (await owner.newPage())
      await page.goto(path)
      await stage.settle(page)
      return page
    },

    async settle(page) {
      await page.locator('h1').first().waitFor({ state: 'attached' })
      await page.locator('.loading-place').first().waitFor({ state: 'detached' })
      await page.waitForLoadState('networkidle')
    },

    async shoot(name, page = stage.page) {
      for (const size of SIZES) {
        await page.setViewportSize(size)
        for (const colorScheme of THEMES) {
          await page.emulateMedia({ colorScheme })
          // The till has a switch of its own.
          await page.evaluate(theme => {
            const { dataset } = document.documentElement
            if (dataset.theme) dataset.theme = theme
          }, colorScheme)
          const tall = await page.evaluate(() => document.documentElement.scrollHeight)
          const file = join(out, `${name}.${language}.${size.width}.${colorScheme}.png`)
          await page.screenshot({ path: file, fullPage: tall <= HEIGHT_MAX, animations: 'disabled' })
        }
      }
      console.log(`${name} (${language})`)
    },
  }

  async function logIn(): Promise<BrowserContext> {
    const context = await newContext()
    const page = await context.newPage()
    const { dashboard, entrance } = words
    const fill = async (button: string) => {
      await page.getByLabel(entrance.name, { exact: true }).fill('olivia')
      await page.locator('input[type=password]').fill(PASSWORD)
      await page.getByRole('button', { name: button, exact: true }).click()
      await page.getByRole('button', { name: dashboard.logOut }).first().waitFor({ state: 'attached' })
    }
    const { needs_setup } = (await (await fetch(`${origin}/dashboard/api/entrance`)).json()) as { needs_setup: boolean }
    await page.goto(needs_setup ? demo.setupUrl : '/dashboard')
    await fill(needs_setup ? entrance.setupDo : entrance.login)
    return context
  }

  return stage
}
