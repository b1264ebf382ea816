// The photo check at a till: nothing is green or red before the service has the cashier's answer.
import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { sweepHeld } from '../../src/verifications/end/release.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { browserTest } from '../helpers/browser.ts'
import { shareService } from '../helpers/shop.ts'
import { answer, ask, button, heading, isIdle, keptBy, look, loseAnswer, openTill, type PairedTill } from '../helpers/till.ts'

shareService()

const QUESTION = 'Is this the customer?'
const photo = (page: Page) => page.getByRole('img', { name: 'Photo from the document' })

/** Answered, and held for the comparison; gives the id. */
async function hold({ app, page }: Pick<PairedTill, 'app' | 'page'>): Promise<string> {
  await answer(app, await ask(page, 'Age 18 or over, with photo'))
  await heading(page, QUESTION).waitFor()
  return ((await keptBy(page)).check as { id: string }).id
}

const readOf = async ({ app, key }: Pick<PairedTill, 'app' | 'key'>, id: string) =>
  (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body

describe('the comparison at the till', () => {
  browserTest('"Same person" is green only after the service has completed the session', async openPage => {
    const till = await openTill(openPage)
    const { page } = till
    const id = await hold(till)
    await photo(page).evaluate(image => (image as HTMLImageElement).decode())
    expect(await page.locator('.verdict').count()).toBe(0)
    expect(((await photo(page).boundingBox()) ?? { height: 0 }).height).toBeGreaterThan(500)
    expect(await page.getByText(/[12]:\d\d left/).isVisible()).toBe(true)
    await look(page, 'compare')
    expect((await readOf(till, id)).status).toBe('pending')
    const asked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    await page.route('**/comparison', async route => {
      asked.resolve()
      await released.promise
      await route.continue()
    })
    await button(page, 'Same person').click()
    await asked.promise
    await heading(page, 'Recording your answer').waitFor()
    expect(await page.locator('.verdict').count()).toBe(0)
    released.resolve()
    await page.locator('.verdict.ok').waitFor()
    expect((await readOf(till, id)).status).toBe('completed')
    expect(await page.content()).not.toContain('data:image')
    await page.reload()
    await page.locator('.verdict.ok').waitFor()
    await button(page, 'Next customer').click()
    await isIdle(page)
    expect(page.complaints).toEqual([])
  })

  browserTest('"Not the same person" is sent after five seconds, in which it can be taken back', async openPage => {
    const till = await openTill(openPage)
    const { app, page } = till
    await page.clock.install({ time: app.clock.now() })
    await page.reload()
    const id = await hold(till)
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
    await button(page, 'Not the same person').click()
    await heading(page, 'Not the same person').waitFor()
    await page.clock.runFor(4000)
    expect((await readOf(till, id)).status).toBe('pending')
    await button(page, 'Take it back').click()
    await heading(page, QUESTION).waitFor()
    await page.clock.runFor(10_000)
    expect((await readOf(till, id)).status).toBe('pending')
    await button(page, 'Not the same person').click()
    await heading(page, 'Not the same person').waitFor()
    await page.clock.runFor(5500)
    await page.locator('.verdict.no').waitFor()
    expect(await page.locator('.verdict h1').textContent()).toBe('Not the same person')
    expect(await page.locator('.sentence').textContent()).toBe('The customer is not the person on the photo.')
    expect((await readOf(till, id)).error?.code).toBe('not_same_person')
    expect(page.complaints).toEqual([])
  })

  browserTest('"Not the same person" of the last three seconds is sent before the time is over', async openPage => {
    const till = await openTill(openPage)
    const { app, page } = till
    await page.clock.install({ time: app.clock.now() })
    await page.reload()
    const id = await hold(till)
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
    const [, minutes, seconds] = /(\d):(\d\d) left/.exec((await page.locator('.compare').textContent()) ?? '') ?? []
    app.clock.advance(117_000)
    await page.clock.fastForward((Number(minutes) * 60 + Number(seconds) - 3) * 1000)
    await button(page, 'Not the same person').click()
    await button(page, 'Take it back').waitFor()
    await page.clock.runFor(3500)
    await page.locator('.verdict.no').waitFor()
    expect((await readOf(till, id)).error?.code).toBe('not_same_person')
  })

  browserTest('a decision that a reload delivers after half a minute shows its verdict', async openPage => {
    const till = await openTill(openPage)
    const { page } = till
    const id = await hold(till)
    await page.route(
      '**/comparison',
      async route => await (route.request().method() === 'POST' ? route.abort() : route.continue()),
    )
    await button(page, 'Same person').click()
    await page.getByText('Your answer has not reached the server.').waitFor()
    await page.evaluate(() => {
      const name = Object.keys(localStorage).find(each => each.endsWith(' check'))!
      const { decision, ...check } = JSON.parse(localStorage.getItem(name)!)
      localStorage.setItem(name, JSON.stringify({ ...check, decision: { ...decision, at: decision.at - 30_000 } }))
    })
    await page.unroute('**/comparison')
    await page.reload()
    await page.locator('.verdict.ok').waitFor()
    expect((await readOf(till, id)).status).toBe('completed')
  })

  browserTest('a reload during the hold resumes the comparison, and one after the decision sends it', async openPage => {
    const till = await openTill(openPage)
    const { page } = till
    const id = await hold(till)
    await page.reload()
    await heading(page, QUESTION).waitFor()
    await photo(page).waitFor()
    expect(JSON.stringify(await page.evaluate(() => ({ ...localStorage, ...sessionStorage })))).not.toContain('data:image')
    await button(page, 'Not the same person').click()
    await button(page, 'Take it back').waitFor()
    await page.reload()
    await look(page, 'take-back')
    await page.locator('.verdict.no').waitFor()
    await look(page, 'other-person')
    expect((await readOf(till, id)).error?.code).toBe('not_same_person')
    expect(page.complaints).toEqual([])
  })

  browserTest('a decision whose response is lost shows the recorded outcome', async openPage => {
    const till = await openTill(openPage)
    const { page } = till
    const id = await hold(till)
    const lost = await loseAnswer(page, `v1/verifications/${id}/comparison`)
    await button(page, 'Same person').click()
    await page.locator('.verdict.ok').waitFor()
    expect(lost.count()).toBe(1)
    expect((await readOf(till, id)).status).toBe('completed')
  })

  browserTest('offline, the till says what to do, and sends the decision when the network is back', async openPage => {
    const till = await openTill(openPage)
    const { page } = till
    const id = await hold(till)
    await page.context().setOffline(true)
    await button(page, 'Same person').click()
    const advice = page.getByText('Your answer has not reached the server. Do not accept yet')
    await advice.waitFor()
    await look(page, 'undelivered')
    expect(await page.locator('.verdict').count()).toBe(0)
    expect((await readOf(till, id)).status).toBe('pending')
    await page.context().setOffline(false)
    await page.locator('.verdict.ok').waitFor()
    expect((await readOf(till, id)).status).toBe('completed')
  })

  browserTest('a comparison that nobody decided is neither a yes nor a no', async openPage => {
    const till = await openTill(openPage)
    const { app, page } = till
    const id = await hold(till)
    app.clock.advance(120_000)
    await sweepHeld(app.deps)
    await heading(page, 'Not compared').waitFor()
    expect(await page.locator('.verdict').getAttribute('class')).toBe('verdict wait')
    await look(page, 'not-compared')
    expect((await readOf(till, id)).error?.code).toBe('not_compared')
    await button(page, 'Next customer').click()
    await isIdle(page)
  })

  browserTest('the next customer can be served without a comparison', async openPage => {
    const till = await openTill(openPage)
    const { page } = till
    const id = await hold(till)
    await button(page, 'Next customer, without comparing').click()
    await isIdle(page)
    expect((await readOf(till, id)).status).toBe('pending')
  })

  browserTest('the comparison fits phone, tablet and landscape, in German too', async openPage => {
    const till = await openTill(openPage)
    const { page } = till
    await hold(till)
    for (const german of [false, true]) {
      if (german) await button(page, 'Deutsch').click()
      for (const [width, height] of [
        [390, 844],
        [820, 1180],
        [1024, 768],
      ] as const) {
        await page.setViewportSize({ width, height })
        await photo(page)
          .or(page.getByRole('img', { name: 'Foto aus dem Ausweis' }))
          .waitFor()
        expect(await page.locator('main').evaluate(main => main.scrollHeight <= main.clientHeight)).toBe(true)
        const buttons = await page.locator('main button').all()
        for (const each of buttons) {
          const box = (await each.boundingBox())!
          expect([box.x >= 0, box.y >= 0, box.x + box.width <= width, box.y + box.height <= height]).toEqual(Array(4).fill(true))
        }
        await look(page, `compare-${width}${german ? '-german' : ''}`)
      }
    }
    expect(page.complaints).toEqual([])
  })
})
