// The till. Failures are in till-recovery.test.ts, verdicts in till-verdict.test.ts.
import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import encodeQR from 'qr'
import { pairingLink } from '../../src/devices/pairing-code.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { until } from '../helpers/app.ts'
import { browserTest, readCode } from '../helpers/browser.ts'
import { deviceOf, register } from '../helpers/devices.ts'
import { hasNoRing, isFocused } from '../helpers/focus.ts'
import { SHOP, sessionsOf, shareService, startShop } from '../helpers/shop.ts'
import { answer, ask, button, heading, isIdle, keptBy, look, openTill, pretendCamera, walletUri } from '../helpers/till.ts'
import { fetchOf } from '../helpers/wallet.ts'

shareService()

const SCREENS = [
  [390, 844],
  [844, 390],
  [820, 1180],
  [1180, 820],
  [1440, 900],
] as const

describe('pairing', () => {
  browserTest('a typed code pairs the till, with the tolerance of the server', async openPage => {
    const { app, origin, key } = await startShop()
    const { device, pairing_code } = await register(app, key)
    const page = await openPage(origin)
    await page.goto('/till')
    await heading(page, 'Pair this till').waitFor()
    await look(page, 'pair')
    await page.getByLabel('Pairing code').fill(pairing_code.toLowerCase().replaceAll('-', ' '))
    await page.keyboard.press('Enter')
    await isIdle(page)
    expect((await deviceOf(app, key, device.id)).status).toBe('active')
    expect(await page.getByText(`Till 1 ${SHOP}`).isVisible()).toBe(true)
    await page.reload()
    await isIdle(page)
    expect(page.complaints).toEqual([])
  })

  browserTest('the link of the QR code pairs the till, and its code leaves the address at once', async openPage => {
    const { app, origin, key } = await startShop()
    const { pairing_code } = await register(app, key)
    const page = await openPage(origin)
    await page.goto(`/till#pair=${pairing_code}`)
    await button(page, 'Pair this till').waitFor()
    expect(await page.getByLabel('Pairing code').inputValue()).toBe(pairing_code)
    expect(page.url()).toBe(`${origin}/till`)
    // The button has the focus, so a key presses it too.
    await page.keyboard.press('Enter')
    await isIdle(page)
    expect(page.complaints).toEqual([])
  })

  browserTest('a QR code before the camera pairs the till', async openPage => {
    const { app, origin, key } = await startShop()
    const { device, pairing_code } = await register(app, key)
    const page = await openPage(origin)
    await page.addInitScript(pretendCamera, encodeQR(pairingLink(origin, pairing_code), 'raw', { border: 4 }))
    await page.goto('/till')
    await button(page, 'Scan with the camera').click()
    await isIdle(page)
    expect((await deviceOf(app, key, device.id)).status).toBe('active')
    expect(page.complaints).toEqual([])
  })

  browserTest('a QR code of something else is refused', async openPage => {
    const { origin } = await startShop()
    const page = await openPage(origin)
    await page.addInitScript(pretendCamera, encodeQR('https://wine.example/menu', 'raw', { border: 4 }))
    await page.goto('/till')
    await button(page, 'Scan with the camera').click()
    await page.locator('.problem', { hasText: 'This QR code is no pairing code.' }).waitFor()
    expect(await keptBy(page)).toEqual({})
  })

  browserTest('a wrong code is refused, and an incomplete one is not sent', async openPage => {
    const { origin } = await startShop()
    const page = await openPage(origin, { serviceWorkers: 'block' })
    const sent: string[] = []
    page.on('request', request => sent.push(new URL(request.url()).pathname))
    await page.goto('/till')
    await page.getByLabel('Pairing code').fill('VD-7K3M')
    await button(page, 'Pair this till').click()
    await page.getByText('That code is incomplete. It has eight characters after VD.').first().waitFor()
    expect(sent).not.toContain('/v1/devices/enroll')
    await page.getByLabel('Pairing code').fill('VD-7K3M-9QZX')
    await button(page, 'Pair this till').click()
    await page.locator('.problem', { hasText: 'This code is wrong, was used before, or is too old.' }).waitFor()
    expect(page.complaints).toEqual([expect.stringContaining('400')])
    await look(page, 'pair-wrong')
    expect(await keptBy(page)).toEqual({})
  })

  browserTest('after too many wrong codes the page says when to try again', async openPage => {
    const { app, origin } = await startShop({ rateLimitScale: 1 })
    for (let i = 0; i < 10; i++) await app.call('POST', '/v1/devices/enroll', { body: { pairing_code: 'VD-0000-0000' } })
    const page = await openPage(origin)
    await page.goto('/till#pair=VD-7K3M-9QZX')
    await button(page, 'Pair this till').click()
    await page.locator('.problem', { hasText: 'Too many wrong codes came from this network. Try again in 0:12.' }).waitFor()
    for (let i = 0; i < 10; i++) {
      app.clock.advance(12_000)
      await app.call('POST', '/v1/devices/enroll', { body: { pairing_code: 'VD-0000-0000' } })
    }
    await button(page, 'Pair this till').click()
    await page.locator('.problem', { hasText: /so it is locked\. Try again in 15:00, or ask the owner/ }).waitFor()
  })

  browserTest('a second link replaces the pairing only after confirmation', async openPage => {
    const { app, key, page, device } = await openTill(openPage)
    const other = await register(app, key, { name: 'Till 2' })
    await page.goto(`/till#pair=${other.pairing_code}`)
    await page.getByText('This device is already paired, as Till 1.').waitFor()
    await button(page, 'Keep Till 1').click()
    await isIdle(page)
    await page.evaluate(code => {
      location.hash = `pair=${code}`
    }, other.pairing_code)
    await button(page, 'Pair this till').click()
    await page.getByText(`Till 2 ${SHOP}`).waitFor()
    expect([(await deviceOf(app, key, device.id)).status, (await deviceOf(app, key, other.device.id)).status]).toEqual([
      'active',
      'active',
    ])
    expect(page.complaints).toEqual([])
  })
})

describe('idle', () => {
  browserTest('the idle screen has a button per template in order; a missing template is disabled', async openPage => {
    const { page } = await openTill(openPage)
    const buttons = page.locator('.template')
    expect(await buttons.locator('.name').allTextContents()).toEqual([
      'Age 18 or over',
      'Age 18 or over, with photo',
      'Name and date of birth',
      'of_tomorrow',
    ])
    expect(await buttons.nth(3).isDisabled()).toBe(true)
    for (const each of await page.getByRole('button').all()) {
      const { height } = (await each.boundingBox()) ?? { height: 0 }
      expect(height).toBeGreaterThanOrEqual(64)
    }
    expect(await page.getByText('Test: sandbox documents count here.').isVisible()).toBe(true)
    expect(await page.getByText('Connected').isVisible()).toBe(true)
    await look(page, 'idle')
    expect(page.complaints).toEqual([])
  })

  browserTest('each button requests its template', async openPage => {
    const { app, key, page } = await openTill(openPage)
    for (const [title, template] of [
      ['Age 18 or over', 'age_over_18'],
      ['Age 18 or over, with photo', 'age_over_18_photo'],
      ['Name and date of birth', 'identity_basic'],
    ] as const) {
      await ask(page, title)
      const { body } = await app.call<{ data: Verification[] }>('GET', '/v1/verifications?limit=1', { key })
      expect(body.data[0]?.template).toBe(template)
      await stopCheck(page)
    }
  })

  browserTest('a spent quota is shown', async openPage => {
    const { app, tenantId, page } = await openTill(openPage)
    await changeTenant(app.deps, tenantId, { dailyQuota: 0 }, 'test')
    await button(page, 'Age 18 or over').click()
    await page.getByRole('alert').getByText("Today's checks are used up.").waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('quota_exceeded')
    await look(page, 'idle-refused')
  })

  browserTest('a live till has no test band', async openPage => {
    const { page } = await openTill(openPage, { live: true })
    await button(page, 'Age 18 or over').click()
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    expect(await page.getByText('sandbox').count()).toBe(0)
  })
})

describe('asking', () => {
  browserTest("a check shows a scannable code, the purpose, and the time left by the server's clock", async openPage => {
    const { page } = await openTill(openPage)
    const uri = await ask(page)
    // The test's clock and the browser's are months apart.
    expect(await page.getByRole('timer').textContent()).toMatch(/^(5:00|4:[45]\d)$/)
    expect(await page.getByText('To check that you are 18 or over').isVisible()).toBe(true)
    expect(uri).toStartWith('openid4vp://')
    expect(await readCode(page)).toBe(uri)
    await look(page, 'asking')
    expect(page.complaints).toEqual([])
  })

  browserTest('the whole code fits on every screen, upright or landscape', async openPage => {
    const { page } = await openTill(openPage)
    await ask(page)
    for (const [width, height] of SCREENS) {
      await page.setViewportSize({ width, height })
      const box = (await page.getByRole('img', { name: /QR code/ }).boundingBox())!
      expect(Math.min(box.x, box.y)).toBeGreaterThanOrEqual(0)
      expect(box.x + box.width).toBeLessThanOrEqual(width)
      expect(box.y + box.height).toBeLessThanOrEqual(height)
      expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(Math.min(width, height) * 0.5)
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    }
  })

  browserTest('a scanned code is hidden, and shown again on request', async openPage => {
    const { app, page } = await openTill(openPage)
    const uri = await ask(page)
    await fetchOf(app)(new URL(uri).searchParams.get('request_uri')!, {})
    await heading(page, "Waiting for the customer's consent").waitFor()
    expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(0)
    await look(page, 'scanned')
    await page.reload()
    await heading(page, "Waiting for the customer's consent").waitFor()
    await button(page, 'Show the code again').click()
    expect(await walletUri(page)).toBe(uri)
    await answer(app, uri)
    await heading(page, 'Yes').waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('a check is not stopped by one tap, a key or a reload', async openPage => {
    const till = await openTill(openPage)
    const { page } = till
    const uri = await ask(page)
    await button(page, 'Stop this check').click()
    await page.getByRole('dialog', { name: 'Stop this check?' }).waitFor()
    await look(page, 'stop')
    await button(page, 'Keep waiting').click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('1')
    await page.reload()
    expect(await walletUri(page)).toBe(uri)
    expect(sessionsOf(till)).toHaveLength(1)
    await stopCheck(page)
    expect(await keptBy(page)).not.toHaveProperty('check')
    expect(page.complaints).toEqual([])
  })

  browserTest('a stopped check is cancelled on the server, and no wallet can answer it', async openPage => {
    const { app, key, page } = await openTill(openPage)
    const uri = await ask(page)
    await stopCheck(page)
    const { body } = await app.call<{ data: { id: string; error: { code: string } }[] }>('GET', '/v1/verifications', { key })
    expect(body.data.map(({ error }) => error.code)).toEqual(['cancelled'])
    expect((await fetchOf(app)(new URL(uri).searchParams.get('request_uri')!, {})).status).toBe(410)
    expect(page.complaints).toEqual([])
  })

  browserTest('an answer that arrives before the stop is shown, with a note', async openPage => {
    const { app, page } = await openTill(openPage)
    const uri = await ask(page)
    await button(page, 'Stop this check').click()
    // The answer arrives before the cancellation.
    await page.route('**/cancel', async route => {
      await answer(app, uri)
      await route.continue()
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Stop this check' }).click()
    await heading(page, 'Yes').waitFor()
    await page.getByText('The answer came before this check could be stopped.').waitFor()
    expect(await keptBy(page)).toHaveProperty('check')
  })

  browserTest('a check that is cancelled elsewhere is shown as stopped, neither yes nor no', async openPage => {
    const { app, key, page } = await openTill(openPage)
    await ask(page)
    const { body } = await app.call<{ data: { id: string }[] }>('GET', '/v1/verifications', { key })
    await app.call('POST', `/v1/verifications/${body.data[0]?.id}/cancel`, { key })
    await page.locator('main.verdict').waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Stopped')
    expect(await page.locator('main.verdict').getAttribute('class')).toBe('verdict wait')
    expect(page.complaints).toEqual([])
  })

  browserTest('a stop without the server is sent when it is back, and can be left before', async openPage => {
    const { page } = await openTill(openPage)
    await ask(page)
    let isAway = true
    await page.route('**/cancel', route => (isAway ? route.abort() : route.continue()))
    await button(page, 'Stop this check').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop this check' }).click()
    await heading(page, 'Stopping this check').waitFor()
    await page.reload()
    await heading(page, 'Stopping this check').waitFor()
    isAway = false
    await isIdle(page)
    await ask(page)
    isAway = true
    await button(page, 'Stop this check').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop this check' }).click()
    await button(page, 'Do not wait for that').click()
    await isIdle(page)
  })
})

describe('a customer without a wallet', () => {
  browserTest('after a minute of waiting the till says what to do, and one tap ends the check', async openPage => {
    const { app, page, key } = await openTill(openPage, { browser: { viewport: { width: 820, height: 1180 } } })
    await page.clock.install({ time: app.clock.now() })
    await page.reload()
    await ask(page)
    const line = page.getByText('No wallet? Ask for a paper document.')
    await page.clock.runFor(55_000)
    expect(await line.count()).toBe(0)
    await page.clock.runFor(6000)
    await line.waitFor()
    await look(page, 'no-wallet')
    await button(page, 'End without a result').click()
    await isIdle(page)
    const { body } = await app.call<{ data: Verification[] }>('GET', '/v1/verifications', { key })
    expect([body.data[0]?.status, body.data[0]?.error?.code]).toEqual(['failed', 'cancelled'])
    expect(page.complaints).toEqual([])
  })

  browserTest(
    'the waiting screen fits a tablet in portrait while its code leads to localhost, the new line included',
    async openPage => {
      const { app, page } = await openTill(openPage, { browser: { viewport: { width: 820, height: 1180 } } })
      await page.clock.install({ time: app.clock.now() })
      await page.reload()
      await ask(page)
      await page.getByText('This code leads to localhost, which a phone cannot reach.').waitFor()
      const hidden = () => page.locator('main').evaluate(main => main.scrollHeight - main.clientHeight)
      for (const [width, height] of [
        [720, 1280],
        [768, 1024],
        [820, 1180],
        [1080, 1920],
      ] as const) {
        await page.setViewportSize({ width, height })
        expect([width, height, await hidden()]).toEqual([width, height, 0])
      }
      await page.clock.runFor(61_000)
      await page.getByText('No wallet? Ask for a paper document.').waitFor()
      await page.setViewportSize({ width: 820, height: 1180 })
      expect(await hidden()).toBe(0)
    },
  )
})

describe('the focus', () => {
  browserTest('the heading of each new screen has the focus, and nothing else is announced', async openPage => {
    const { app, page } = await openTill(openPage)
    await isReadByFocus(page, 'What do you want to check?')
    await page.keyboard.press('Tab')
    await isFocused(button(page, 'Age 18 or over'))
    await page.keyboard.press('Enter')
    await isReadByFocus(page, 'Scan with your wallet')
    await page.keyboard.press('Tab')
    await isFocused(button(page, 'Stop this check'))
    const uri = await walletUri(page)
    await fetchOf(app)(new URL(uri).searchParams.get('request_uri')!, {})
    await isReadByFocus(page, "Waiting for the customer's consent")
    await page.keyboard.press('Tab')
    await isFocused(button(page, 'Show the code again'))
    await page.keyboard.press('Enter')
    await isReadByFocus(page, 'Scan with your wallet')
    await answer(app, uri)
    await isFocused(button(page, 'Next customer'))
    expect(await saidAloud(page)).toBe('Yes. 18 or over.')
    await page.keyboard.press('Enter')
    await isReadByFocus(page, 'What do you want to check?')
    await page.keyboard.press('1')
    await isReadByFocus(page, 'Scan with your wallet')
    expect(page.complaints).toEqual([])
  })

  browserTest('one heading keeps the focus while a check starts', async openPage => {
    const { page } = await openTill(openPage)
    const opened = Promise.withResolvers<void>()
    const known = Promise.withResolvers<void>()
    await page.route('**/v1/verifications', route => opened.promise.then(() => route.continue()))
    await page.route('**/v/*/data', route => known.promise.then(() => route.continue()))
    await button(page, 'Age 18 or over').press('Enter')
    await isReadByFocus(page, 'Starting')
    const starting = await heading(page, 'Starting').elementHandle()
    const asked = page.waitForRequest('**/v/*/data')
    opened.resolve()
    await asked
    expect(await starting?.evaluate(element => element === document.activeElement)).toBe(true)
    known.resolve()
    await isReadByFocus(page, 'Scan with your wallet')
  })

  browserTest('the focus stays on an element in use, and the new screen is announced', async openPage => {
    const { app, page } = await openTill(openPage)
    const uri = await ask(page)
    const sound = button(page, 'Sound')
    await sound.focus()
    await fetchOf(app)(new URL(uri).searchParams.get('request_uri')!, {})
    await heading(page, "Waiting for the customer's consent").waitFor()
    await page.locator('[aria-live=assertive]').getByText("Waiting for the customer's consent").waitFor()
    await isFocused(sound)
  })
})

const saidAloud = (page: Page) => page.locator('[aria-live=assertive]').textContent()

async function isReadByFocus(page: Page, name: string): Promise<void> {
  await isFocused(heading(page, name))
  await hasNoRing(page)
  await until(async () => (await saidAloud(page)) === '')
}

async function stopCheck(page: Page): Promise<void> {
  await button(page, 'Stop this check').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop this check' }).click()
  await isIdle(page)
}
