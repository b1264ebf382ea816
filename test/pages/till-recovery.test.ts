// Failures of a till: lost responses, expired tokens, an unreachable server, two tabs.
import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../helpers/app.ts'
import { browserTest, expectAccessible, NO_PLACE, shoot } from '../helpers/browser.ts'
import { rowsOf } from '../helpers/database.ts'
import { deviceOf, register } from '../helpers/devices.ts'
import { type Shop, sessionsOf, shareService, startAgain, startShop } from '../helpers/shop.ts'
import {
  answer,
  ask,
  button,
  heading,
  isIdle,
  keptBy,
  loseAnswer,
  openTill,
  type PairedTill,
  UNREACHABLE,
  wake,
  walletUri,
} from '../helpers/till.ts'

shareService()

const HOUR_MS = 3_600_000
const SLOW_MS = 300

/** Token pairs of a shop's devices: one from the pairing, one more from each refresh. */
const pairsOf = ({ app, tenantId }: Shop) =>
  rowsOf(
    app.dir,
    `SELECT hash FROM device_tokens WHERE kind = 'refresh' AND device_id IN (SELECT id FROM devices WHERE tenant_id = '${tenantId}')`,
  ).length

function countRequests(pages: readonly Page[], path: string): { count: () => number } {
  let count = 0
  for (const page of pages)
    page.on('request', request => {
      if (request.url().endsWith(path)) count++
    })
  return { count: () => count }
}

function countRefusals(page: Page): { count: () => number } {
  let count = 0
  page.on('response', response => {
    if (response.status() === 401) count++
  })
  return { count: () => count }
}

describe('a lost answer', () => {
  browserTest('a lost response to the pairing is requested again, and pairs one device once', async openPage => {
    const shop = await startShop()
    const { app, origin, key } = shop
    const { device, pairing_code } = await register(app, key)
    const page = await openPage(origin, { serviceWorkers: 'block' })
    await page.goto(`/till#pair=${pairing_code}`)
    const lost = await loseAnswer(page, 'v1/devices/enroll')
    await button(page, 'Pair this till').click()
    await isIdle(page)
    expect(lost.count()).toBe(1)
    expect((await deviceOf(app, key, device.id)).status).toBe('active')
    expect(pairsOf(shop)).toBe(1)
  })

  browserTest('a lost response to the pairing survives a reload', async openPage => {
    const shop = await startShop()
    const { app, origin, key } = shop
    const { pairing_code } = await register(app, key)
    const page = await openPage(origin, { serviceWorkers: 'block' })
    await page.goto(`/till#pair=${pairing_code}`)
    const lost = await loseAnswer(page, 'v1/devices/enroll')
    await button(page, 'Pair this till').click()
    await until(async () => lost.count() === 1)
    await page.reload()
    await isIdle(page)
    expect(pairsOf(shop)).toBe(1)
    expect(await keptBy(page)).not.toHaveProperty('pairing')
  })

  browserTest('a lost response to a second pairing survives a reload', async openPage => {
    const till = await openTill(openPage)
    const { app, key, page } = till
    const { pairing_code } = await register(app, key, { name: 'Till 2' })
    await page.goto(`/till#pair=${pairing_code}`)
    const lost = await loseAnswer(page, 'v1/devices/enroll')
    await button(page, 'Pair this till').click()
    await until(async () => lost.count() === 1)
    await page.reload()
    await page.getByText('Till 2').waitFor()
    await isIdle(page)
    expect(pairsOf(till)).toBe(2)
  })

  browserTest('a lost response to a creation is requested again, after a reload too, and opens one session', async openPage => {
    const till = await openTill(openPage)
    const { app, page } = till
    const lost = await loseAnswer(page, 'v1/verifications')
    await button(page, 'Age 18 or over').click()
    await until(async () => lost.count() === 1)
    expect(sessionsOf(till)).toHaveLength(1)
    await page.reload()
    await answer(app, await walletUri(page))
    await heading(page, 'Yes').waitFor()
    expect(sessionsOf(till)).toHaveLength(1)
  })

  browserTest('a lost response to a refresh is requested again, after a reload too, and keeps the pairing', async openPage => {
    const till = await openTill(openPage)
    const { app, key, page, device } = till
    const lost = await loseAnswer(page, 'v1/devices/token')
    app.clock.advance(HOUR_MS)
    await button(page, 'Age 18 or over').click()
    await until(async () => lost.count() === 1)
    await page.reload()
    await walletUri(page)
    expect((await deviceOf(app, key, device.id)).status).toBe('active')
    expect(pairsOf(till)).toBe(2)
    expect(sessionsOf(till)).toHaveLength(1)
  })

  browserTest('a lost result is requested again', async openPage => {
    const { app, page } = await openTill(openPage)
    const uri = await ask(page)
    const { id } = (await keptBy(page)).check as { id: string }
    const lost = await loseAnswer(page, `v1/verifications/${id}`)
    await answer(app, uri)
    await heading(page, 'Yes').waitFor()
    expect(lost.count()).toBe(1)
  })
})

browserTest('a till polls when all places for streams are taken', async openPage => {
  const { app, page } = await openTill(openPage)
  await page.route('**/events', route => route.fulfill(NO_PLACE))
  const refused = page.waitForResponse('**/events')
  const uri = await ask(page)
  expect((await refused).status()).toBe(429)
  await answer(app, uri)
  await heading(page, 'Yes').waitFor()
})

describe('a token', () => {
  browserTest('an expired token is refreshed, and the check continues', async openPage => {
    const till = await openTill(openPage)
    const { app, page } = till
    const before = (await keptBy(page)).tokens
    app.clock.advance(HOUR_MS)
    await answer(app, await ask(page))
    await heading(page, 'Yes').waitFor()
    expect(pairsOf(till)).toBe(2)
    expect((await keptBy(page)).tokens).not.toEqual(before)
  })

  browserTest('an idle till refreshes its token before it expires', async openPage => {
    const till = await openTill(openPage)
    const { page } = till
    await page.clock.install()
    await page.reload()
    await isIdle(page)
    const beats = countRequests([page], '/till/data')
    await page.clock.fastForward(HOUR_MS - 6 * 60_000)
    await until(async () => beats.count() > 0)
    expect(pairsOf(till)).toBe(1)
    await page.clock.fastForward(2 * 60_000)
    await until(async () => pairsOf(till) === 2)
    expect(page.complaints).toEqual([])
  })

  for (const locks of ['with locks', 'without locks, as on a LAN without https']) {
    browserTest(`two tabs refresh a token once, ${locks}`, async openPage => {
      const till = await openTill(openPage)
      const { app, key, page, device } = till
      const other = await secondTab(till)
      if (locks !== 'with locks') {
        for (const tab of [page, other]) {
          await tab.addInitScript(() => Object.defineProperty(navigator, 'locks', { value: undefined }))
          await tab.reload()
          await isIdle(tab)
        }
      }
      const refreshes = countRequests([page, other], '/v1/devices/token')
      // The first refresh is slow: it ends after both tabs have had a 401.
      const told = [page, other].map(tab => countRefusals(tab))
      for (const tab of [page, other])
        await tab.route('**/v1/devices/token', async route => {
          await until(async () => told.every(({ count }) => count() > 0))
          await Bun.sleep(SLOW_MS)
          await route.continue()
        })
      app.clock.advance(HOUR_MS)
      await Promise.all([wake(page), wake(other)])
      await Promise.all([ask(page), walletUri(other)])
      expect(refreshes.count()).toBe(1)
      expect(pairsOf(till)).toBe(2)
      expect((await deviceOf(app, key, device.id)).status).toBe('active')
      expect(sessionsOf(till)).toHaveLength(1)
    })
  }

  browserTest('a revoked till shows the pairing with the reason, and can be paired again', async openPage => {
    const { app, key, page, device } = await openTill(openPage)
    await ask(page)
    await app.call('DELETE', `/v1/devices/${device.id}`, { key })
    await wake(page)
    await heading(page, 'This till is not paired any more.').waitFor()
    expect(Object.keys(await keptBy(page))).toEqual(['isUnpaired'])
    await page.reload()
    await heading(page, 'This till is not paired any more.').waitFor()
    await expectAccessible(page)
    await shoot(page, 'till-unpaired')
    const { pairing_code } = await register(app, key)
    await page.getByLabel('Pairing code').fill(pairing_code)
    await page.keyboard.press('Enter')
    await isIdle(page)
  })

  browserTest('a till that is revoked while it shows a code takes it away within five seconds', async openPage => {
    const { app, key, page, device } = await openTill(openPage)
    await page.clock.install()
    await page.reload()
    await isIdle(page)
    const polled = page.waitForResponse(/till\/data/)
    await ask(page)
    await polled
    await page.clock.pauseAt(Date.now() + 4000)
    await app.call('DELETE', `/v1/devices/${device.id}`, { key })
    await page.clock.runFor(5000)
    await heading(page, 'This till is not paired any more.').waitFor()
    expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(0)
  })

  browserTest('a till that is revoked during a creation shows the pairing, not an error of the check', async openPage => {
    const { app, key, page, device } = await openTill(openPage)
    await app.call('DELETE', `/v1/devices/${device.id}`, { key })
    await button(page, 'Age 18 or over').click()
    await heading(page, 'This till is not paired any more.').waitFor()
    const { pairing_code } = await register(app, key)
    await page.getByLabel('Pairing code').fill(pairing_code)
    await page.keyboard.press('Enter')
    await isIdle(page)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  browserTest('a till whose refresh token was used elsewhere shows the pairing', async openPage => {
    const { app, page } = await openTill(openPage)
    const { refresh } = (await keptBy(page)).tokens as { refresh: string }
    await app.call('POST', '/v1/devices/token', { body: { refresh_token: refresh } })
    app.clock.advance(HOUR_MS)
    await wake(page)
    await heading(page, 'This till is not paired any more.').waitFor()
  })
})

describe('a server that is away', () => {
  browserTest('an unreachable server is shown at once, and the till continues when it is back', async openPage => {
    const till = await openTill(openPage, { service: {} })
    const { app, page } = till
    const uri = await ask(page)
    await app.stop()
    await page.getByText(UNREACHABLE).waitFor()
    // The code stays: a customer may still answer.
    expect(await page.getByRole('img', { name: /QR code/ }).isVisible()).toBe(true)
    await expectAccessible(page)
    await shoot(page, 'till-unreachable')
    const before = await page.getByRole('timer').textContent()
    await until(async () => (await page.getByRole('timer').textContent()) !== before)
    const again = await startAgain(till)
    await wake(page)
    await answer(again, uri)
    await heading(page, 'Yes').waitFor()
    await page.getByText('Connected').waitFor()
  })

  browserTest('a check started without the server begins once when it is back', async openPage => {
    const till = await openTill(openPage, { service: {} })
    const { app, page } = till
    await app.stop()
    await button(page, 'Age 18 or over').click()
    await page.getByText(UNREACHABLE).waitFor()
    await heading(page, 'Starting').waitFor()
    await startAgain(till)
    await wake(page)
    await walletUri(page)
    expect(sessionsOf(till)).toHaveLength(1)
  })

  browserTest('the code disappears when its time is up without the server, which then decides', async openPage => {
    const { app, page } = await openTill(openPage)
    await page.clock.install()
    const uri = await ask(page)
    await page.clock.fastForward(301_000)
    await heading(page, 'Time is up. Asking the server how it ended.').waitFor()
    expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(0)
    // By the server's clock the time is not up.
    await answer(app, uri)
    await heading(page, 'Yes').waitFor()
  })

  browserTest('a device without network is shown differently from an unreachable server', async openPage => {
    const { page } = await openTill(openPage)
    await page.context().setOffline(true)
    await button(page, 'Age 18 or over').click()
    await page.getByText('This device has no network.').waitFor()
    await page.context().setOffline(false)
    await walletUri(page)
    await page.getByText('Connected').waitFor()
  })
})

/** Another tab of the same till. */
async function secondTab({ page }: PairedTill): Promise<Page> {
  const opened = page.waitForEvent('popup')
  await page.evaluate(() => void open('/till'))
  const other = await opened
  await isIdle(other)
  return other
}
