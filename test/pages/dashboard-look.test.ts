// All views: small screens, large type, German, a path prefix, an unreachable service.
import { afterAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { cleanUp, createVerification, type TestApp } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { enter, shareService, startForBrowser } from '../helpers/dashboard-page.ts'
import { pair, register } from '../helpers/devices.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)
shareService()

const PHONE = { width: 390, height: 844 }
const TABLET = { width: 1024, height: 768 }
/** 1440 x 900 at 200 %, and the smallest laptop at 400 % (WCAG 1.4.10). */
const ZOOMED = [
  { width: 720, height: 450 },
  { width: 320, height: 256 },
]

/** Lists with a sentence in a column fit as narrow as a tablet, and where the columns have their usual room again. */
const SIZES = [
  { size: PHONE, hasWholeLists: false },
  ...ZOOMED.map(size => ({ size, hasWholeLists: false })),
  { size: { ...TABLET, width: 1100 }, hasWholeLists: true },
  { size: TABLET, hasWholeLists: true },
]

const LONG = 'Weinhandlung Müller, Töchter & Enkelinnen am Donaudampfschifffahrtskapitänsplatz'

/** A row with something long in every column. */
async function declineAtTill(app: TestApp, key: string): Promise<void> {
  const { access_token: till } = await pair(app, key, { name: 'Kasse im Hinterzimmer neben der Treppe' })
  await verifyWith(app, till, 'declines', { body: { metadata: { order: 'Bestellung 2026-11-18/0000117' } } })
}

async function fill(app: TestApp, name = LONG) {
  const shop = await app.tenant({ name })
  await declineAtTill(app, shop.key)
  await pair(app, shop.key, { name: 'Till 1', allowed_templates: [...BUILTIN_TEMPLATES.keys()].slice(0, 8) })
  const { verification: done } = await verifyWith(app, shop.key, 'adult', { body: { template: 'pid_mandatory' } })
  const { verification: refused } = await verifyWith(app, shop.key, 'untrusted_issuer', { body: { purpose: 'x'.repeat(300) } })
  return { ...shop, done, refused }
}

const viewsOf = ({ done, refused }: Awaited<ReturnType<typeof fill>>): string[] => [
  '',
  '/verifications',
  `/verifications/${done.id}`,
  `/verifications/${refused.id}`,
  '/keys',
  '/devices',
  '/templates',
  '/templates/pid_mandatory',
  '/template-editor',
  '/webhooks',
  '/trust',
  '/go-live',
  '/audit',
  '/settings',
  '/settings/profile',
  '/settings/people',
  '/settings/installation',
  '/nowhere',
]

const overflowOf = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** Pixels by which elements are narrower than what they hold. */
const beyondOf = (elements: Element[]) => elements.map(each => each.scrollWidth - each.clientWidth).filter(px => px > 0)

/** Waits until nothing is loading. */
async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await page.locator('.loading-place').first().waitFor({ state: 'detached' })
}

browserTest(
  'no view overflows on a phone, a tablet or at 200 and 400 %, in German; a tablet shows all columns',
  async openPage => {
    const app = await startForBrowser()
    const shop = await fill(app)
    const { page } = await enter(app, openPage, '/dashboard', { locale: 'de-DE', viewport: PHONE })
    const wide: string[] = []
    const hidden: string[] = []
    for (const [i, view] of viewsOf(shop).entries()) {
      if (i > 0) {
        await page.setViewportSize(PHONE)
        await page.goto(`/dashboard${view}`)
      }
      await settled(page)
      const frames = page.locator('.split:not(.open) .table-frame:has(.whole)')
      // A tablet is the last size: the columns are looked at there.
      for (const { size, hasWholeLists } of SIZES) {
        if (size !== PHONE) await page.setViewportSize(size)
        const overflow = await overflowOf(page)
        if (overflow > 0) wide.push(`${view} at ${size.width}: ${overflow}`)
        const beyond = hasWholeLists ? await frames.evaluateAll(beyondOf) : []
        wide.push(...beyond.map(each => `list of ${view} at ${size.width}: ${each}`))
      }
      // A panel beside the list takes half of the room.
      const columns = page.locator('.split:not(.open) .table th:not(details:not([open]) *), .page > .table-frame th')
      hidden.push(...(await columns.filter({ visible: false }).allTextContents()).map(title => `${view}: ${title}`))
      const sentences = page.locator('.split:not(.open) .grows:has(> .whole)')
      hidden.push(
        ...(await sentences.evaluateAll(all =>
          all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.textContent),
        )),
      )
    }
    expect(wide).toEqual([])
    expect(hidden).toEqual([])
    expect(page.complaints).toEqual([])
  },
)

browserTest(
  'names and values do not touch on a phone in German, words are not broken, tabs scroll in one row',
  async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant({ name: 'Weinhandlung' })
    const { verification } = await verifyWith(app, key, 'adult', { body: { template: 'driving_licence' } })
    const { verification: person } = await verifyWith(app, key, 'adult', { body: { template: 'pid_mandatory' } })
    const { verification: age } = await verifyWith(app, key, 'adult', { body: { template: 'eu_av_age_18' } })
    const { page } = await enter(app, openPage, `/dashboard/verifications/${verification.id}`, {
      locale: 'de-DE',
      viewport: PHONE,
    })
    await page.getByText('Ausweisnummer').waitFor()
    const touching = () =>
      page.locator('.claims .facts > div').evaluateAll(facts =>
        facts
          .filter(fact => {
            const name = document.createRange()
            name.selectNodeContents(fact.querySelector('dt')!)
            const isBroken = !/\s/.test(name.toString()) && name.getClientRects().length > 1
            return isBroken || fact.querySelector('dd')!.getBoundingClientRect().left - name.getBoundingClientRect().right < 12
          })
          .map(fact => fact.textContent),
      )
    expect(await touching()).toEqual([])
    await shoot(page, 'dashboard-de-driving-licence')
    await page.goto(`/dashboard/verifications/${person.id}`)
    await page.getByText('Staatsangehörigkeit').waitFor()
    await page.setViewportSize({ width: 360, height: 640 })
    expect(await touching()).toEqual([])
    await page.setViewportSize(PHONE)
    await page.goto(`/dashboard/verifications/${age.id}`)
    const title = page.locator('.credential h4')
    await title.getByText('EU-Altersnachweis').waitFor()
    const lineHeight = await title.evaluate(element => Number.parseFloat(getComputedStyle(element).lineHeight))
    expect((await title.boundingBox())?.height).toBeLessThan(lineHeight * 1.5)
    await shoot(page, 'dashboard-de-age')
    await page.goto('/dashboard/settings')
    await page.getByRole('heading', { name: 'Geschäft', level: 1 }).waitFor()
    await shoot(page, 'dashboard-de-settings')
  },
)

browserTest('the main views in a German browser are completely in German', async openPage => {
  const app = await startForBrowser()
  const shop = await fill(app, 'Weinhandlung')
  const { page } = await enter(app, openPage, '/dashboard', { locale: 'de-DE' })
  await page.getByRole('heading', { name: 'Überblick' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('de')
  await settled(page)
  await shoot(page, 'dashboard-de-overview')
  await page.goto(`/dashboard/verifications/${shop.refused.id}`)
  await page.locator('.panel').getByText('Der Ausweis ist lesbar, aber sein Aussteller steht nicht auf Ihrer Liste.').waitFor()
  await shoot(page, 'dashboard-de-refused')
  const { query } = BUILTIN_TEMPLATES.get('age_over_18')!
  await saveTemplate(app.deps, { tenantId: shop.id, key: 'own', title: 'Eigene', query }, 'command line')
  await page.goto('/dashboard/audit')
  await page.getByRole('cell', { name: 'Befehlszeile', exact: true }).waitFor()
  expect(await page.getByText('command line').count()).toBe(0)
  await shoot(page, 'dashboard-de-audit')
  await page.goto('/dashboard/keys')
  await page.getByRole('button', { name: 'Schlüssel anlegen' }).click()
  await page.getByRole('dialog').getByText('Prüfungen löschen').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Abbrechen' }).click()
  await page.getByRole('button', { name: 'English' }).click()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  expect(page.complaints).toEqual([])
})

browserTest('the menu opens and closes on a phone, and a detail is a page with a back button', async openPage => {
  const app = await startForBrowser()
  const { done } = await fill(app, 'Wine bar')
  const { page } = await enter(app, openPage, '/dashboard', { viewport: PHONE, hasTouch: true, isMobile: true })
  const menu = page.getByRole('button', { name: 'Menu' })
  await menu.waitFor()
  expect(await page.getByRole('navigation', { name: 'Main menu' }).count()).toBe(0)
  await menu.tap()
  await page.getByRole('navigation', { name: 'Main menu' }).waitFor()
  expect((await page.locator('.rail').boundingBox())?.height).toBeGreaterThan(780)
  await expectAccessible(page)
  if (process.env.SCREENSHOTS === '1') await page.screenshot({ path: 'screenshots/dashboard-menu-390x844.png' })
  await page.getByRole('link', { name: 'Verifications', exact: true }).tap()
  await page.getByRole('heading', { name: 'Verifications' }).waitFor()
  expect(await page.getByRole('navigation', { name: 'Main menu' }).count()).toBe(0)
  await page.getByRole('link', { name: /Full identity/ }).tap()
  await page.locator('.panel').getByText('Everything you asked for was shown, and is genuine.').waitFor()
  expect(page.url()).toContain(done.id)
  expect(await page.getByRole('table').count()).toBe(0)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Back' }).tap()
  await page.getByRole('table').waitFor()
  expect(await page.locator('.panel').count()).toBe(0)
  await page.locator('a.row-button:focus', { hasText: 'Full identity' }).waitFor()
  expect(page.complaints).toEqual([])
})

browserTest('the page works under the path that the service is published at', async openPage => {
  const proxy = startProxy()
  const app = await startForBrowser({ config: { publicUrl: `${proxy.origin}/check` } })
  proxy.lead(app.url)
  await app.tenant({ name: 'Wine bar' })
  const { page } = await enter(app, openPage, '/check/dashboard/templates/age_over_18')
  await page.locator('.panel').getByRole('heading', { name: 'Age 18 or over' }).waitFor()
  await page.locator('.rail summary', { hasText: 'Developers' }).click()
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByText(`${proxy.origin}/check/v1/verifications`).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'I have copied it' }).click()
  const icon = await page.locator('link[rel=icon]').evaluate(link => (link as HTMLLinkElement).href)
  expect(icon).toStartWith(`${proxy.origin}/check/assets/`)
  await page.reload()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  expect(proxy.strayed()).toEqual([])
  expect(page.complaints).toEqual([])
  proxy.stop()
})

browserTest('the chosen environment is still marked with the few colours of a high contrast mode', async openPage => {
  const app = await startForBrowser()
  await app.tenant()
  const { page } = await enter(app, openPage, '/dashboard/settings/security', { forcedColors: 'active' })
  await page.getByRole('heading', { name: 'You', level: 1 }).waitFor()
  const lookOf = (element: Locator) =>
    element.evaluate(each => {
      const { backgroundColor, borderBottomColor } = getComputedStyle(each)
      return { backgroundColor, borderBottomColor }
    })
  const environment = (name: string) => page.locator('.environment label', { hasText: name }).locator('span')
  expect(await lookOf(environment('Test'))).not.toEqual(await lookOf(environment('Live')))
})

browserTest('a dialog shows a long name without spaces whole', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant()
  await register(app, key, { name: 'ö'.repeat(64) })
  const { page } = await enter(app, openPage, '/dashboard/devices')
  await page.getByRole('button', { name: 'Revoke' }).click()
  const { right, edge } = await page.getByRole('dialog').evaluate(dialog => {
    const range = document.createRange()
    range.selectNodeContents(dialog.querySelector('h2')!)
    return { right: range.getBoundingClientRect().right, edge: dialog.getBoundingClientRect().right }
  })
  expect(right).toBeLessThan(edge)
})

/** Lines of an element that has a text only. */
const linesOf = (element: Element): number =>
  Math.round(element.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(element).lineHeight))

browserTest('an order number of nine characters stays on one line, on laptops and tablets', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant({ name: 'Weinhandlung' })
  await verifyWith(app, key, 'untrusted_issuer', { body: { metadata: { order: '2026-0118' } } })
  const { page } = await enter(app, openPage, '/dashboard/verifications')
  const reference = page.getByRole('cell', { name: '2026-0118', exact: true }).locator('.cut')
  await reference.waitFor()
  for (const width of [1440, 1280, 1100, 1024]) {
    await page.setViewportSize({ width, height: 800 })
    expect([width, await reference.evaluate(linesOf)]).toEqual([width, 1])
  }
})

browserTest('no table on a laptop is wider than its frame, in either language', async openPage => {
  const app = await startForBrowser()
  const { id, key } = await app.tenant({ name: 'Weinhandlung' })
  await declineAtTill(app, key)
  const wide: string[] = []
  for (const locale of ['en-GB', 'de-DE']) {
    const { page, browser } = await enter(app, openPage, '/dashboard/keys', { locale })
    if (locale === 'en-GB') await browser.post('/users', { name: 'victor', tenant: id, role: 'viewer' })
    for (const view of ['keys', 'verifications', 'settings/people', 'settings/security']) {
      if (view !== 'keys') await page.goto(`/dashboard/${view}`)
      await page.locator('.table').first().waitFor()
      await settled(page)
      for (const width of [1680, 1440, 1366, 1280, 1180, 1100]) {
        await page.setViewportSize({ width, height: 800 })
        const beyond = await page.locator('.table-frame').evaluateAll(beyondOf)
        if (beyond.length + (await overflowOf(page)) > 0) wide.push(`${locale} ${view} at ${width}: ${beyond}`)
      }
    }
  }
  expect(wide).toEqual([])
})

browserTest('a panel at the end of a long page leaves the switch of the environment free', async openPage => {
  const app = await startForBrowser()
  await app.tenant()
  const { page } = await enter(app, openPage, '/dashboard/templates', { viewport: { width: 1280, height: 800 } })
  const last = page.locator('.list a.row-button:visible').last()
  await last.scrollIntoViewIfNeeded()
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  await last.click()
  await page.locator('.panel').waitFor()
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  const [bar, panel] = [await page.locator('.top-bar').boundingBox(), await page.locator('.panel').boundingBox()]
  expect(panel!.y).toBeGreaterThanOrEqual(bar!.y + bar!.height)
})

browserTest('the window of an opened row is titled by it, and by the list again when it closes', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant()
  const { id } = await createVerification(app, key, { template: 'age_over_21' })
  const { page } = await enter(app, openPage, `/dashboard/verifications/${id}`)
  const titled = (title: string) => page.waitForFunction(wanted => document.title === wanted, title)
  await titled('Age 21 or over · Verifications · Vidimus')
  await page.locator('.panel').press('Escape')
  await titled('Verifications · Vidimus')
  await page.goto('/dashboard/templates')
  await page.getByRole('link', { name: 'Age 18 or over', exact: true }).click()
  await titled('Age 18 or over · Templates · Vidimus')
})

browserTest('links and rows that stand alone are targets of at least 24 px', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant()
  const { id } = await createVerification(app, key)
  const { page } = await enter(app, openPage, '/dashboard/audit')
  const small: string[] = []
  const measure = async (...targets: Locator[]) => {
    for (const target of targets) {
      await target.waitFor()
      const { height } = (await target.boundingBox())!
      if (height < 24) small.push(`${await target.textContent()}: ${height}`)
    }
  }
  await measure(page.locator('.record > summary').first())
  await page.route('**/overview?*', async route => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), attention: [] } })
  })
  await page.goto('/dashboard')
  await measure(page.getByRole('link', { name: 'Health of the installation' }))
  await page.goto(`/v/${id}`)
  await page.getByText('No wallet yet?').click()
  await measure(
    page.getByRole('link', { name: 'Answer with the sandbox wallet' }),
    page.getByRole('button', { name: "Simulate the browser's wallet" }),
    page.getByRole('link', { name: 'About the EU Digital Identity Wallet' }),
  )
  expect(small).toEqual([])
})

browserTest('each page of the settings has a title of its own', async openPage => {
  const app = await startForBrowser()
  await app.tenant()
  const { page } = await enter(app, openPage, '/dashboard/settings/health')
  await page.getByRole('link', { name: 'Health', exact: true }).and(page.locator('[aria-current=page]')).waitFor()
  expect(await page.title()).toBe('Health · Vidimus')
  await page.getByRole('link', { name: 'You', exact: true }).click()
  await page.waitForFunction(() => document.title === 'You · Vidimus')
})

browserTest('the page says when the service is unreachable, and recovers by itself', async openPage => {
  const app = await startForBrowser()
  await app.tenant()
  const { page } = await enter(app, openPage)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.route('**/dashboard/api/**', route => route.abort())
  await page.getByRole('link', { name: 'Tills' }).click()
  await page.getByText('The service does not answer.').waitFor()
  await expectAccessible(page)
  await page.unroute('**/dashboard/api/**')
  await page.getByRole('heading', { name: 'No tills in Test yet' }).waitFor()
  expect(await page.getByText('The service does not answer.').count()).toBe(0)
})

test('unknown paths get no page, and API routes of the dashboard never answer with one', async () => {
  const app = await startForBrowser()
  const unknown = await app.call('GET', '/dashboard/api/nosuch')
  expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, expect.stringContaining('application/json')])
  expect((await app.call('GET', '/dashboard/verifications/vs_1/more')).status).toBe(404)
  const page = await app.call('GET', '/dashboard/verifications/vs_1')
  expect(page.status).toBe(200)
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
})

/** A proxy in front of the service, at the path /check. */
function startProxy() {
  const strayed: string[] = []
  let target = ''
  const server = Bun.serve({
    port: 0,
    idleTimeout: 30,
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith('/check/')) {
        strayed.push(pathname)
        return new Response(null, { status: 404 })
      }
      const { method, headers, body, signal } = request
      return fetch(`${target}${pathname.slice('/check'.length)}${search}`, { method, headers, body, signal })
    },
  })
  return {
    origin: `http://localhost:${server.port}`,
    lead: (url: string) => {
      target = url
    },
    strayed: () => strayed,
    stop: () => void server.stop(true),
  }
}
