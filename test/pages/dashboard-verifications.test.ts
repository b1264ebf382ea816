// The overview, the list of verifications, and their details.
import { afterAll, describe, expect } from 'bun:test'
import type { Page, Route } from 'playwright-core'
import { saveTemplate } from '../../src/templates/save.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepHeld } from '../../src/verifications/end/release.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, type TestApp, until } from '../helpers/app.ts'
import { browserTest, expectAccessible, NO_PLACE, shoot } from '../helpers/browser.ts'
import { enter, shareService, startForBrowser } from '../helpers/dashboard-page.ts'
import { pair, register } from '../helpers/devices.ts'
import { encryptedTo, openSession, postTo } from '../helpers/exchange.ts'
import { hasNoRing, isFocused } from '../helpers/focus.ts'
import { pass, readPhone } from '../helpers/in-person.ts'
import { answerWith, fetchOf, holderOf, verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)
shareService()

const panel = (page: Page) => page.locator('.panel')

/** With time between the steps. */
async function verify(app: TestApp, key: string, persona: Parameters<typeof holderOf>[1], body = {}): Promise<Verification> {
  const created = await createVerification(app, key, body)
  app.clock.advance(4200)
  await answerWith(app, await holderOf(app, persona), created.wallet_uri ?? '')
  app.clock.advance(60_000)
  return (await app.call<Verification>('GET', `/v1/verifications/${created.id}`, { key })).body
}

browserTest('the details of a phone that was read in person say how it answered, and the filter finds it', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant({ name: 'Wine bar' })
  const holder = await holderOf(app)
  await createVerification(app, key)
  const { id, answer } = await readPhone({ app, key }, holder, {}, { mutations: { mac: true } })
  expect((await pass({ app, key }, id, answer)).body.status).toBe('completed')
  const { page } = await enter(app, openPage)
  await page.goto('/dashboard/verifications?channel=in_person')
  const table = page.getByRole('table', { name: 'Verifications, newest first' })
  await table.waitFor()
  expect(await table.getByRole('row').count()).toBe(2)
  expect(await page.getByRole('combobox', { name: 'Channel' }).inputValue()).toBe('in_person')
  await page.goto(`/dashboard/verifications/${id}`)
  await panel(page).getByText('The till scanned the code of a phone').waitFor()
  await panel(page)
    .getByText(/^Read in person\. Possession is proven by a MAC, .* 3 more documents were dropped\.$/)
    .waitFor()
  expect(page.complaints).toEqual([])
})

const escaped = (id: string | null) => (id ?? '').replace(/[^\w-]/g, found => `\\${found}`)

describe('the overview', () => {
  browserTest("the overview shows outcomes, reasons, today's quota, problems, and the latest verifications", async openPage => {
    const app = await startForBrowser()
    // The test moves its clock by minutes, which must not cross midnight.
    const now = Math.min(Date.now(), new Date().setUTCHours(23, 50, 0, 0))
    const { key } = await app.tenant({ name: 'Wine bar', dailyQuota: 4 })
    for (const [daysAgo, count] of [
      [12, 3],
      [5, 2],
      [2, 4],
    ] as const) {
      app.clock.set(now - daysAgo * 86_400_000)
      for (let i = 0; i < count; i++) await createVerification(app, key)
    }
    app.clock.set(now)
    await sweepExpired(app.deps)
    await verify(app, key, 'adult')
    await verify(app, key, 'minor')
    await verify(app, key, 'untrusted_issuer')
    const { page } = await enter(app, openPage)
    await page.getByText('Today: 3 of 4 verifications. 1 left until midnight UTC.').waitFor()
    const bars = page.getByRole('list', { name: 'Outcomes per day: 12 in total, 4 on the busiest day.' }).getByRole('link')
    const parts = await bars.last().locator('.part').all()
    const drawn = parts.map(async part => [await part.getAttribute('class'), (await part.boundingBox())!.height])
    expect(await Promise.all(drawn)).toEqual([
      ['part expired', 0],
      ['part declined', 0],
      ['part refused', 69],
      ['part verified', 34.5],
    ])
    // One bar is in the order of Tab, the others are reached by arrows, and each says its numbers where it has the focus.
    await bars.last().focus()
    for (const key of ['ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
    expect(await bars.evaluateAll(all => all.flatMap((bar, i) => (bar.tabIndex === 0 ? [i] : [])))).toEqual([27])
    expect(await bars.locator('.tip').evaluateAll(all => all.map(tip => getComputedStyle(tip).opacity).indexOf('1'))).toBe(27)
    expect(await bars.nth(27).textContent()).toContain('Expired 4')
    const figures = page.locator('.figures')
    for (const [name, figure] of Object.entries({
      Verified: 1,
      Refused: 2,
      Declined: 0,
      Expired: 9,
      'Success rate': '8.3%',
    }))
      expect([name, await figures.locator('div', { hasText: name }).locator('dd').first().textContent()]).toEqual([
        name,
        String(figure),
      ])
    expect(await figures.locator('div', { hasText: 'Median' }).locator('dd').textContent()).toBe('about 4 s')
    const reasons = page.getByRole('table', { name: 'Why verifications were refused' })
    expect(await reasons.getByRole('row').count()).toBe(3)
    expect(await page.getByRole('table', { name: 'By template' }).getByRole('row').last().textContent()).toContain('1212')
    await page.getByText('As a table').click()
    const table = page.getByRole('table', { name: 'The last 30 days' })
    expect(await table.getByRole('row').count()).toBe(31)
    expect(await table.getByRole('row').nth(1).getByRole('cell').allTextContents()).toMatchObject(
      ['1', '2', '0', '0'].toSpliced(0, 0, expect.any(String)),
    )
    expect(await table.getByRole('row').nth(3).getByRole('cell').last().textContent()).toBe('4')
    await page.getByText('As a table').click()
    await page.getByText('No issuers are trusted yet, so every live check will be refused.').waitFor()
    expect(await page.getByRole('table', { name: 'Verifications, newest first' }).getByRole('row').count()).toBe(11)
    await expectAccessible(page)
    await shoot(page, 'dashboard-overview')
    await page.getByRole('combobox', { name: 'Range' }).selectOption('7')
    await page.getByRole('heading', { name: 'The last 7 days' }).waitFor()
    expect(await page.locator('.bars a').count()).toBe(7)
    await page.getByRole('link', { name: 'Add an issuer' }).click()
    await page.getByRole('heading', { name: 'No issuers are trusted yet' }).waitFor()
    expect(await page.getByRole('radio', { name: 'Live' }).isChecked()).toBe(true)
    expect(page.complaints).toEqual([])
  })

  browserTest('the overview of a new shop is a list of first steps, each ticked by what happened', async openPage => {
    const app = await startForBrowser()
    const { id } = await createTenant(app.deps, { name: 'New' }, 'test').then(({ tenant }) => tenant)
    const { page } = await enter(app, openPage)
    await page.goto(`/dashboard?tenant=${id}`)
    const steps = page.getByRole('region', { name: 'First steps' }).getByRole('listitem')
    await steps.first().waitFor()
    const done = () => steps.filter({ hasText: '(done)' }).count()
    expect([await steps.count(), await done(), await page.locator('.chart').count()]).toEqual([5, 0, 0])
    await page.getByRole('link', { name: 'Health of the installation' }).waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-first-steps')
    const key = await app.key(id)
    await verify(app, key, 'adult')
    await page.reload()
    await page.locator('.chart').waitFor()
    expect(await done()).toBe(2)
    await steps.getByRole('link', { name: 'Set the address' }).click()
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
    expect(page.complaints).toEqual([])
  })
})

describe('the list', () => {
  browserTest('the list filters by status and template, loads more, and separates the environments', async openPage => {
    const app = await startForBrowser()
    const { key, liveKey } = await app.tenant()
    const ofLive = await createVerification(app, liveKey, { template: 'country' })
    await verify(app, key, 'minor')
    for (let i = 0; i < 23; i++) await createVerification(app, key, { template: i === 0 ? 'address' : 'age_over_18' })
    const { page } = await enter(app, openPage, '/dashboard/verifications')
    const rows = page.getByRole('table').getByRole('row')
    await page.getByRole('link', { name: 'Age 18 or over' }).first().waitFor()
    expect(await rows.count()).toBe(21)
    await page.getByRole('button', { name: 'Show older ones' }).click()
    await page.getByRole('link', { name: 'Name and address' }).waitFor()
    expect(await rows.count()).toBe(25)
    await page.getByRole('combobox', { name: 'Status' }).selectOption('failed')
    await until(async () => (await rows.count()) === 2)
    await page.getByText('What was asked is not proven.').waitFor()
    await page.getByRole('combobox', { name: 'Template' }).selectOption('address')
    await page.getByText('Nothing matches this filter.').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Show all' }).click()
    await until(async () => (await rows.count()) === 21)
    await page.getByRole('radio', { name: 'Live' }).check()
    await page.getByRole('link', { name: 'Country' }).waitFor()
    expect(page.url()).toContain('environment=live')
    expect(await rows.count()).toBe(2)
    expect(await page.getByText('sandbox documents count').count()).toBe(0)
    await page.getByRole('link', { name: 'Tills' }).click()
    await page.getByRole('heading', { name: 'No tills in Live yet' }).waitFor()
    await app.call('DELETE', `/v1/verifications/${ofLive.id}`, { key: liveKey })
    await page.getByRole('link', { name: 'Verifications' }).click()
    await page.getByRole('heading', { name: 'No verifications in Live yet' }).waitFor()
    await shoot(page, 'dashboard-verifications-live-empty')
    await page.getByRole('link', { name: 'Create a live key' }).click()
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
    expect(page.url()).toContain('environment=live')
    expect(page.complaints).toEqual([])
  })

  browserTest(
    'the list says how many there are, offers new ones, renews what it shows, and has pages of 20 to 100',
    async openPage => {
      const app = await startForBrowser()
      const { key } = await app.tenant()
      const { wallet_uri = '' } = await createVerification(app, key, { metadata: { order: 'first' } })
      for (let i = 0; i < 29; i++) await createVerification(app, key)
      const { page } = await enter(app, openPage)
      await page.clock.install()
      await page.goto('/dashboard/verifications')
      await page.getByText('30 verifications', { exact: true }).waitFor()
      const rows = page.getByRole('table').getByRole('row')
      expect(await rows.count()).toBe(21)
      await page.getByRole('combobox', { name: 'Rows of a page' }).selectOption('50')
      await until(async () => (await rows.count()) === 31)
      await answerWith(app, await holderOf(app), wallet_uri)
      for (let i = 0; i < 2; i++) await createVerification(app, key, { template: 'country' })
      await page.clock.fastForward(10_000)
      await page.getByRole('button', { name: '2 new, show' }).click()
      await until(async () => (await rows.count()) === 33)
      expect(await rows.nth(1).textContent()).toContain('Country')
      await page.getByText('32 verifications', { exact: true }).waitFor()
      await rows.filter({ hasText: 'first' }).getByText('Verified').waitFor()
      expect(await page.getByRole('button', { name: /new, show/ }).count()).toBe(0)
      // Nobody is there any more: the session of the user must be able to end.
      const calls: string[] = []
      page.on('request', request => calls.push(request.url()))
      await page.clock.fastForward(6 * 60_000)
      await page.clock.fastForward(10_000)
      expect(calls.filter(url => url.includes('/verifications?'))).toEqual([])
      await page.mouse.move(10, 10)
      await page.clock.fastForward(10_000)
      await until(async () => calls.some(url => url.includes('/verifications?')))
      await page.setViewportSize({ width: 390, height: 844 })
      const status = page.getByRole('combobox', { name: 'Status' })
      expect(await status.isVisible()).toBe(false)
      await page.getByRole('button', { name: 'Filter' }).click()
      await status.selectOption('completed')
      await page.getByRole('button', { name: 'Filter (1)' }).waitFor()
      await page.getByText('1 verification', { exact: true }).waitFor()
      await expectAccessible(page)
      expect(page.complaints).toEqual([])
    },
  )

  browserTest('Ctrl-K finds verifications, templates, tills, keys and the handbook by keyboard alone', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { id } = await createVerification(app, key, { metadata: { customer: 'Rübsamen', order: 'A-2026-17' } })
    await register(app, key, { name: 'Rübentheke' })
    const { page } = await enter(app, openPage, '/dashboard/keys')
    await page.getByRole('button', { name: 'Search Ctrl K' }).waitFor()
    await page.keyboard.press('Control+k')
    const box = page.getByRole('combobox', { name: /^Search for/ })
    await isFocused(box)
    // The menu of shops has options too.
    const options = page.getByRole('dialog').getByRole('option')
    await page.keyboard.type('rüb')
    await until(async () => (await options.first().textContent())?.startsWith('Rübs') ?? false)
    expect(await options.allTextContents()).toEqual(['Rübsamen · Age 18 or overVerification', 'RübenthekeTill'])
    await page.getByRole('status').filter({ hasText: '2 results' }).waitFor()
    const active = async () =>
      await page.locator(`#${escaped(await box.getAttribute('aria-activedescendant'))}`).getAttribute('aria-selected')
    for (const chosen of [0, 1, 0]) {
      expect([chosen, await options.nth(chosen).getAttribute('aria-selected'), await active()]).toEqual([chosen, 'true', 'true'])
      await page.keyboard.press('ArrowDown')
    }
    await page.keyboard.press('ArrowUp')
    await expectAccessible(page)
    await shoot(page, 'dashboard-search')
    await page.keyboard.press('Enter')
    await panel(page).getByText('A-2026-17').waitFor()
    expect(page.url()).toContain(id)
    for (const [text, hit, place] of [
      ['2026', 'Rübsamen', `/verifications/${id}`],
      ['driving', 'Driving licence', '/templates/'],
      [key.slice(0, 12), 'API key', '/keys'],
      ['rübenth', 'Rübentheke', '/verifications?'],
      ['backup', 'Handbook', '/docs/'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(text)
      await options.first().filter({ hasText: hit }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(url => url.href.includes(place))
    }
    await page.goto('/dashboard')
    await page.getByRole('button', { name: 'Search Ctrl K' }).click()
    await page.keyboard.type('zzzzzz')
    await page.getByText('Nothing found.').waitFor()
    await page.keyboard.press('Escape')
    await isFocused(page.getByRole('button', { name: 'Search Ctrl K' }))
    expect(page.complaints).toEqual([])
  })

  browserTest(
    'a verification is found by its order number, and opening it moves nothing; the list is saved as CSV',
    async openPage => {
      const app = await startForBrowser()
      const { key } = await app.tenant()
      const { access_token } = await pair(app, key, { name: 'Bar' })
      const tilled = await createVerification(app, access_token, { metadata: { table: '12' } })
      for (let i = 0; i < 5; i++) await createVerification(app, key, { metadata: { order: `A-${i}`, cart: 'wine' } })
      const { page } = await enter(app, openPage, '/dashboard/verifications')
      const rows = page.getByRole('table').getByRole('row')
      const ofTill = rows.filter({ hasText: 'Bar' })
      await ofTill.getByText('12', { exact: true }).filter({ visible: true }).waitFor()
      await expectAccessible(page)
      await shoot(page, 'dashboard-list')
      const places = () => rows.evaluateAll(all => all.map(each => JSON.stringify(each.getBoundingClientRect())))
      const before = await places()
      await ofTill.getByRole('link').click()
      await panel(page).getByText('table', { exact: true }).waitFor()
      expect(await places()).toEqual(before)
      await shoot(page, 'dashboard-list-open')
      await page.keyboard.press('Escape')
      const box = page.getByRole('searchbox', { name: 'Search by id or metadata' })
      await box.fill(' A-3 ')
      await box.press('Enter')
      await until(async () => (await rows.count()) === 2)
      await rows.getByText('A-3', { exact: true }).filter({ visible: true }).waitFor()
      await box.fill(tilled.id)
      await page.getByRole('button', { name: 'Search', exact: true }).click()
      await rows.getByText('Bar').filter({ visible: true }).waitFor()
      await box.fill('A-')
      await box.press('Enter')
      await page.getByText('Search finds whole ids and values, and words by their first letters').waitFor()
      await box.fill('')
      await box.press('Enter')
      await until(async () => (await rows.count()) === 7)
      await page.getByRole('combobox', { name: 'Till' }).selectOption('Bar')
      await until(async () => (await rows.count()) === 2)
      await page.getByLabel('To', { exact: true }).fill('2020-01-01')
      await page.getByText('Nothing matches this filter.').waitFor()
      // Days are those of the reader's clock, and the last one counts.
      const today = await page.evaluate(at => new Date(at).toLocaleDateString('sv-SE'), tilled.created_at)
      await page.getByLabel('To', { exact: true }).fill(today)
      await rows.getByText('Bar').filter({ visible: true }).waitFor()
      await page.getByLabel('To', { exact: true }).fill('')
      await rows.getByText('Bar').filter({ visible: true }).waitFor()
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()])
      expect(file.suggestedFilename()).toBe('verifications.csv')
      const text = await Bun.file(await file.path()).text()
      expect(text.trimEnd().split('\r\n').length).toBe(2)
      expect(text).toContain(`${tilled.id},`)
      expect(page.complaints).toEqual([])
    },
  )
})

describe('the detail', () => {
  browserTest('a pending verification can be stopped, is not called refused, and the timeline names the user', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant({ name: 'Wine bar' })
    const { id } = await createVerification(app, key)
    const { page } = await enter(app, openPage)
    await page.goto(`/dashboard/verifications/${id}`)
    await panel(page).getByRole('button', { name: 'Stop this verification' }).click()
    const dialog = page.getByRole('dialog', { name: 'Stop this verification?' })
    await dialog.getByRole('button', { name: 'Stop this verification' }).click()
    await panel(page).getByText('This check was stopped.').waitFor()
    await panel(page)
      .getByText(/^Stopped by /)
      .waitFor()
    expect(await panel(page).getByRole('button', { name: 'Stop this verification' }).count()).toBe(0)
    // The list does not say that somebody was refused, and nothing is red.
    await page.locator('.list').getByText('Stopped', { exact: true }).waitFor({ state: 'attached' })
    expect(await panel(page).locator('.verdict').getAttribute('class')).toContain('neutral')
    expect(page.complaints).toEqual([])
  })

  browserTest('a pending verification is polled when all places for streams are taken', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant({ name: 'Wine bar' })
    const { id, wallet_uri = '' } = await createVerification(app, key)
    const { page } = await enter(app, openPage)
    await page.route('**/events', route => route.fulfill(NO_PLACE))
    const refused = page.waitForResponse('**/events')
    await page.goto(`/dashboard/verifications/${id}`)
    expect((await refused).status()).toBe(429)
    await answerWith(app, await holderOf(app), wallet_uri)
    await panel(page).getByText('18 or over.').waitFor()
  })

  browserTest('a held answer shows no claims and no checks until it is redeemed', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant({ name: 'Wine bar' })
    const created = await createVerification(app, key, { redirect_url: 'https://shop.example/done', release: 'on_redeem' })
    const { redirectUri } = await answerWith(app, await holderOf(app), created.wallet_uri ?? '')
    const { page } = await enter(app, openPage)
    await page.goto(`/dashboard/verifications/${created.id}`)
    await panel(page).getByText('Answered. Waiting for the customer to come back to your shop.').waitFor()
    expect(await panel(page).locator('.verdict .secondary').textContent()).toMatch(/^Answered Answered /)
    expect(await panel(page).locator('.checks').count()).toBe(0)
    expect(await panel(page).getByRole('img', { name: /QR/ }).count()).toBe(0)
    // The deadline no longer counts: the code can be redeemed for ten minutes.
    expect(await panel(page).getByText('Open until').count()).toBe(0)
    const response_code = new URL(redirectUri ?? '').hash.slice('#response_code='.length)
    await app.call('POST', `/v1/verifications/${created.id}/redeem`, { key, body: { response_code } })
    await panel(page).getByText('18 or over.').waitFor()
    expect(await panel(page).locator('.checks').count()).toBe(1)
    expect(page.complaints).toEqual([])
  })

  browserTest('the detail shows claims, issuer, and the timeline to the millisecond', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { id } = await verify(app, key, 'adult', { template: 'photo_id', metadata: { order: '4711' } })
    const { page } = await enter(app, openPage, '/dashboard/verifications')
    await page.getByRole('link', { name: 'Photo ID' }).click()
    await panel(page).getByText('Everything you asked for was shown, and is genuine.').waitFor()
    expect(page.url()).toContain(id)
    await isFocused(panel(page).getByRole('heading', { level: 2 }))
    const claims = panel(page).locator('.claims')
    expect(await claims.getByRole('definition').allTextContents()).toContain('Mustermann')
    const portrait = panel(page).getByRole('img', { name: 'Portrait from the document' })
    expect(await portrait.evaluate(image => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0)
    for (const sentence of ['Signed by its issuer', 'Issuer is on your list', 'Belongs to the holder'])
      await panel(page).getByText(sentence, { exact: true }).waitFor()
    // A note, not a warning.
    expect(await panel(page).getByText('Sandbox document: counts in Test only').count()).toBe(2)
    expect(await panel(page).locator('.credential .badge').getAttribute('class')).toBe('badge neutral')
    expect(await panel(page).locator('.checks li.warning').count()).toBe(0)
    const moments = await panel(page).locator('.timeline > li .what').allTextContents()
    expect(moments).toEqual([
      expect.stringContaining('Created by vk_test_'),
      'A wallet fetched the request',
      'The wallet answered, and everything holds',
      'olivia looked at what was shown',
    ])
    await panel(page).getByText('4.2 s later').waitFor()
    await panel(page).getByText('4711').waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-verification')
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'detached' })
    await page.locator('a.row-button:focus', { hasText: 'Photo ID' }).waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('a refusal shows its reason, and a failed check, worded as a failure, its meaning and remedy', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { id } = await verify(app, key, 'untrusted_issuer')
    const { page } = await enter(app, openPage, `/dashboard/verifications/${id}`)
    await panel(page).getByText('We could read this document, but its issuer is not on your list.').waitFor()
    await panel(page).getByText('issuer_untrusted').waitFor()
    const crossed = panel(page).locator('.checks li.fail')
    expect(await crossed.count()).toBe(1)
    expect(await crossed.locator('summary').textContent()).toBe('Does not hold: The issuer is not on your list.')
    await crossed.getByText('nobody has said that its issuer counts here').waitFor()
    await crossed.getByText('Add the issuer under Trust, or ask for another document.').waitFor()
    expect(await panel(page).locator('.checks li.pass').count()).toBeGreaterThan(4)
    await expectAccessible(page)
    await shoot(page, 'dashboard-refused')
    await panel(page).getByRole('link', { name: 'Add issuer' }).click()
    await page.getByRole('heading', { name: 'Trust', level: 1 }).waitFor()
  })

  browserTest('nothing is green where an age is denied, nor red where the customer declined', async openPage => {
    const app = await startForBrowser()
    const { id: tenantId, key } = await app.tenant()
    const query = {
      credentials: [
        {
          id: 'mdl',
          format: 'mso_mdoc' as const,
          meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
          claims: [{ path: ['org.iso.18013.5.1', 'age_over_18'] }],
        },
      ],
    }
    await saveTemplate(app.deps, { tenantId, key: 'club', title: 'Club', query, rules: [] }, 'olivia')
    const asked = await verify(app, key, 'minor', { template: undefined, query })
    const own = await verify(app, key, 'minor', { template: 'club' })
    const declined = await verify(app, key, 'declines')
    const young = await verify(app, key, 'minor')
    expect([asked.status, own.status]).toEqual(['completed', 'completed'])
    const { page } = await enter(app, openPage, '/dashboard/keys')
    const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/templates', route => isAnswered.then(() => route.continue()))
    await page.goto('/dashboard/verifications')
    const greens = () =>
      page.locator('main *').evaluateAll(all => {
        const ok = document.createElement('span')
        ok.style.color = 'var(--ok)'
        document.body.append(ok)
        const { color } = getComputedStyle(ok)
        ok.remove()
        const isGreen = (element: Element) =>
          [getComputedStyle(element), getComputedStyle(element, '::after')].some(
            style => style.color === color || style.backgroundColor === color || style.borderTopColor === color,
          )
        return all.filter(isGreen).map(element => element.className.toString() || element.tagName)
      })
    // Before the templates are known, and after it.
    for (const title of [/club/, /Club/]) {
      await page.getByRole('link', { name: title }).waitFor()
      expect(await page.locator('td .badge').allTextContents()).toEqual(['Refused', 'Declined', 'Shared', 'Shared'])
      expect(await greens()).toEqual([])
      answer()
    }
    for (const [{ id }, sentence, tone] of [
      [asked, 'Genuine, but an age that you asked about is not reached. Do not accept.', 'neutral'],
      [own, 'Genuine, but an age that you asked about is not reached. Do not accept.', 'neutral'],
      [declined, 'The customer chose not to share.', 'neutral'],
      [young, 'Not proven to be 18 or over.', 'failed'],
    ] as const) {
      await page.goto(`/dashboard/verifications/${id}`)
      await panel(page).getByText(sentence).waitFor()
      await panel(page).locator(`.verdict.${tone}`).waitFor()
      expect(await greens()).toEqual([])
    }
    await expectAccessible(page)
    await shoot(page, 'dashboard-minor')
    await page.goto(`/dashboard/verifications/${asked.id}`)
    await panel(page).locator('.verdict.neutral').waitFor()
    await shoot(page, 'dashboard-age-denied')
    expect(page.complaints).toEqual([])
  })

  browserTest('chart, list, filter and detail say an outcome in the same German word', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    await verify(app, key, 'adult')
    await verify(app, key, 'declines')
    const { id } = await verify(app, key, 'minor')
    const { page } = await enter(app, openPage, '/dashboard', { locale: 'de-DE' })
    const figures = page.locator('.figures > div')
    await figures.first().waitFor()
    const words = ['Bestätigt', 'Abgelehnt', 'Nicht geteilt', 'Abgelaufen']
    expect((await figures.locator('dt').allTextContents()).slice(0, 4)).toEqual(words)
    expect((await figures.locator('dd').allTextContents()).slice(0, 4)).toEqual(['1', '1', '1', '0'])
    await page.goto(`/dashboard/verifications/${id}`)
    await panel(page).locator('.verdict .badge').waitFor()
    expect(await panel(page).locator('.verdict .badge').textContent()).toBe('Abgelehnt')
    expect(await page.locator('td .badge').allTextContents()).toEqual(['Abgelehnt', 'Nicht geteilt', 'Bestätigt'])
    expect(await page.getByRole('combobox', { name: 'Status' }).locator('option').allTextContents()).toEqual([
      'Jeder Status',
      'Wartet, Beantwortet',
      'Bestätigt, Geteilt',
      'Abgelehnt, Nicht geteilt …',
      'Abgelaufen',
    ])
    expect(page.complaints).toEqual([])
  })

  browserTest("a cashier's no to the photo is one outcome in list, detail, timeline and audit log", async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const till = await pair(app, key, { allowed_templates: ['age_over_18_photo'] })
    const { id } = await verify(app, till.access_token, 'adult', { template: 'age_over_18_photo' })
    await app.call('POST', `/v1/verifications/${id}/comparison`, { key: till.access_token, body: { same_person: false } })
    const { page } = await enter(app, openPage, `/dashboard/verifications/${id}`)
    await panel(page).getByText('The customer is not the person on the photo.').waitFor()
    await panel(page).getByText('The photo was compared at Till 1: not the same person').waitFor()
    expect(await panel(page).locator('.verdict.failed').count()).toBe(1)
    const row = page.getByRole('row').filter({ hasText: 'Age 18 or over, with photo' })
    expect(await row.locator('.badge.no').textContent()).toBe('Not the same person')
    const left = await verify(app, till.access_token, 'adult', { template: 'age_over_18_photo' })
    await page.goto('/dashboard/verifications')
    await page.locator('.badge.wait', { hasText: 'Answered' }).waitFor()
    app.clock.advance(120_000)
    await sweepHeld(app.deps)
    await page.goto(`/dashboard/verifications/${left.id}`)
    await panel(page).locator('.timeline li.neutral', { hasText: 'Nobody compared the photo' }).waitFor()
    await verify(app, key, 'adult')
    await page.goto('/dashboard/audit')
    await page.getByRole('row').filter({ hasText: 'Till 1' }).first().waitFor()
    await page.getByRole('row').filter({ hasText: 'Verified' }).filter({ hasText: 'wallet' }).waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest("dates follow the browser's region, and times have 24 hours", async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { id } = await verify(app, key, 'adult', { template: 'driving_licence' })
    const { page } = await enter(app, openPage, `/dashboard/verifications/${id}`, { locale: 'en-GB', timezoneId: 'UTC' })
    const byline = panel(page).locator('.verdict .secondary')
    await byline.waitFor()
    expect(await byline.textContent()).toMatch(/^Verified Checked \d{1,2} \p{L}+ \d{4}, [0-2]\d:\d\d:\d\d · /u)
    const drives = panel(page).locator('.claims dd', { hasText: 'AM,' })
    const [first = '', ...others] = await drives.locator('div').allTextContents()
    expect(first).toMatch(/^AM, from \d{1,2} \p{L}+ \d{4} until \d{1,2} \p{L}+ \d{4}$/u)
    expect(others.length).toBeGreaterThan(0)
    await shoot(page, 'dashboard-driving-licence')
    const american = await enter(app, openPage, `/dashboard/verifications/${id}`, { locale: 'en-US', timezoneId: 'UTC' })
    const there = panel(american.page).locator('.verdict .secondary')
    await there.waitFor()
    expect(await there.textContent()).toMatch(/^Verified Checked \p{L}+ \d{1,2}, \d{4}, [0-2]\d:\d\d:\d\d · /u)
  })

  browserTest('a tampered document is nowhere called good, and an unreadable one is named as such', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { verification } = await verifyWith(app, key, 'tampered_claim')
    const { page } = await enter(app, openPage, `/dashboard/verifications/${verification.id}`)
    const crossed = panel(page).locator('.checks li.fail')
    await crossed.first().waitFor()
    // What is not proven is not matched: the query has no cross of its own.
    expect(await crossed.count()).toBe(1)
    expect(await panel(page).textContent()).not.toMatch(/documents? (is|are) (good|sound)/)
    await shoot(page, 'dashboard-tampered')
    const query = { credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] } }] }
    const unread = await openSession({ app, key }, { query })
    await postTo(unread, await encryptedTo(unread, { state: unread.request.state, vp_token: { pid: ['no document'] } }))
    await page.goto(`/dashboard/verifications/${unread.created.id}`)
    await panel(page).getByRole('heading', { name: 'Document that could not be read', level: 4 }).waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-unread')
  })

  browserTest('an erasure leaves the older rows that were loaded', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    for (let i = 0; i < 27; i++) {
      await createVerification(app, key)
      app.clock.advance(1000)
    }
    const { page } = await enter(app, openPage, '/dashboard/verifications')
    await page.getByRole('button', { name: 'Show older ones' }).click()
    const rows = page.getByRole('table').locator('tbody tr')
    await rows.nth(26).waitFor()
    await rows.nth(26).getByRole('link').click()
    await panel(page).getByRole('button', { name: 'Erase for good' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/To confirm, type/).fill('erase')
    await dialog.getByRole('button', { name: 'Erase for good' }).click()
    await page.getByText('Erased for good.').waitFor()
    await rows.nth(25).waitFor()
    expect(await rows.count()).toBe(26)
  })

  browserTest('erasing needs a word to be typed, and is final', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { id } = await verify(app, key, 'adult')
    const { page } = await enter(app, openPage, '/dashboard/keys')
    // The first list was read before the erasure, and arrives after it.
    const { promise: isErased, resolve: erased } = Promise.withResolvers<void>()
    const hold = async (route: Route) => {
      const response = await route.fetch()
      await isErased
      await route.fulfill({ response })
    }
    await page.route(/\/verifications\?/, hold, { times: 1 })
    await page.goto(`/dashboard/verifications/${id}`)
    await panel(page).getByRole('button', { name: 'Erase for good' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This cannot be undone').waitFor()
    expect(await dialog.getByRole('button', { name: 'Erase for good' }).isDisabled()).toBe(true)
    await expectAccessible(page)
    await shoot(page, 'dashboard-erase')
    await dialog.getByLabel(/To confirm, type/).fill('erase')
    await dialog.getByRole('button', { name: 'Erase for good' }).click()
    await page.getByText('Erased for good.').waitFor()
    erased()
    await page.getByRole('heading', { name: 'No verifications in Test yet' }).waitFor()
    expect((await app.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(404)
    await page.goto(`/dashboard/verifications/${id}`)
    await panel(page).getByText('There is no such verification here.').waitFor()
  })

  browserTest('after erasing, the heading of the list has the focus; after closing, the row', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    await verify(app, key, 'adult', { template: 'photo_id' })
    const erased = [await verify(app, key, 'adult'), await verify(app, key, 'adult')]
    const { page } = await enter(app, openPage, '/dashboard/verifications')
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      const row = page.getByRole('link', { name: 'Photo ID' })
      await row.press('Enter')
      await isFocused(panel(page).getByRole('heading', { level: 2 }))
      await page.keyboard.press('Escape')
      await isFocused(row)
      const { id = '' } = erased.pop() ?? {}
      await page.locator(`.list a[href*="${id}"]`).press('Enter')
      await panel(page).getByRole('button', { name: 'Erase for good' }).press('Enter')
      await page
        .getByRole('dialog')
        .getByLabel(/To confirm, type/)
        .fill('erase')
      await page.keyboard.press('Enter')
      await page.getByText('Erased for good.').waitFor()
      await isFocused(page.getByRole('heading', { name: 'Verifications', level: 1 }))
      await hasNoRing(page)
      await page.keyboard.press('Tab')
      expect(await page.evaluate(() => document.activeElement?.closest('.page') !== null)).toBe(true)
    }
  })

  browserTest('on a phone the filters stay where they are when the list arrives', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    await verify(app, key, 'adult')
    const { page } = await enter(app, openPage, '/dashboard/settings')
    await page.setViewportSize({ width: 390, height: 900 })
    const { promise: isListed, resolve: list } = Promise.withResolvers<void>()
    await page.route(/\/verifications\?environment/, route => isListed.then(() => route.continue()))
    await page.goto('/dashboard/verifications')
    const filters = page.getByRole('searchbox')
    await filters.waitFor()
    const actions = page.getByRole('button', { name: 'Try it' })
    const before = await filters.boundingBox()
    expect(await actions.count()).toBe(0)
    list()
    await actions.waitFor()
    expect(await filters.boundingBox()).toEqual(before)
  })

  browserTest('a verification of another environment or shop is not found', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant({ name: 'Mine' })
    const { id } = await verify(app, key, 'adult')
    const { page } = await enter(app, openPage, `/dashboard/verifications/${id}?environment=live`)
    await panel(page).getByText('There is no such verification here.').waitFor()
    expect(await page.content()).not.toContain('proven')
  })
})

browserTest('a difference that the words of a wallet made is told in the timeline', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant()
  const { id, request_uri } = await createVerification(app, key)
  const wallet_metadata = JSON.stringify({
    vp_formats_supported: { 'dc+sd-jwt': {} },
    client_id_prefixes_supported: ['redirect_uri'],
    request_object_signing_alg_values_supported: ['RS256'],
  })
  await fetchOf(app)(request_uri ?? '', { method: 'POST', body: new URLSearchParams({ wallet_metadata }) })
  const { page } = await enter(app, openPage, `/dashboard/verifications/${id}`)
  await panel(page).getByText('It knows SD-JWT only, and was asked for nothing else.').waitFor()
  const lacks = 'the way you are named (client_id), the signature of the request (ES256)'
  await panel(page).getByText(`It said that it cannot take: ${lacks}.`).waitFor()
  await expectAccessible(page)
  expect(page.complaints).toEqual([])
})

browserTest('Try it creates a test session, follows the wallet, and shows the result', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant()
  await verifyWith(app, key, 'adult')
  const { page } = await enter(app, openPage, '/dashboard/verifications')
  await page.getByRole('button', { name: 'Try it' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Template').selectOption('driving_licence')
  expect(await dialog.getByLabel('Formats').count()).toBe(0)
  await dialog.getByLabel('Template').selectOption('age_over_21')
  await dialog.getByLabel('Formats').selectOption({ label: 'SD-JWT only' })
  await dialog.getByLabel('Purpose').fill('To try it')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Start' }).click()
  await panel(page).getByText('Waiting for the customer.').waitFor()
  await panel(page).getByText('SD-JWT', { exact: true }).waitFor()
  const answer = panel(page).getByRole('link', { name: 'Answer with the sandbox wallet' })
  const href = new URL((await answer.getAttribute('href')) ?? '')
  expect(href.pathname).toBe('/sandbox')
  await panel(page).getByRole('img', { name: 'QR code that opens this verification in a wallet' }).waitFor()
  await page.getByRole('table').getByText('Waiting').waitFor()
  await expectAccessible(page)
  await shoot(page, 'dashboard-try')
  const walletUri = new URLSearchParams(href.hash.slice(1)).get('wallet_uri') ?? ''
  await answerWith(app, await holderOf(app, 'adult'), walletUri)
  await panel(page).getByText('21 or over.').waitFor()
  expect(await panel(page).getByRole('img', { name: /QR/ }).count()).toBe(0)
  expect(await page.getByRole('table').getByText('Waiting').count()).toBe(0)
  expect(page.complaints).toEqual([])
})
