// The hosted page on a desktop with the wallet on a phone: the page returns to the shop.
import { afterAll, beforeAll, describe, expect } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import type { HostedVerification, Verification } from '../../src/verifications/schema.ts'
import { createVerification } from '../helpers/app.ts'
import { browserTest, expectAccessible, type OpenPage, readCode, shoot, type WatchedPage } from '../helpers/browser.ts'
import { shareService, startShop } from '../helpers/shop.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

shareService()

const DESKTOP = { viewport: { width: 1440, height: 900 } }
const THANKS = /\/thanks\?order=17#response_code=([\w-]{43})$/

let shop: Bun.Server<undefined>

beforeAll(() => {
  const page = '<!doctype html><title>Thanks</title>'
  shop = Bun.serve({ port: 0, fetch: () => new Response(page, { headers: { 'content-type': 'text/html' } }) })
})
afterAll(() => shop.stop(true))

/** A session of a shop, and its page in one or more browsers. */
async function openSession(openPage: OpenPage, options: BrowserContextOptions = DESKTOP) {
  const { app, key } = await startShop()
  const redirect_url = `http://localhost:${shop.port}/thanks?order=17`
  const session = await createVerification(app, key, { purpose: 'To sell you wine', redirect_url })
  const open = async ({ holdsTimers = false } = {}) => {
    const page = await openPage(app.deps.config.publicUrl, options)
    if (holdsTimers) await page.addInitScript(HOLD_TIMERS)
    await page.goto(`/v/${session.id}`)
    await page.getByRole('img', { name: /QR/ }).waitFor()
    return page
  }
  const answer = async (link: string, persona?: PersonaId) => await answerWith(app, await holderOf(app, persona), link)
  const answerByQr = async (persona?: PersonaId) => {
    const { body } = await app.call<HostedVerification>('GET', `/v/${session.id}/data`)
    return await answer(body.qr_uri ?? '', persona)
  }
  const redeem = async (url: string) => {
    const body = { response_code: THANKS.exec(url)?.[1] }
    return await app.call<Verification>('POST', `/v1/verifications/${session.id}/redeem`, { key, body })
  }
  return { app, session, redirect_url, open, answer, answerByQr, redeem }
}

/** Timers of two seconds fire when the test calls them. */
const HOLD_TIMERS = `
  const start = window.setTimeout
  const stop = window.clearTimeout
  window.held = new Map()
  window.setTimeout = (act, ms, ...rest) => {
    if (ms !== 2000) return start(act, ms, ...rest)
    const id = -1 - window.held.size
    window.held.set(id, act)
    return id
  }
  window.clearTimeout = id => (window.held.delete(id) ? undefined : stop(id))
`
const heldTimers = (page: Page) => page.evaluate<number>('window.held.size')
const letTwoSecondsPass = (page: Page) => page.evaluate('for (const act of window.held.values()) act()')

const backLink = (page: Page) => page.getByRole('link', { name: 'Back to Wine & Co', exact: true })

/** Requests to the shop, another origin, are expected. */
const complaintsOf = ({ complaints }: WatchedPage) => complaints.filter(each => !each.startsWith('request to http://localhost'))

describe('the hosted page on a desktop', () => {
  browserTest('after an answer by phone the page returns by itself with a redeemable code', async openPage => {
    const { open, answer, redeem } = await openSession(openPage)
    const page = await open()
    const { redirectUri } = await answer(await readCode(page))
    expect(redirectUri).toBeUndefined()
    await page.waitForURL(THANKS)
    const { status, body } = await redeem(page.url())
    expect([status, body.status]).toEqual([200, 'completed'])
    expect(complaintsOf(page)).toEqual([])
  })

  browserTest('the page announces its return, offers the link at once, and leaves after two seconds', async openPage => {
    const { open, answerByQr, redeem } = await openSession(openPage)
    const page = await open({ holdsTimers: true })
    await answerByQr()
    await page.getByText('You go back to Wine & Co in a moment.', { exact: true }).waitFor()
    expect(await page.getByRole('status').textContent()).toBe('Verified. Thank you. You go back to Wine & Co in a moment.')
    expect([await page.title(), await heldTimers(page)]).toEqual(['Verified. Thank you.', 1])
    const href = await backLink(page).getAttribute('href')
    await expectAccessible(page)
    await shoot(page, 'hosted-returning')
    const entries = await page.evaluate('history.length')
    await letTwoSecondsPass(page)
    await page.waitForURL(THANKS)
    expect(page.url()).toBe(href ?? '')
    expect((await redeem(page.url())).status).toBe(200)
    // The shop replaced the page, so "back" does not lead to it.
    expect(await page.evaluate('history.length')).toBe(entries)
  })

  browserTest('the page returns with a code after a declined request, in German too', async openPage => {
    const { open, answerByQr, redeem } = await openSession(openPage, { ...DESKTOP, locale: 'de-DE' })
    const page = await open({ holdsTimers: true })
    await answerByQr('declines')
    await page.getByText('Gleich geht es zurück zu Wine & Co.', { exact: true }).waitFor()
    await expectAccessible(page)
    await shoot(page, 'hosted-returning-german')
    await letTwoSecondsPass(page)
    await page.waitForURL(THANKS)
    const { status, body } = await redeem(page.url())
    expect([status, body.status, body.error?.code]).toEqual([200, 'failed', 'wallet_declined'])
    expect(complaintsOf(page)).toEqual([])
  })

  browserTest('a second browser gets the status, but neither the way back nor a code', async openPage => {
    const { open, answer, redeem } = await openSession(openPage)
    const owner = await open()
    const second = await open()
    const answers: Promise<string>[] = []
    second.on('response', response => {
      if (/\/v\/\w+\/\w+$/.test(response.url())) answers.push(response.text())
    })
    // Scanned from the second browser: the code still belongs to the first.
    await answer(await readCode(second))
    await second.getByRole('heading', { level: 1, name: 'Verified. Thank you.' }).waitFor()
    expect(await backLink(second).count()).toBe(0)
    await owner.waitForURL(THANKS)
    await second.reload()
    await second.getByRole('heading', { level: 1, name: 'Verified. Thank you.' }).waitFor()
    const heard = (await Promise.all(answers)).join('\n')
    expect(heard).toContain('"owner":false')
    expect(heard + (await second.content())).not.toMatch(/response_code|returns/)
    expect((await redeem(owner.url())).status).toBe(200)
    expect(complaintsOf(second)).toEqual([])
  })

  browserTest('the owning browser keeps its right through reloads', async openPage => {
    const { open, answerByQr, redeem } = await openSession(openPage)
    const page = await open({ holdsTimers: true })
    await page.reload()
    await page.getByRole('img', { name: /QR/ }).waitFor()
    await answerByQr()
    await backLink(page).waitFor()
    const first = (await backLink(page).getAttribute('href')) ?? ''
    await page.reload()
    await backLink(page).click()
    await page.waitForURL(THANKS)
    expect(page.url()).not.toBe(first)
    expect((await redeem(first)).status).toBe(404)
    expect((await redeem(page.url())).status).toBe(200)
  })

  browserTest('the shopper can stay on the page, which keeps a link with the code', async openPage => {
    const { open, answerByQr, redeem } = await openSession(openPage)
    const page = await open({ holdsTimers: true })
    await answerByQr()
    await page.getByRole('button', { name: 'Stay on this page' }).click()
    await page.getByText('You can close this page.').waitFor()
    expect(await page.getByRole('status').textContent()).toBe('Verified. Thank you.')
    await page.waitForFunction('window.held.size === 0')
    await backLink(page).click()
    await page.waitForURL(THANKS)
    expect((await redeem(page.url())).status).toBe(200)
  })

  browserTest('the page does not leave after an answer on the same device: that wallet has the redirect', async openPage => {
    const { session, open, answer, redirect_url } = await openSession(openPage)
    const page = await open({ holdsTimers: true })
    const { redirectUri } = await answer(session.wallet_uri ?? '')
    expect(redirectUri).toMatch(THANKS)
    await page.getByText('Wine & Co has the answer. You can close this page.').waitFor()
    expect(await backLink(page).getAttribute('href')).toBe(redirect_url)
    expect([await page.getByText('in a moment').count(), await heldTimers(page)]).toEqual([0, 0])
  })

  browserTest('a page in the background waits, since another tab may be in front', async openPage => {
    const { open, answerByQr } = await openSession(openPage)
    const page = await open()
    let asked = 0
    page.on('request', request => {
      if (request.url().endsWith('/return')) asked++
    })
    const show = (state: string) =>
      page.evaluate(value => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, state)
    await show('hidden')
    await answerByQr()
    await page.getByRole('heading', { level: 1, name: 'Verified. Thank you.' }).waitFor()
    expect(asked).toBe(0)
    await show('visible')
    await page.waitForURL(THANKS)
    expect(asked).toBe(1)
  })

  browserTest('the focus stays on the page when the result replaces the request', async openPage => {
    const { open, answerByQr } = await openSession(openPage)
    const page = await open({ holdsTimers: true })
    await page.getByRole('link', { name: 'My wallet is on this device' }).focus()
    await answerByQr()
    await backLink(page).waitFor()
    await page.waitForFunction('document.activeElement.tagName === "MAIN"')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Back to Wine & Co')
  })

  browserTest('giving up or expiry leads back without a code', async openPage => {
    const { app, open, redirect_url } = await openSession(openPage)
    const page = await open()
    const leave = page.getByRole('link', { name: 'Back to Wine & Co without sharing' })
    expect(await leave.getAttribute('href')).toBe(redirect_url)
    app.clock.advance(300_001)
    await sweepExpired(app.deps)
    await page.getByRole('heading', { level: 1, name: 'This request has expired.' }).waitFor()
    expect(await backLink(page).getAttribute('href')).toBe(redirect_url)
    expect(complaintsOf(page)).toEqual([])
  })
})
