// Second factors in a real browser, with an authenticator of Chromium's own (CDP WebAuthn).
import { describe, expect } from 'bun:test'
import { createVerification, type TestApp } from '../helpers/app.ts'
import { codeAt, STEP_MS } from '../helpers/authenticator-app.ts'
import { browserTest, expectAccessible, readCode, shoot, type WatchedPage } from '../helpers/browser.ts'
import { joinMember, PASSWORD } from '../helpers/dashboard.ts'
import { enter, OWNER, shareService, startForBrowser, takeCookie } from '../helpers/dashboard-page.ts'
import { isFocused, isHeard, press, type } from '../helpers/focus.ts'
import { receive, untilAttempted } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

shareService()

/** It is gone when another debugger leaves the page, as expectAccessible does. */
async function addAuthenticator(page: WatchedPage): Promise<void> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const options = { protocol: 'ctap2' as const, transport: 'internal' as const, hasResidentKey: true, hasUserVerification: true }
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  })
}

const codeFor = (app: TestApp, secret: string, steps: number): Promise<string> =>
  codeAt(secret, app.clock.now() + steps * STEP_MS)

async function logIn(page: WatchedPage): Promise<void> {
  await isFocused(field(page, 'Name'))
  await page.keyboard.type(OWNER)
  await page.keyboard.press('Tab')
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
}

const button = (page: WatchedPage, name: string) => page.getByRole('button', { name, exact: true })
const field = (page: WatchedPage, name: string) => page.getByRole('textbox', { name, exact: true })
const heading = (page: WatchedPage, name: string) => page.getByRole('heading', { name, exact: true })

describe('the page Security', () => {
  // Nothing is checked for accessibility before the log-in: the authenticator must stay.
  browserTest('a passkey is added with recovery codes that are shown once, and logs in without the password', async openPage => {
    const app = await startForBrowser({})
    await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/settings/security')
    await addAuthenticator(page)
    await shoot(page, 'dashboard-security-empty')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Work laptop')
    await page.keyboard.press('Enter')
    await heading(page, 'Recovery codes').first().waitFor()
    await page.getByText('This is the only time it is shown.').waitFor()
    await shoot(page, 'dashboard-security-recovery')
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /Work laptop/ }).waitFor()
    await page.getByText('10 left').waitFor()
    await shoot(page, 'dashboard-security')
    await page.getByRole('button', { name: 'Log out', exact: true }).click()
    await page.getByRole('button', { name: 'Log in with a passkey' }).click()
    await page.getByRole('cell', { name: 'Passkey', exact: true }).waitFor()
    await expectAccessible(page)
    expect(page.complaints).toEqual([])
  })

  browserTest('one-time codes are set up and asked for by keyboard alone, and a recovery code replaces one', async openPage => {
    const app = await startForBrowser({})
    await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/settings/security')
    await press(button(page, 'Set up one-time codes'))
    const secret = new URL(await readCode(page)).searchParams.get('secret') ?? ''
    await expectAccessible(page)
    await shoot(page, 'dashboard-codes')
    await type(field(page, 'Code'), '000000')
    await page.keyboard.press('Enter')
    await isHeard(page, 'This code is wrong.')
    await type(field(page, 'Code'), await codeFor(app, secret, 0))
    await page.keyboard.press('Enter')
    const codes = (await page.locator('.secret code').textContent())?.trim().split(/\s+/) ?? []
    await expectAccessible(page)
    // What is shown once is not closed by Escape.
    await page.keyboard.press('Escape')
    await press(button(page, 'I have copied it'))
    await page.getByText('In use').waitFor()

    await press(button(page, 'Log out'))
    await isHeard(page, 'You are logged out.')
    await logIn(page)
    await isFocused(field(page, 'Code'))
    await page.keyboard.type(await codeFor(app, secret, 1))
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'Password and code' }).waitFor()
    await page.goto('/dashboard/settings/people')
    await press(button(page, `New password link: ${OWNER}`))
    await page.getByText(`The second factor stays. If it is lost too, use the command vidimus user reset ${OWNER}`).waitFor()
    await press(button(page, 'I have copied it'))
    await page.goto('/dashboard/settings/security')
    await press(button(page, 'Log out'))
    await logIn(page)
    await press(button(page, 'Use a recovery code'))
    await page.getByText('No recovery code either?').waitFor()
    await page.getByText('vidimus user reset NAME').waitFor()
    await expectAccessible(page)
    await isFocused(field(page, 'Recovery code'))
    await page.keyboard.type(codes[3] ?? '')
    await page.keyboard.press('Enter')
    await page.getByText('9 left').waitFor()
    await page.getByLabel('Whose').selectOption('all')
    await page.getByRole('table', { name: 'Log-ins to this dashboard' }).waitFor()
    // The browser reports the wrong code.
    expect(page.complaints.filter(each => !each.includes('status of 400'))).toEqual([])
  })

  browserTest('at an address without a name the page offers codes only and says why, in German', async openPage => {
    const app = await startForBrowser({})
    await app.tenant()
    const { browser } = await enter(app, openPage)
    const origin = app.deps.config.publicUrl.replace('localhost', '127.0.0.1')
    const page = await openPage(origin, { locale: 'de' })
    await takeCookie(page, origin, browser.state.cookie)
    await page.goto('/dashboard/settings/security')
    await page.getByText('Passkeys funktionieren nur unter http://localhost').waitFor()
    expect(await page.getByRole('button', { name: 'Passkey hinzufügen' }).count()).toBe(0)
    await expectAccessible(page)
    await shoot(page, 'dashboard-security-german')
  })
})

browserTest('a user sets up a second factor before anything else, where everybody needs one', async openPage => {
  const app = await startForBrowser({})
  const { id } = await app.tenant({ name: 'Wine bar' })
  const { browser } = await enter(app, openPage)
  const member = await joinMember(app, id, 'mia', undefined, app.deps.config.publicUrl)
  const own = (await browser.post<{ secret: string }>('/security/codes')).body.secret
  expect((await browser.post('/security/codes/start', { code: await codeFor(app, own, 0) })).status).toBe(200)
  expect((await browser.put('/security/rule', { is_required: true })).status).toBe(200)
  const page = await openPage(app.deps.config.publicUrl)
  await takeCookie(page, app.deps.config.publicUrl, member.state.cookie)
  await page.goto('/dashboard/keys')
  await heading(page, 'Set up a second factor').waitFor()
  await expectAccessible(page)
  await shoot(page, 'dashboard-needed')
  await page.getByRole('button', { name: 'Set up one-time codes' }).click()
  const secret = new URL(await readCode(page)).searchParams.get('secret') ?? ''
  await page.getByRole('textbox', { name: 'Code' }).fill(await codeFor(app, secret, 0))
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await heading(page, 'API keys').waitFor()
  expect(page.complaints).toEqual([])
})

browserTest('the log-in page over plain http on a network names the two ways out', async openPage => {
  const app = await startForBrowser()
  await app.tenant()
  await enter(app, openPage)
  const { origin, port } = new URL(app.deps.config.publicUrl)
  const page = await openPage(origin)
  // As another machine sees it.
  await page.route('**/dashboard/api/session', route => route.fulfill({ status: 403, json: REFUSED }))
  await page.route('**/dashboard/api/entrance', route => route.fulfill({ json: FROM_AFAR }))
  await page.goto('/dashboard')
  await page.getByText('vidimus tls init').waitFor()
  await page.getByText(`ssh -L ${port}:localhost:${port} localhost`).waitFor()
  await page.getByText(`http://localhost:${port}/dashboard`).waitFor()
  expect(await page.getByLabel('Password').count()).toBe(0)
  await expectAccessible(page)
  await shoot(page, 'dashboard-plain-http')
})

const REFUSED = { error: { code: 'https_required', message: '' } }
const FROM_AFAR = { needs_setup: false, accepts_passwords: false, passkey_origin: null }

browserTest('a viewer sees lists and outcomes, and no button that changes something', async openPage => {
  const app = await startForBrowser({})
  const shop = await app.tenant({ name: 'Wine bar' })
  await enter(app, openPage)
  const viewer = await joinMember(app, shop.id, 'vera', 'viewer', app.deps.config.publicUrl)
  const page = await openPage(app.deps.config.publicUrl)
  await takeCookie(page, app.deps.config.publicUrl, viewer.state.cookie)
  const CHANGES: Record<string, RegExp> = {
    keys: /create|replace|revoke/i,
    devices: /register|revoke|edit/i,
    templates: /new template|duplicate|edit|delete/i,
    webhooks: /replay|send|save|show|rotate/i,
    settings: /save/i,
  }
  await page.goto('/dashboard')
  await page.getByRole('heading', { name: 'Ask for your first proof' }).waitFor()
  expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Health of the installation' }).count()).toBe(0)
  for (const [view, changes] of Object.entries(CHANGES)) {
    await page.goto(`/dashboard/${view}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    const buttons = page.locator('main').getByRole('button', { name: changes })
    expect([view, await buttons.allTextContents()]).toEqual([view, []])
  }
  expect(page.complaints).toEqual([])
})

browserTest('a viewer reads that the role hides personal data, not that nothing was kept', async openPage => {
  const app = await startForBrowser({})
  const { id, key } = await app.tenant()
  const { verification } = await verifyWith(app, key, 'adult', { body: { template: 'identity_basic' } })
  await enter(app, openPage)
  const viewer = await joinMember(app, id, 'vera', 'viewer', app.deps.config.publicUrl)
  for (const [locale, told, notTold] of [
    ['en-GB', 'Your role does not show personal data.', 'Nothing is kept'],
    ['de-DE', 'Ihre Rolle zeigt keine personenbezogenen Daten.', 'ist nichts aufbewahrt'],
  ] as const) {
    const page = await openPage(app.deps.config.publicUrl, { locale })
    await takeCookie(page, app.deps.config.publicUrl, viewer.state.cookie)
    await page.goto(`/dashboard/verifications/${verification.id}`)
    await page.locator('.panel').getByText(told).waitFor()
    expect(await page.locator('.panel').textContent()).not.toContain(notTold)
    await shoot(page, `dashboard-viewer-claims-${locale}`)
    expect(page.complaints).toEqual([])
  }
})

browserTest('a viewer meets nothing that the service then refuses, and deliveries lead to the verification', async openPage => {
  const receiver = receive()
  const app = await startForBrowser({ resolve: async () => ['127.0.0.1'], config: { egressAllow: [receiver.allow] } })
  const shop = await app.tenant()
  await enter(app, openPage)
  const { id } = await createVerification(app, shop.key, { webhook_url: receiver.url() })
  await app.call('POST', `/v1/verifications/${id}/cancel`, { key: shop.key })
  await untilAttempted(app, id, 1)
  const viewer = await joinMember(app, shop.id, 'vera', 'viewer', app.deps.config.publicUrl)
  const page = await openPage(app.deps.config.publicUrl)
  await takeCookie(page, app.deps.config.publicUrl, viewer.state.cookie)
  await page.goto('/dashboard/verifications')
  await page.getByRole('table').waitFor()
  expect(await page.getByRole('button', { name: 'Export CSV' }).count()).toBe(0)
  for (const view of ['go-live', 'template-editor']) {
    await page.goto(`/dashboard/${view}`)
    await page.getByText('Your role lets you look, not change.').waitFor()
    expect([view, await page.locator('main input, main button').count()]).toEqual([view, 0])
  }
  await page.goto('/dashboard/webhooks')
  await page.getByRole('link', { name: 'verification.failed' }).click()
  const panel = page.locator('.panel')
  await panel.getByText('The event as it would be sent now.').waitFor()
  await panel.getByText('Your role does not show personal data.').waitFor()
  expect(await panel.getByRole('button', { name: 'Send again' }).count()).toBe(0)
  await panel.getByRole('link', { name: id }).click()
  await panel.getByRole('link', { name: 'Webhook, attempt 1' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/dashboard/verifications/${id}`)
  expect(page.complaints).toEqual([])
})
