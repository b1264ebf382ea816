// The health view of the settings.
import { afterAll, describe, expect } from 'bun:test'
import { inviteUser } from '../../src/people/users.ts'
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
    await page.getByRole('tab', { name: 'Health' }).click()
    await page.getByText('2 problems, 2 warnings.').waitFor()
    const items = page.getByRole('list', { name: 'Health' }).getByRole('listitem')
    expect(await items.count()).toBe(20)
    const first = items.first()
    await first.getByText('Problem', { exact: true }).waitFor()
    await first.getByRole('heading', { name: 'Public address' }).waitFor()
    await first.getByText(/a phone cannot reach it/).waitFor()
    await first.getByText(/set VIDIMUS_PUBLIC_URL to it/).waitFor()
    await items.last().getByText('In order', { exact: true }).waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-health')
    app.clock.advance(10_000)
    app.deps.space.free = () => 100 * 1024 * 1024
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.getByText('3 problems, 2 warnings.').waitFor()
    await page.getByText(/100 MiB free/).waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('the view is in German except for details, and fits a phone', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const phone = { viewport: { width: 390, height: 844 }, locale: 'de-DE' }
    const { page } = await enter(app, openPage, '/dashboard/settings/health', phone)
    await page.getByText('2 Probleme, 2 Warnungen.').waitFor()
    await page.getByRole('heading', { name: 'Vertraute Aussteller' }).waitFor()
    expect(await page.getByText(/No issuer is trusted/).getAttribute('lang')).toBe('en')
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    // The tabs do not all fit: the chosen one is scrolled into view.
    const tab = await page.getByRole('tab', { name: 'Zustand' }).boundingBox()
    expect((tab?.x ?? 0) + (tab?.width ?? 999)).toBeLessThanOrEqual(390)
    await expectAccessible(page)
    await shoot(page, 'dashboard-health-de')
  })

  browserTest('members do not see the view', async openPage => {
    const app = await startForBrowser()
    const { id } = await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/settings/health')
    await page.getByText('2 problems, 2 warnings.').waitFor()
    const { url } = await inviteUser(app.deps, { name: 'mia', memberOf: id }, 'test')
    const member = openBrowser(app, { origin: app.deps.config.publicUrl })
    await member.post('/choose-password', { token: tokenOf(url), password: PASSWORD })
    await takeCookie(page, app.deps.config.publicUrl, member.state.cookie)
    await page.goto('/dashboard/settings/health')
    await page.getByRole('tab', { name: 'Shop' }).waitFor()
    expect(await page.getByRole('tab', { name: 'Health' }).count()).toBe(0)
    expect(await page.getByText(/a phone cannot reach it/).count()).toBe(0)
  })
})
