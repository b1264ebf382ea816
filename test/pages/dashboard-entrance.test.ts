// Coming in: set-up, log-in, links, and how a session ends.
import { afterAll, describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { openSetup } from '../../src/dashboard/setup.ts'
import { inviteUser } from '../../src/dashboard/users.ts'
import { cleanUp, until } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { openBrowser, PASSWORD } from '../helpers/dashboard.ts'
import { enter, OWNER, startForBrowser } from '../helpers/dashboard-page.ts'

afterAll(cleanUp)

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 })

async function logIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

describe('the first start', () => {
  browserTest('leads from the printed link to an account, a shop and the overview', async openPage => {
    const app = await startForBrowser()
    const link = (await openSetup(app.deps)) ?? ''
    const page = await openPage(app.deps.config.publicUrl)
    await page.goto(link)
    await heading(page, 'Set up this dashboard').waitFor()
    expect(page.url()).not.toContain('setup=')
    await expectAccessible(page)
    await shoot(page, 'dashboard-setup')
    await page.getByLabel('Name', { exact: true }).fill('Olivia')
    await page.getByLabel('Password', { exact: true }).fill('olivia olivia olivia')
    await page.getByRole('button', { name: 'Create my account' }).click()
    await page.getByRole('alert').getByText('contains your name').waitFor()
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Create my account' }).click()
    await heading(page, 'Name your shop').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Name of the shop').fill('Corner shop')
    await page.getByRole('button', { name: 'Create shop' }).click()
    await heading(page, 'Overview').waitFor()
    await page.getByText('Corner shop').first().waitFor()
    await page.getByRole('heading', { name: 'Ask for your first proof' }).waitFor()
    await shoot(page, 'dashboard-first-overview')
    await page.reload()
    await heading(page, 'Overview').waitFor()
    expect(page.complaints).toEqual(['console: Failed to load resource: the server responded with a status of 400 (Bad Request)'])
    await page.goto(link)
    await heading(page, 'This link does not work').waitFor()
    await page.getByRole('button', { name: 'To the log-in' }).click()
    await heading(page, 'Overview').waitFor()
  })

  browserTest('a link that is too old says where the next one comes from', async openPage => {
    const app = await startForBrowser()
    const link = (await openSetup(app.deps)) ?? ''
    app.clock.advance(3_600_001)
    const page = await openPage(app.deps.config.publicUrl)
    await page.goto(link)
    await page.getByRole('alert').getByText('The next start of the service prints a new one.').waitFor()
    expect(await page.getByText('Ask for a new one').count()).toBe(0)
    await expectAccessible(page)
    await shoot(page, 'dashboard-link-too-old')
  })

  browserTest('without the link says where it is to be found', async openPage => {
    const app = await startForBrowser()
    const page = await openPage(app.deps.config.publicUrl)
    await page.goto('/dashboard/keys')
    await heading(page, 'Nobody has set up this dashboard yet.').waitFor()
    expect(await page.getByLabel('Password').count()).toBe(0)
    await expectAccessible(page)
  })
})

describe('the log-in', () => {
  browserTest('refuses a wrong password, takes the right one, and goes to the page that was wanted', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    await enter(app, openPage)
    const page = await openPage(app.deps.config.publicUrl)
    await page.goto('/dashboard/keys?environment=live')
    await heading(page, 'Log in').waitFor()
    await expectAccessible(page)
    await page.getByText('vidimus user reset NAME').waitFor()
    await shoot(page, 'dashboard-login')
    await logIn(page, OWNER, 'not the password at all')
    await page.getByRole('alert').getByText('Name or password is wrong.').waitFor()
    await logIn(page, ` ${OWNER.toUpperCase()} `, PASSWORD)
    await heading(page, 'API keys').waitFor()
    expect(await page.getByRole('radio', { name: 'Live' }).isChecked()).toBe(true)
    expect(await page.content()).not.toContain(PASSWORD)
  })

  browserTest('after too many wrong passwords says how long to wait, and counts it down', async openPage => {
    const app = await startForBrowser({ rateLimitScale: 1 })
    await app.tenant()
    const owner = openBrowser(app, { origin: app.deps.config.publicUrl })
    const { page: other } = await enter(app, openPage)
    await other.close()
    for (let i = 0; i < 4; i++) await owner.logIn(OWNER, 'not the password at all')
    const page = await openPage(app.deps.config.publicUrl)
    await page.goto('/dashboard')
    await logIn(page, OWNER, PASSWORD)
    await page.getByText(/Too many wrong tries. You can try again in \d+ s/).waitFor()
    expect(await page.getByRole('button', { name: 'Log in' }).isDisabled()).toBe(true)
    await expectAccessible(page)
    app.clock.advance(10_000)
    await until(async () => await page.getByRole('button', { name: 'Log in' }).isEnabled())
    await page.getByRole('button', { name: 'Log in' }).click()
    await heading(page, 'Overview').waitFor()
  })

  browserTest('takes no password that came over the network in clear', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    await enter(app, openPage)
    const page = await openPage(app.deps.config.publicUrl, { extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.9' } })
    await page.goto('/dashboard')
    await page.getByText(/takes no password/).waitFor()
    expect(await page.getByLabel('Password').count()).toBe(0)
  })
})

describe('a session', () => {
  browserTest('that ended meanwhile leads to the log-in, and back to the same page', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/devices')
    await page.getByText('No devices in Test yet').waitFor()
    app.clock.advance(31 * 60_000)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByText(/You were away for a while/).waitFor()
    await logIn(page, OWNER, PASSWORD)
    await heading(page, 'Audit').waitFor()
  })

  browserTest('that nobody uses is hidden after half an hour, with what was on the screen', async openPage => {
    const app = await startForBrowser()
    await app.tenant({ name: 'Secret garden' })
    const { page } = await enter(app, openPage, '/dashboard/settings')
    await page.clock.install()
    await page.goto('/dashboard/settings')
    await page.getByLabel('Name', { exact: true }).waitFor()
    await page.clock.fastForward(29 * 60_000)
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Secret garden')
    await page.clock.fastForward(2 * 60_000)
    await page.getByText(/You were away for a while/).waitFor()
    expect(await page.content()).not.toContain('Secret garden')
  })

  browserTest('with a token out of date fetches the new one and goes on', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/settings')
    const sent: (string | undefined)[] = []
    await page.route('**/dashboard/api/tenants/*', async route => {
      const headers = await route.request().allHeaders()
      sent.push(headers['x-csrf-token'])
      await route.continue({ headers: sent.length === 1 ? { ...headers, 'x-csrf-token': 'of another session' } : headers })
    })
    await page.getByLabel('Name', { exact: true }).fill('Renamed')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByText('Saved.').waitFor()
    expect(sent).toHaveLength(2)
  })

  browserTest('ends everywhere at once', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page, browser } = await enter(app, openPage, '/dashboard/settings/profile')
    const other = await openPage(app.deps.config.publicUrl)
    await other.goto('/dashboard')
    await logIn(other, OWNER, PASSWORD)
    await heading(other, 'Overview').waitFor()
    await page.reload()
    await page.getByRole('table', { name: 'Your open sessions' }).waitFor()
    expect(await page.getByRole('button', { name: /Sign out of/ }).count()).toBe(2)
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByText('You are signed out.').waitFor()
    expect((await browser.get('/session')).status).toBe(401)
    await other.getByRole('link', { name: 'API keys' }).click()
    await other.getByText(/You were away for a while/).waitFor()
  })

  browserTest('ends with a click on sign out', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page, browser } = await enter(app, openPage)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    expect((await browser.get('/session')).status).toBe(401)
    expect(page.complaints).toEqual([])
  })
})

browserTest('an invitation asks for a password and shows one shop and nothing else', async openPage => {
  const app = await startForBrowser()
  const { id } = await app.tenant({ name: 'Wine bar' })
  const foreign = await app.tenant({ name: 'Foreign shop' })
  await enter(app, openPage)
  const { url } = await inviteUser(app.deps, { name: 'mo', memberOf: id }, 'test')
  const page = await openPage(app.deps.config.publicUrl)
  await page.goto(url)
  await heading(page, 'Welcome, mo').waitFor()
  await expectAccessible(page)
  await page.getByLabel('New password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Set password and log in' }).click()
  await heading(page, 'Overview').waitFor()
  expect(await page.getByRole('combobox', { name: 'Shop' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('tab', { name: 'Profile' }).waitFor()
  expect(await page.getByRole('tab').allTextContents()).toEqual(['Shop', 'Profile'])
  await page.goto(`/dashboard/trust?tenant=${foreign.id}`)
  await page.getByText('Only an owner of this installation can change this.').waitFor()
  expect(await page.getByRole('button', { name: 'Add issuer' }).count()).toBe(0)
  await page.goto(`/dashboard/audit?tenant=${foreign.id}`)
  await heading(page, 'Audit').waitFor()
  expect(await page.getByRole('button', { name: 'Export' }).count()).toBe(0)
  expect(await page.content()).not.toContain('Foreign shop')
})
