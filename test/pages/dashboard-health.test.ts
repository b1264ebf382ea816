// The health view of the settings.
import { afterAll, describe, expect } from 'bun:test'
import { inviteUser } from '../../src/people/users/users.ts'
import { cleanUp } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { openBrowser, PASSWORD, tokenOf } from '../helpers/dashboard.ts'
import { enter, shareService, startForBrowser, takeCookie } from '../helpers/dashboard-page.ts'

afterAll(cleanUp)

const NEARBY = { resolve: async () => ['127.0.0.1'] }

shareService(NEARBY)

describe('the health of the installation', () => {
  browserTest('the checks run on opening and on request, the worst first', async openPage => {
    // A service of its own: the test changes the free space of its disk.
    const app = await startForBrowser(NEARBY)
    await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/settings')
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByText('1 problem, 3 warnings.').waitFor()
    const items = page.getByRole('list', { name: 'Health' }).getByRole('listitem')
    const fine = page.getByRole('list', { name: 'In order' }).getByRole('listitem')
    const folded = page.getByText(/^\d+ in order$/)
    expect(await fine.first().isVisible()).toBe(false)
    await folded.click()
    expect([(await items.count()) + (await fine.count()), await folded.textContent()]).toEqual([
      23,
      `${await fine.count()} in order`,
    ])
    const first = items.first()
    await first.getByText('Problem', { exact: true }).waitFor()
    await first.getByRole('heading', { name: 'Trusted issuers' }).waitFor()
    // Plain http on localhost is neither in order nor wrong.
    const address = items.filter({ has: page.getByRole('heading', { name: 'Public address', exact: true }) })
    await address.getByText('Not set up', { exact: true }).waitFor()
    expect(await address.locator('.badge').getAttribute('class')).toBe('badge neutral')
    await address.getByText(/a phone cannot reach it/).waitFor()
    await address.getByText(/set VIDIMUS_PUBLIC_URL to it/).waitFor()
    const more = address.getByRole('link', { name: 'More in the handbook: Public address' })
    expect(await more.getAttribute('href')).toEndWith('/docs/doctor#public_url')
    await fine.last().getByText('In order', { exact: true }).waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-health')
    app.clock.advance(10_000)
    app.deps.space.free = () => 100 * 1024 * 1024
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.getByText('2 problems, 3 warnings.').waitFor()
    await page.getByText(/100 MiB free/).waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('overview, installation and health agree that localhost is not set up', async openPage => {
    const app = await startForBrowser(NEARBY)
    await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard')
    const notice = page.locator('.notice', { hasText: 'it is a name of this machine only' })
    await notice.waitFor()
    expect(await notice.getAttribute('class')).toBe('notice neutral')
    await page.goto('/dashboard/settings/installation')
    await page.getByText('Not set up', { exact: true }).waitFor()
    await page.goto('/dashboard/settings/health')
    await page.getByText('Not set up', { exact: true }).first().waitFor()
  })

  browserTest('the view is in German throughout, and fits a phone', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const phone = { viewport: { width: 390, height: 844 }, locale: 'de-DE' }
    const { page } = await enter(app, openPage, '/dashboard/settings/health', phone)
    await page.getByText('1 Problem, 3 Warnungen.').waitFor()
    await page.getByRole('heading', { name: 'Vertraute Aussteller' }).waitFor()
    await page.getByText('In Live wird keinem Aussteller vertraut: Jede Prüfung wird scheitern.').waitFor()
    const shown = (await page.getByRole('list', { name: 'Zustand' }).textContent()) ?? ''
    expect(shown).not.toMatch(/\b(the|is|are|there|with|your)\b/)
    await page.getByText('Der Befehl „vidimus doctor“ meldet dasselbe auf Englisch.').waitFor()
    await page.getByRole('button', { name: 'Anfragen prüfen' }).click()
    await page
      .getByText('Das Zugangszertifikat ist gültig und von einer gelisteten Stelle. Nicht so: von diesem Dienst selbst erzeugt.')
      .waitFor()
    const clauses = (await page.getByRole('list', { name: 'EU-Wallets' }).textContent()) ?? ''
    expect(clauses).not.toMatch(/\b(the|are|there|with|your)\b/)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    expect(await page.locator('.rail a', { hasText: 'Handbuch' }).getAttribute('href')).toEndWith('/docs?language=de')
    await expectAccessible(page)
    await shoot(page, 'dashboard-health-de')
  })

  browserTest('the clauses of EU wallets are shown on request, the failing ones first', async openPage => {
    const app = await startForBrowser(NEARBY)
    await app.tenant({ name: 'Corner Shop' })
    const { page } = await enter(app, openPage, '/dashboard/settings/health')
    await page.getByText(/in the requests of Corner Shop/).waitFor()
    await page.getByRole('button', { name: 'Check the requests' }).click()
    const items = page.getByRole('list', { name: 'EU wallets' }).getByRole('listitem')
    const access = items.filter({ has: page.getByRole('heading', { name: 'eu.access-certificate (must)' }) })
    await access.getByText('Fails', { exact: true }).waitFor()
    await access
      .getByText('The access certificate is valid, and of a listed authority. Not so: made by this service itself.')
      .waitFor()
    await access.getByText(/vidimus signing csr --new-key/).waitFor()
    expect(await items.first().locator('.badge').textContent()).toContain('Fails')
    await expectAccessible(page)
    await shoot(page, 'dashboard-health-eu')
    expect(page.complaints).toEqual([])
  })

  browserTest('members do not see the view', async openPage => {
    const app = await startForBrowser()
    const { id } = await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/settings/health')
    await page.getByText('1 problem, 3 warnings.').waitFor()
    const { url } = await inviteUser(app.deps, { name: 'mia', memberOf: id }, 'test')
    const member = openBrowser(app, { origin: app.deps.config.publicUrl })
    await member.post('/choose-password', { token: tokenOf(url), password: PASSWORD })
    await takeCookie(page, app.deps.config.publicUrl, member.state.cookie)
    await page.goto('/dashboard/settings/health')
    await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor()
    expect(await page.getByRole('link', { name: 'Health' }).count()).toBe(0)
    expect(await page.getByText(/a phone cannot reach it/).count()).toBe(0)
  })
})
