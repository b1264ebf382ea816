import { afterAll, beforeAll, beforeEach } from 'bun:test'
import type { BrowserContextOptions } from 'playwright-core'
import type { Session } from '../../src/people/schema.ts'
import { openSetup } from '../../src/people/users/setup.ts'
import { startApp, type TestApp } from './app.ts'
import type { OpenPage, WatchedPage } from './browser.ts'
import { type Browser, openBrowser, PASSWORD, tokenOf } from './dashboard.ts'

export const OWNER = 'olivia'

type Options = Parameters<typeof startApp>[0]

/** The service of a file, its owner's browser, and the running test's start and first tenant. */
type Shared = { app: TestApp; owner?: Browser; hasOldLogin: boolean; startedAt: number; tenant?: string }

let shared: Shared | undefined

/**
 * Called at the top of a file: one service for all its tests. `enter` opens the first tenant of the
 * running test, so that tests do not see each other's data.
 */
export function shareService(options: Options = {}): void {
  beforeAll(async () => {
    const app = await startForBrowser(options)
    const made: Shared = { app, hasOldLogin: false, startedAt: app.clock.now() }
    const tenant = async (settings?: Parameters<TestApp['tenant']>[0]) => {
      const result = await app.tenant(settings)
      made.tenant ??= result.id
      return result
    }
    made.app = { ...app, tenant }
    shared = made
  })
  beforeEach(() => {
    if (!shared) return
    // A log-in from later than now would count as fresh for too long.
    shared.hasOldLogin ||= shared.app.clock.now() !== shared.startedAt
    shared.startedAt = Date.now()
    shared.app.clock.set(shared.startedAt)
    shared.tenant = undefined
  })
  afterAll(async () => {
    await shared?.app.stop()
    shared = undefined
  })
}

/** The service of the file; with options one of its own. Its clock agrees with the browser's. */
export const startForBrowser = async (options?: Options): Promise<TestApp> =>
  options === undefined && shared
    ? shared.app
    : await startApp({ now: Date.now(), ...options, config: { publicUrl: '', ...options?.config } })

type Entered = { page: WatchedPage; browser: Browser; session: Session }

/** A page whose user is logged in as the owner. */
export async function enter(
  app: TestApp,
  openPage: OpenPage,
  path = '/dashboard',
  options?: BrowserContextOptions,
): Promise<Entered> {
  const { origin } = new URL(app.deps.config.publicUrl)
  const { browser, session } = await ownerOf(app, origin)
  const page = await openPage(origin, options)
  await takeCookie(page, origin, browser.state.cookie)
  if (app === shared?.app) stayIn(page, shared.tenant)
  await page.goto(path)
  return { page, browser, session }
}

/** Set up once per file; logged in again after a test that ended the session or moved the clock. */
async function ownerOf(app: TestApp, origin: string): Promise<{ browser: Browser; session: Session }> {
  const known = app === shared?.app ? shared.owner : undefined
  if (!known) return await setUpOwnerAt(app, origin)
  const found = await known.get<Session>('/session')
  if (found.status === 200 && !shared?.hasOldLogin) return { browser: known, session: found.body }
  const loggedIn = await known.logIn(OWNER)
  if (loggedIn.status !== 200) throw new Error(`not logged in: ${loggedIn.status} ${loggedIn.text}`)
  if (shared) shared.hasOldLogin = false
  return { browser: known, session: loggedIn.body }
}

/** More than an hour passes in an open session: every act that needs a fresh log-in asks for one. */
export async function ageLogIn(app: TestApp, browser: Browser): Promise<void> {
  for (const minutes of [29, 29, 3]) {
    app.clock.advance(minutes * 60_000)
    await browser.get('/session')
  }
}

async function setUpOwnerAt(app: TestApp, origin: string): Promise<{ browser: Browser; session: Session }> {
  const browser = openBrowser(app, { origin })
  const setUp = await browser.post<Session>('/setup', {
    token: tokenOf(await openSetup(app.deps)),
    name: OWNER,
    password: PASSWORD,
  })
  if (setUp.status !== 201) throw new Error(`not set up: ${setUp.status} ${setUp.text}`)
  if (app === shared?.app) shared.owner = browser
  return { browser, session: setUp.body }
}

/** Adds the tenant to every address of the dashboard that a test opens without one. */
function stayIn(page: WatchedPage, tenant: string | undefined): void {
  const goto = page.goto.bind(page)
  page.goto = async (path, options) => {
    const isOpen = tenant === undefined || !path.startsWith('/dashboard') || path.includes('tenant=')
    return await goto(isOpen ? path : `${path}${path.includes('?') ? '&' : '?'}tenant=${tenant}`, options)
  }
}

export async function takeCookie(page: WatchedPage, url: string, cookie = ''): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  await page.context().addCookies([{ name, value, url }])
}
