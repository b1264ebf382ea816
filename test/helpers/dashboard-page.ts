import type { BrowserContextOptions } from 'playwright-core'
import type { Session } from '../../src/people/schema.ts'
import { openSetup } from '../../src/people/setup.ts'
import { startApp, type TestApp } from './app.ts'
import type { OpenPage, WatchedPage } from './browser.ts'
import { openBrowser, PASSWORD, tokenOf } from './dashboard.ts'

export const OWNER = 'olivia'

/** The app where a browser can open it, with a clock that agrees with the browser's. */
export const startForBrowser = async (options: Parameters<typeof startApp>[0] = {}) =>
  startApp({ now: Date.now(), ...options, config: { publicUrl: '', ...options.config } })

type Entered = { page: WatchedPage; browser: ReturnType<typeof openBrowser>; session: Session }

/** A page whose user is logged in: the owner, set up on the way, unless somebody else is given. */
export async function enter(
  app: TestApp,
  openPage: OpenPage,
  path = '/dashboard',
  options?: BrowserContextOptions,
): Promise<Entered> {
  const { origin } = new URL(app.deps.config.publicUrl)
  const browser = openBrowser(app, { origin })
  const setUp = await browser.post<Session>('/setup', {
    token: tokenOf(await openSetup(app.deps)),
    name: OWNER,
    password: PASSWORD,
  })
  if (setUp.status !== 201) throw new Error(`not set up: ${setUp.status} ${setUp.text}`)
  const page = await openPage(origin, options)
  await takeCookie(page, origin, browser.state.cookie)
  await page.goto(path)
  return { page, browser, session: setUp.body }
}

export async function takeCookie(page: WatchedPage, url: string, cookie = ''): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  await page.context().addCookies([{ name, value, url }])
}
