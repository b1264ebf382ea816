// API keys and devices.
import { afterAll, describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { createKey } from '../../src/access/keys.ts'
import type { ApiKey } from '../../src/dashboard/developers/keys/schema.ts'
import type { Device } from '../../src/devices/schema.ts'
import { parseNetworks } from '../../src/egress/addresses.ts'
import { cleanUp } from '../helpers/app.ts'
import { browserTest, expectAccessible, type OpenPage, shoot } from '../helpers/browser.ts'
import { PASSWORD } from '../helpers/dashboard.ts'
import { ageLogIn, enter, shareService, startForBrowser } from '../helpers/dashboard-page.ts'
import { enroll, pair } from '../helpers/devices.ts'
import { focusedSince, hasNoRing, isFocused, press, rememberFocus } from '../helpers/focus.ts'

afterAll(cleanUp)
shareService()

const KEY = /vk_(test|live)_[A-Za-z0-9]{38}/

async function shownKey(page: Page): Promise<string> {
  return (await page.getByRole('dialog').locator('.secret code').textContent()) ?? ''
}

const statusOf = async (app: Awaited<ReturnType<typeof startForBrowser>>, key: string) =>
  (await app.call('GET', '/v1/usage', { key })).status

/** The dialog of a new key, with its label. */
async function openNewKey(openPage: OpenPage) {
  const app = await startForBrowser()
  await app.tenant()
  const { page } = await enter(app, openPage, '/dashboard/keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Label').fill('Web shop')
  return { app, page, dialog }
}

/** The service keeps the hour of the last use. */
browserTest('the last use of a key is told as an hour of a day by the clock of the reader', async openPage => {
  const uses = {
    '2026-03-04T22:00:00.000Z': ['today between 23:00 and 24:00', 'heute zwischen 23:00 und 24:00 Uhr'],
    '2026-03-03T22:00:00.000Z': ['yesterday between 23:00 and 24:00', 'gestern zwischen 23:00 und 24:00 Uhr'],
    '2026-03-03T23:00:00.000Z': ['today between 00:00 and 01:00', 'heute zwischen 00:00 und 01:00 Uhr'],
    '2026-02-20T08:00:00.000Z': ['20 Feb 2026 between 09:00 and 10:00', '20.02.2026 zwischen 09:00 und 10:00 Uhr'],
  }
  const app = await startForBrowser()
  const { id } = await app.tenant()
  for (const at of Object.keys(uses))
    await createKey(app.deps, { tenantId: id, environment: 'test', label: at, scopes: ['verifications:read'], actor: 'test' })
  for (const [language, locale] of ['en-GB', 'de-DE'].entries()) {
    const { page } = await enter(app, openPage, '/dashboard/audit', { locale, timezoneId: 'Europe/Berlin' })
    await page.clock.setFixedTime('2026-03-04T22:40:00Z')
    await page.route('**/keys', async route => {
      const answer = await route.fetch()
      const { data } = (await answer.json()) as { data: ApiKey[] }
      await route.fulfill({ json: { data: data.map(key => ({ ...key, last_used_at: key.label in uses ? key.label : null })) } })
    })
    await page.goto('/dashboard/keys')
    for (const [at, told] of Object.entries(uses)) {
      const row = page.getByRole('row').filter({ hasText: at })
      // A narrow screen shows it below the name.
      const shown = row.locator(`time[datetime="${at}"]`).filter({ visible: true })
      await shown.waitFor()
      expect(await shown.textContent()).toBe(told[language]!)
    }
    await shoot(page, `dashboard-keys-used-${locale}`)
  }
})

describe('a key', () => {
  browserTest('a new key may not erase by default, is shown once, and works', async openPage => {
    const { app, page, dialog } = await openNewKey(openPage)
    expect(await dialog.getByLabel('Erase verifications').isChecked()).toBe(false)
    expect(await dialog.getByLabel('Create verifications').isChecked()).toBe(true)
    await dialog.getByLabel('Expires after').selectOption('90')
    await expectAccessible(page)
    await shoot(page, 'dashboard-key-create')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('heading', { name: 'Your new key' }).waitFor()
    const key = await shownKey(page)
    expect(key).toMatch(KEY)
    await page.getByText('This is the only time it is shown. Copy it now.').waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await dialog.getByRole('button', { name: 'Copy the key' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key)
    await expectAccessible(page)
    await shoot(page, 'dashboard-key-minted')
    expect(await statusOf(app, key)).toBe(200)
    const made = await app.call<{ id: string }>('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
    expect(made.status).toBe(201)
    expect((await app.call('DELETE', `/v1/verifications/${made.body.id}`, { key })).status).toBe(403)
    await dialog.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('cell', { name: 'Web shop', exact: true }).waitFor()
    expect(await page.content()).not.toContain(key)
    await expectAccessible(page)
    await shoot(page, 'dashboard-keys')
    expect(page.complaints).toEqual([])
  })

  browserTest('Escape and Cancel do not close the dialog while a key is being made: it is shown all the same', async openPage => {
    const { page, dialog } = await openNewKey(openPage)
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
    await page.route('**/keys', async route => {
      await mayGoOn
      await route.continue()
    })
    const asked = page.waitForRequest(request => request.method() === 'POST')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await asked
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
    expect(await dialog.getByRole('button', { name: 'Close' }).isDisabled()).toBe(true)
    goOn()
    await page.getByRole('heading', { name: 'Your new key' }).waitFor()
    expect(await shownKey(page)).toMatch(KEY)
  })

  browserTest('creating a key of the other environment switches to that environment', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Label').fill('In earnest')
    await page.getByRole('dialog').getByLabel('Live').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('cell', { name: 'In earnest', exact: true }).waitFor()
    expect(await page.getByRole('radio', { name: 'Live' }).isChecked()).toBe(true)
  })

  browserTest('after rolling, the new key works, and the old one until its chosen end', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/keys')
    await page.getByRole('button', { name: /^Replace/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('for one more hour').check()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Create the new key' }).click()
    await dialog.getByText(/The old key goes on working until/).waitFor()
    const rolled = await shownKey(page)
    expect(rolled).not.toBe(key)
    expect([await statusOf(app, rolled), await statusOf(app, key)]).toEqual([200, 200])
    app.clock.advance(3_600_001)
    expect([await statusOf(app, rolled), await statusOf(app, key)]).toEqual([200, 401])
  })

  browserTest('a revoked key, confirmed by its name, stops working at once', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/keys')
    await page.getByRole('button', { name: /^Revoke/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/To confirm, type/).fill('something else')
    expect(await dialog.getByRole('button', { name: 'Revoke key' }).isDisabled()).toBe(true)
    await dialog.getByLabel(/To confirm, type/).fill(key.slice(0, 12))
    await dialog.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByRole('button', { name: 'Show 1 ended' }).click()
    await page.getByRole('cell', { name: 'Revoked', exact: true }).waitFor()
    expect(await statusOf(app, key)).toBe(401)
    expect(await page.getByRole('button', { name: /^Replace/ }).count()).toBe(0)
  })

  browserTest('a key can be created by keyboard alone, with a password prompt', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page, browser } = await enter(app, openPage, '/dashboard')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await ageLogIn(app, browser)
    const dialog = page.getByRole('dialog')
    await press(page.locator('.rail summary', { hasText: 'Developers' }))
    await press(page.getByRole('link', { name: 'API keys', exact: true }))
    await isFocused(page.getByRole('heading', { name: 'API keys', level: 1 }))
    await press(page.getByRole('button', { name: 'Create key' }).first())
    await isFocused(dialog.getByLabel('Label'))
    await page.keyboard.type('Typed')
    await press(dialog.getByRole('checkbox', { name: /^Erase verifications/ }), 'Space')
    await press(dialog.getByRole('button', { name: 'Create key' }))
    await page.getByRole('heading', { name: 'Confirm your password' }).waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-password-again')
    await page.keyboard.type('a wrong password here')
    await page.keyboard.press('Enter')
    await dialog.last().getByText('Name or password is wrong.').waitFor()
    await dialog.last().getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Your new key' }).waitFor()
    // The key is shown once: Escape must not close it, though browsers close at the second one.
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    expect(await shownKey(page)).toMatch(KEY)
    expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(0)
    await press(dialog.getByRole('button', { name: 'I have copied it' }))
    await page.getByRole('cell', { name: 'Typed', exact: true }).waitFor()
    expect(await page.content()).not.toMatch(KEY)
    expect(await page.content()).not.toContain(PASSWORD)
    await isFocused(page.getByRole('button', { name: 'Create key' }))
  })

  browserTest('no key is created when the password prompt is cancelled', async openPage => {
    const app = await startForBrowser()
    const { id } = await app.tenant()
    const { page, browser } = await enter(app, openPage, '/dashboard/keys')
    const count = async () => (await browser.get<{ data: unknown[] }>(`/tenants/${id}/keys`)).body.data.length
    const before = await count()
    await ageLogIn(app, browser)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('heading', { name: 'Confirm your password' }).waitFor()
    await page.getByRole('dialog').last().getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'Create an API key' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await count()).toBe(before)
  })
})

/** Visible at each width, with nothing cut. */
async function expectTold(page: Page, name: string, told: readonly (string | RegExp)[]): Promise<void> {
  const row = page.getByRole('row').filter({ hasText: name })
  for (const width of [390, 820, 1000, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    const cut = await row
      .getByRole('cell')
      .evaluateAll(cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent))
    const missing: (string | RegExp)[] = []
    for (const each of told) if ((await row.getByText(each).filter({ visible: true }).count()) === 0) missing.push(each)
    expect({ width, cut, missing }).toEqual({ width, cut: [], missing: [] })
    const box = await row.getByRole('button').last().boundingBox()
    expect((box?.x ?? width) + (box?.width ?? 0)).toBeLessThan(width)
  }
}

browserTest('a row shows all data of a key or device on a screen of any width', async openPage => {
  const app = await startForBrowser()
  const { id, key } = await app.tenant()
  const label = 'The web shop of the branch beside the old town hall, behind the fountain'
  const till = 'The tablet at the second counter from the left, next to the door'
  const { page, browser } = await enter(app, openPage, '/dashboard/keys')
  const scopes = ['verifications:create', 'verifications:read']
  await browser.post(`/tenants/${id}/keys`, { environment: 'test', scopes, label, expires_days: 90 })
  const allowed_templates = ['age_over_18', 'age_over_21', 'driving_licence', 'photo_id']
  await pair(app, key, { name: till, allowed_templates })
  await page.reload()
  await page.getByText(label).waitFor()
  await expectTold(page, label, [label, /vk_test_/, /create.*, read/i, 'Active', /, \d{4}$/])
  await expectAccessible(page)
  await shoot(page, 'dashboard-keys-long')
  await page.goto('/dashboard/devices')
  const titles = 'Age 18 or over, Age 21 or over, Driving licence, Photo ID'
  await page.getByText(titles).first().waitFor({ state: 'attached' })
  await expectTold(page, till, [till, titles, 'Active', /just now|1 minute ago|Never/])
  await expectAccessible(page)
  await shoot(page, 'dashboard-devices-long')
})

browserTest('a dialog that shows its result focuses its heading, and Tab continues inside', async openPage => {
  const app = await startForBrowser()
  await app.tenant()
  const { page } = await enter(app, openPage, '/dashboard/keys')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Create key' }).press('Enter')
  await dialog.getByRole('button', { name: 'Create key' }).press('Enter')
  await isFocused(dialog.getByRole('heading', { name: 'Your new key' }))
  await hasNoRing(page)
  await page.keyboard.press('Tab')
  await isFocused(dialog.getByRole('button', { name: 'Copy the key' }))
  await rememberFocus(page)
  await dialog.getByRole('button', { name: 'I have copied it' }).press('Enter')
  await isFocused(page.getByRole('button', { name: 'Create key' }))
  expect(await focusedSince(page)).toEqual(['I have copied it', 'Create key'])
  await page
    .getByRole('button', { name: /^Replace/ })
    .first()
    .press('Enter')
  await dialog.getByRole('button', { name: 'Create the new key' }).press('Enter')
  await isFocused(dialog.getByRole('heading', { name: 'Your new key' }))

  await page.goto('/dashboard/devices')
  await page.getByRole('heading', { name: 'No tills in Test yet' }).waitFor()
  await page.getByRole('button', { name: 'Register till' }).press('Enter')
  await dialog.getByLabel('Name', { exact: true }).fill('Till 1')
  await dialog.getByLabel('Name', { exact: true }).press('Enter')
  await isFocused(dialog.getByRole('heading', { name: 'Pair “Till 1”' }))
  await dialog.getByRole('button', { name: 'Done' }).focus()
  expect((await enroll(app, (await dialog.locator('.pairing-code').textContent()) ?? '')).status).toBe(200)
  await dialog.getByText('Paired. The till is ready.').waitFor()
  await isFocused(dialog.getByRole('heading', { name: 'Pair “Till 1”' }))
  await hasNoRing(page)
})

browserTest('the heading of the page has the focus after a row is removed or a first one added', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant()
  const { page } = await enter(app, openPage, '/dashboard/keys')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: /^Revoke/ }).press('Enter')
  await dialog.getByLabel(/To confirm, type/).fill(key.slice(0, 12))
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Show 1 ended' }).waitFor()
  await isFocused(page.getByRole('heading', { name: 'API keys', level: 1 }))
  await hasNoRing(page)
  await page.goto('/dashboard/devices')
  await page.getByRole('heading', { name: 'No tills in Test yet' }).waitFor()
  await page.getByRole('button', { name: 'Register till' }).press('Enter')
  await dialog.getByLabel('Name', { exact: true }).fill('Till 1')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Done' }).press('Enter')
  await page.getByRole('cell', { name: 'Till 1' }).first().waitFor()
  await isFocused(page.getByRole('heading', { name: 'Tills', level: 1 }))
  await page.keyboard.press('Tab')
  await isFocused(page.getByRole('button', { name: 'Register till' }))
})

browserTest('a network that is locked out is shown to the owner, who lifts the lock', async openPage => {
  const app = await startForBrowser({
    rateLimitScale: 1,
    now: Date.now() - 240_000,
    config: { trustedProxies: parseNetworks('127.0.0.1') },
  })
  await app.tenant()
  const wrong = () =>
    app.call('POST', '/v1/devices/enroll', {
      body: { pairing_code: 'VD-0000-0000' },
      headers: { 'x-forwarded-for': '203.0.113.7' },
    })
  for (let i = 0; i < 20; i++) {
    expect((await wrong()).status).toBe(400)
    app.clock.advance(12_000)
  }
  expect((await wrong()).status).toBe(429)
  const { page } = await enter(app, openPage, '/dashboard/devices')
  await page.getByText(/A network is locked for \d+ min/).waitFor()
  await expectAccessible(page)
  await shoot(page, 'dashboard-pairing-lock')
  await page.getByRole('button', { name: 'Deutsch' }).click()
  await page.getByText(/Ein Netz ist noch .* gesperrt/).waitFor()
  await shoot(page, 'dashboard-pairing-lock-de')
  await page.getByRole('button', { name: 'Sperre aufheben' }).click()
  await page.getByRole('button', { name: 'Sperre aufheben' }).waitFor({ state: 'detached' })
  expect((await wrong()).status).toBe(400)
})

describe('a device', () => {
  browserTest(
    'a device is registered with a code and QR code, becomes active when paired, is edited, paired anew and revoked',
    async openPage => {
      const app = await startForBrowser()
      const { key } = await app.tenant()
      const { page } = await enter(app, openPage, '/dashboard/devices')
      await page.getByRole('heading', { name: 'No tills in Test yet' }).waitFor()
      await expectAccessible(page)
      await shoot(page, 'dashboard-devices-empty')
      await page.getByRole('button', { name: 'Register till' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name', { exact: true }).fill('Till 1')
      await dialog.getByLabel('Age 21 or over', { exact: true }).check()
      await expectAccessible(page)
      await dialog.getByRole('button', { name: 'Register till' }).click()
      await dialog.getByRole('heading', { name: 'Pair “Till 1”' }).waitFor()
      const code = (await dialog.locator('.pairing-code').textContent()) ?? ''
      expect(code).toMatch(/^VD-[0-9A-Z]{4}-[0-9A-Z]{4}$/)
      await dialog.getByRole('img', { name: /QR code/ }).waitFor()
      await dialog.getByText('Waiting for the till').waitFor()
      await expectAccessible(page)
      await shoot(page, 'dashboard-pairing')
      for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
      expect(await dialog.locator('.pairing-code').textContent()).toBe(code)
      expect((await enroll(app, code)).status).toBe(200)
      await dialog.getByText('Paired. The till is ready.').waitFor()
      await shoot(page, 'dashboard-paired')
      await dialog.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('cell', { name: 'Active', exact: true }).waitFor()
      expect(await page.content()).not.toContain(code)
      await expectAccessible(page)
      await shoot(page, 'dashboard-devices')
      const { body } = await app.call<{ data: Device[] }>('GET', '/v1/devices', { key })
      expect(body.data.map(({ allowed_templates }) => allowed_templates)).toEqual([['age_over_18', 'age_over_21']])
      await page.getByRole('button', { name: 'Edit: Till 1' }).click()
      expect(await dialog.getByLabel('Age 21 or over', { exact: true }).isChecked()).toBe(true)
      await dialog.getByLabel('Age 21 or over', { exact: true }).uncheck()
      expect(await dialog.getByLabel('Format of “Age 21 or over”').count()).toBe(0)
      await dialog.getByLabel('Format of “Age 18 or over”').selectOption({ label: 'mdoc only' })
      const ways = dialog.getByRole('group', { name: 'How its page asks' }).getByRole('checkbox')
      for (const way of await ways.all()) await way.uncheck()
      await dialog.getByText('Choose at least one.').waitFor()
      await dialog.getByLabel(/^By reading the phone/).check()
      await expectAccessible(page)
      await shoot(page, 'dashboard-device-format')
      await dialog.getByLabel('Name', { exact: true }).fill('Till at the door')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Till at the door').waitFor()
      expect(await page.locator('td .chips').first().textContent()).toBe('Age 18 or over (mdoc only)')
      const edited = await app.call<{ data: Device[] }>('GET', '/v1/devices', { key })
      expect(edited.body.data[0]?.allowed_templates).toEqual(['age_over_18_mdoc'])
      await page.getByRole('button', { name: 'Edit: Till at the door' }).click()
      expect(await dialog.getByLabel('Format of “Age 18 or over”').inputValue()).toBe('mso_mdoc')
      expect(await Promise.all((await ways.all()).map(way => way.isChecked()))).toEqual([false, true, false])
      await dialog.getByLabel('Format of “Age 18 or over”').selectOption({ label: 'Any wallet' })
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Age 18 or over (mdoc only)').first().waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'New code: Till at the door' }).click()
      await dialog.getByText(/The till stops until it is paired with the new code/).waitFor()
      await expectAccessible(page)
      await dialog.getByRole('button', { name: 'Make a new code' }).click()
      const renewed = (await dialog.locator('.pairing-code').textContent()) ?? ''
      expect(renewed).not.toBe(code)
      await dialog.getByText('Waiting for the till').waitFor()
      expect((await enroll(app, renewed)).body.device).toMatchObject({ id: body.data[0]!.id, name: 'Till at the door' })
      await dialog.getByText('Paired. The till is ready.').waitFor()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('button', { name: 'Revoke: Till at the door' }).click()
      await page
        .getByRole('dialog')
        .getByLabel(/To confirm, type/)
        .fill('Till at the door')
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke till' }).click()
      await page.getByRole('button', { name: 'Show 1 revoked' }).waitFor()
      await page.getByRole('heading', { name: 'No tills in Test yet' }).waitFor()
      expect(await page.getByRole('table').count()).toBe(0)
      const after = await app.call<{ data: Device[] }>('GET', '/v1/devices', { key })
      expect(after.body.data[0]?.status).toBe('revoked')
      expect(page.complaints).toEqual([])
    },
  )
})
