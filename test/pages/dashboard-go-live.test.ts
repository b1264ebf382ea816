// The way to the first live verification.
import { afterAll, expect } from 'bun:test'
import { goLive } from '../../src/db/schema/tenants.ts'
import { inviteUser } from '../../src/people/users/users.ts'
import { addRegistration } from '../../src/signing/registrations.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { chooseDocuments } from '../../src/tenants/go-live.ts'
import { addAnchors } from '../../src/trust/settings.ts'
import { newRegistrar } from '../helpers/access.ts'
import { cleanUp } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { DAY_MS, issueAuthority } from '../helpers/certificates.ts'
import { openBrowser, PASSWORD, tokenOf } from '../helpers/dashboard.ts'
import { enter, shareService, startForBrowser, takeCookie } from '../helpers/dashboard-page.ts'

afterAll(cleanUp)
shareService({ resolve: async () => ['127.0.0.1'] })

const pemOf = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`

browserTest('the overview leads to the question, and the steps follow from the answer and from facts', async openPage => {
  const app = await startForBrowser()
  await app.tenant({ name: 'Wine bar' })
  const { page } = await enter(app, openPage, '/dashboard')
  await page.getByRole('heading', { name: 'First steps' }).waitFor()
  await shoot(page, 'dashboard-not-live')
  await page.getByRole('navigation', { name: 'Main menu' }).getByRole('link', { name: 'Go live' }).click()
  await page.getByRole('heading', { name: 'Where is your shop, and what must customers prove?' }).waitFor()
  await page.getByText('The Swiss wallet swiyu cannot be connected today').waitFor()
  expect(await page.getByRole('button', { name: 'Show the steps' }).isDisabled()).toBe(true)
  await expectAccessible(page)
  await shoot(page, 'dashboard-go-live-question')
  // By keyboard.
  await page.getByLabel('EU age app').focus()
  await page.keyboard.press('Space')
  await page.getByLabel('US driving licence').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  const steps = page.getByRole('list', { name: 'Steps to go live' }).locator(':scope > li')
  await steps.first().waitFor()
  expect(await steps.count()).toBe(9)
  await page.getByText('1 of 9 steps are done.').waitFor()
  await page.getByText('EU age app · US driving licence').waitFor()
  const address = steps.first()
  expect(await address.getAttribute('aria-current')).toBe('step')
  await address.getByText('To do', { exact: true }).waitFor()
  const issuers = steps.filter({ hasText: 'Issuers in Live' })
  await issuers.locator('summary').click()
  await issuers.getByText('You trust no issuer yet for: EU age app and US driving licence.').waitFor()
  await issuers.getByText('AAMVA, the motor vehicle administrators’ association').waitFor()
  await issuers.getByText('As read in November 2026.').waitFor()
  await page.getByText('Or on the command line').click()
  await page.getByText('vidimus trust source add --preset eu-av --env live').waitFor()
  await expectAccessible(page)
  await shoot(page, 'dashboard-go-live')
  // The button opens the right list, and the way back is on the page.
  await issuers.getByRole('link', { name: 'Add issuers in Live' }).click()
  await page
    .getByRole('dialog')
    .getByRole('radio', { name: /^EU age verification/, checked: true })
    .waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Back to Go live' }).click()
  // Asked once: thirty days are proposed.
  const retention = steps.filter({ hasText: 'How long do you keep results?' })
  await retention.locator('summary').click()
  await retention.getByRole('button', { name: 'Keep 30 days' }).click()
  await page.getByText('2 of 9 steps are done.').waitFor()
  await retention.getByText('Results are erased 30 days after they end.').waitFor()
  const { der } = await issueAuthority({ notAfter: app.clock.now() + 300 * DAY_MS })
  await addAnchors(app.deps, { pem: pemOf(der), environment: 'live', label: 'Utopia' }, 'test')
  await page.reload()
  await issuers.locator('summary').click()
  await issuers.getByText('You trust issuers for: EU age app and US driving licence.').waitFor()
  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByLabel('US driving licence').uncheck()
  await page.getByRole('button', { name: 'Show the steps' }).click()
  await page.getByText('A certificate that wallets trust: The EU age app asks shops for no certificate.').waitFor()
  await issuers.getByRole('link', { name: 'See the issuers in Live' }).click()
  await page.getByRole('heading', { name: 'Utopia' }).waitFor()
  expect(new URL(page.url()).searchParams.get('environment')).toBe('live')
  const firstLiveAt = app.clock.now()
  await app.deps.writeSettings(async tx => void (await tx.update(goLive).set({ firstLiveAt })))
  await page.goto('/dashboard')
  await page.getByRole('heading', { name: 'Latest verifications' }).waitFor()
  expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Go live' }).count()).toBe(0)
  expect(page.complaints).toEqual([])
})

browserTest('the page is in German, fits a phone, and shows a member who does what only owners may', async openPage => {
  const app = await startForBrowser()
  const { id } = await app.tenant({ name: 'Weinhandlung' })
  await chooseDocuments(app.deps, id, ['eu_age', 'eu_wallet', 'us_licence', 'other'], 'test')
  const claims = [{ path: ['age_equal_or_over', '18'] }]
  const query = { credentials: [{ id: 'pid', format: 'dc+sd-jwt' as const, meta: { vct_values: ['urn:eudi:pid:1'] }, claims }] }
  const wine = { tenantId: id, key: 'wine_from_18', title: 'Wein', query, purpose: 'Weil wir Wein verkaufen' }
  await saveTemplate(app.deps, wine, 'test')
  await addRegistration(app.deps, { text: await (await newRegistrar(app))(), owner: null, templates: [] }, 'test')
  const { origin } = new URL(app.deps.config.publicUrl)
  const { url } = await inviteUser(app.deps, { name: 'mo', memberOf: id }, 'test')
  const member = openBrowser(app, { origin })
  await member.post('/choose-password', { token: tokenOf(url), password: PASSWORD })
  const page = await openPage(origin, { viewport: { width: 390, height: 844 }, locale: 'de-DE' })
  await takeCookie(page, origin, member.state.cookie)
  await page.goto('/dashboard/go-live')
  await page.getByRole('heading', { name: 'Live gehen' }).waitFor()
  await page.locator('.steps details').first().waitFor()
  await page.locator('.steps details').evaluateAll(lines => {
    for (const line of lines) line.setAttribute('open', '')
  })
  const identity = page.locator('.steps > li', { hasText: 'Ein Zertifikat, dem Wallets vertrauen' })
  await identity.getByText('Das macht ein Inhaber dieser Installation.').waitFor()
  expect(await identity.getByRole('link', { name: 'Zertifikat besorgen' }).count()).toBe(0)
  const purposes = page.getByRole('table', { name: 'Zwecke der Vorlagen' })
  await purposes.getByRole('row', { name: /wine_from_18.*Weil wir Wein verkaufen.*To check your age/ }).waitFor()
  const isFitting = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
  expect(await isFitting()).toBe(true)
  await page.locator('.commands > summary').click()
  await page.locator('.commands code', { hasText: 'curl' }).first().waitFor()
  expect(await isFitting()).toBe(true)
  await expectAccessible(page)
  await shoot(page, 'dashboard-de-go-live')
  await page.getByRole('button', { name: 'Ändern' }).click()
  await page.getByText('Die Schweizer Wallet swiyu').waitFor()
  await shoot(page, 'dashboard-de-go-live-question')
  expect(page.complaints).toEqual([])
})
