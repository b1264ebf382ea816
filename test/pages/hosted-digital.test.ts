// The hosted page asks a wallet through the browser: Chromium's virtual wallet, and the sandbox as a popup.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { setLook } from '../../src/tenants/look.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import type { HostedVerification, Verification } from '../../src/verifications/schema.ts'
import { createVerification, until } from '../helpers/app.ts'
import { browserTest, clickToClose, expectAccessible, type OpenPage, shoot, type WatchedPage } from '../helpers/browser.ts'
import { answerOf, ask, listOrigin, ORIGIN, type Protocol, tell } from '../helpers/dc.ts'
import { isFocused } from '../helpers/focus.ts'
import { shareService, startShop } from '../helpers/shop.ts'
import { virtualWallet } from '../helpers/virtual-wallet.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

shareService()

const DESKTOP = { viewport: { width: 1440, height: 900 } }
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const THANKS = /\/thanks#response_code=([\w-]{43})$/

let thanks: Bun.Server<undefined>
beforeAll(() => {
  thanks = Bun.serve({ port: 0, fetch: () => new Response('<!doctype html><title>Thanks</title>', { headers: HTML }) })
})
afterAll(() => thanks.stop(true))
const HTML = { 'content-type': 'text/html' }

type Call = { protocols: string[]; end: string }

/** Notes the calls of the page and how they end; `refuse` stands for an engine that refuses some. */
const NOTE_CALLS = `
  window.calls = []
  const get = navigator.credentials.get.bind(navigator.credentials)
  navigator.credentials.get = options => {
    const call = { protocols: options.digital.requests.map(({ protocol }) => protocol), end: 'open' }
    window.calls.push(call)
    const error = window.refuse?.(call.protocols)
    const given = error ? Promise.reject(error) : get(options)
    given.then(() => { call.end = 'answered' }, ({ name }) => { call.end = name })
    return given
  }
`
const callsOf = (page: Page) => page.evaluate<Call[]>('window.calls')

/** A session with its page, and the state of it as the shop sees it. */
async function openSession(openPage: OpenPage, { options = DESKTOP as BrowserContextOptions, body = {}, init = '' } = {}) {
  const { app, key, origin, tenantId } = await startShop()
  const session = await createVerification(app, key, { purpose: 'To sell you wine', ...body })
  const page = await openPage(origin, options)
  await page.addInitScript(NOTE_CALLS + init)
  const goTo = async () => void (await page.goto(`/v/${session.id}`))
  const read = async () => (await app.call<Verification>('GET', `/v1/verifications/${session.id}`, { key })).body
  const data = async () => (await app.call<HostedVerification>('GET', `/v/${session.id}/data`)).body
  const answerBy = async (protocol: Protocol) => await answerOf(app, session.id, await holderOf(app), { origin, protocol })
  return { app, key, origin, tenantId, session, page, goTo, read, data, answerBy }
}

const button = (page: Page) => page.getByRole('button', { name: 'Continue with your wallet' })
const busy = (page: Page) => page.getByRole('button', { name: 'Waiting for your wallet' })
const code = (page: Page) => page.getByRole('img', { name: /QR/ })
const nothingShared = (page: Page) => page.getByRole('alert').getByText('Nothing was shared. Try again, or use another way.')

describe('the hosted page and the wallet of the browser', () => {
  for (const protocol of ['openid4vp-v1-unsigned', 'org-iso-mdoc'] as const) {
    browserTest(`an answer by ${protocol} completes the session, and the page returns with a redeemable code`, async openPage => {
      const body = { redirect_url: `http://localhost:${thanks.port}/thanks`, template: 'identity_basic' }
      const { app, key, session, page, goTo, answerBy } = await openSession(openPage, { body })
      await goTo()
      await (await virtualWallet(page)).respond(await answerBy(protocol))
      await code(page).waitFor()
      await button(page).click()
      // By itself after two seconds, or at once by the link.
      if (protocol === 'org-iso-mdoc') await page.locator('a[href*="#response_code="]').click()
      await page.waitForURL(THANKS)
      const [, response_code] = THANKS.exec(page.url()) ?? []
      const redeemed = await app.call<Verification>('POST', `/v1/verifications/${session.id}/redeem`, {
        key,
        body: { response_code },
      })
      expect([redeemed.status, redeemed.body.status]).toEqual([200, 'completed'])
      expect(page.complaints.filter(each => !each.startsWith('request to http://localhost'))).toEqual([])
    })
  }

  browserTest('on a phone the button comes first, and the app and the code are behind a fold', async openPage => {
    const { page, session, goTo, answerBy } = await openSession(openPage, { options: PHONE })
    await goTo()
    const wallet = await virtualWallet(page)
    await button(page).waitFor()
    const app = page.getByRole('link', { name: 'Open wallet' })
    expect([await app.isVisible(), await code(page).isVisible()]).toEqual([false, false])
    await page.getByText('Another way').tap()
    expect(await app.getAttribute('href')).toBe(session.wallet_uri!)
    const [first, second] = [await button(page).boundingBox(), await app.boundingBox()]
    expect(first!.y + first!.height).toBeLessThan(second!.y)
    expect(await code(page).isVisible()).toBe(true)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await expectAccessible(page)
    await shoot(page, 'hosted-digital-phone')
    await wallet.respond(await answerBy('org-iso-mdoc'))
    await button(page).tap()
    await page.getByRole('heading', { name: 'Verified. Thank you.' }).waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('D55: after a refusal of any kind the page is usable and the session pending', async openPage => {
    const { page, goTo, read, answerBy } = await openSession(openPage, { options: PHONE })
    await page.clock.install()
    await goTo()
    const wallet = await virtualWallet(page)
    await wallet.decline()
    await button(page).tap()
    await nothingShared(page).waitFor()
    await isFocused(page.locator('summary').filter({ hasText: 'Another way' }))
    await expectAccessible(page)
    await shoot(page, 'hosted-digital-cancelled')

    await page.evaluate("window.refuse = () => new DOMException('', 'SecurityError')")
    await button(page).tap()
    await until(async () => (await callsOf(page))[1]?.end === 'SecurityError')
    await nothingShared(page).waitFor()

    await page.evaluate('window.refuse = undefined')
    await wallet.wait()
    await button(page).tap()
    await busy(page).tap({ force: true })
    expect(await page.getByRole('status').textContent()).toContain('Waiting for your wallet')
    await shoot(page, 'hosted-digital-asking')
    // The dialog ends with the session, by the clock of the page.
    await page.clock.fastForward('06:00')
    await until(async () => (await callsOf(page))[2]?.end === 'AbortError')
    await button(page).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect((await read()).status).toBe('pending')

    // An engine that knows Annex C only.
    await wallet.respond(await answerBy('org-iso-mdoc'))
    await page.evaluate("window.refuse = protocols => protocols.length > 1 && new TypeError('unknown protocol')")
    await button(page).tap()
    await page.getByRole('heading', { name: 'Verified. Thank you.' }).waitFor()
    expect((await callsOf(page)).slice(3)).toEqual([
      { protocols: ['openid4vp-v1-unsigned', 'org-iso-mdoc'], end: 'TypeError' },
      { protocols: ['org-iso-mdoc'], end: 'answered' },
    ])
    expect(page.complaints).toEqual([])
  })

  browserTest('a wallet that declines, and an answer that cannot be read, change nothing', async openPage => {
    const { app, origin, session, page, goTo, read } = await openSession(openPage, { options: { ...DESKTOP, locale: 'de-DE' } })
    await goTo()
    const wallet = await virtualWallet(page)
    const weiter = page.getByRole('button', { name: 'Mit Ihrer Wallet fortfahren' })
    await wallet.respond(await answerOf(app, session.id, await holderOf(app, 'declines'), { origin }))
    await weiter.click()
    await page.getByText('Sie haben nichts geteilt. Es wurde nichts gesendet.').waitFor()
    await isFocused(page.locator('figure.code'))
    await shoot(page, 'hosted-digital-german')
    await wallet.respond({ protocol: 'openid4vp-v1-unsigned', data: { response: 'nonsense' } })
    await weiter.click()
    await page.getByText('Die Antwort Ihrer Wallet war nicht lesbar.').waitFor()
    await page.route('**/wallet/dc/response/*', route => route.abort())
    await weiter.click()
    await page.getByText('Die Antwort hat den Dienst nicht erreicht.').waitFor()
    expect((await read()).status).toBe('pending')
    await expectAccessible(page)
  })

  browserTest('D56: without requests there is no button, and the code as ever', async openPage => {
    const { page, goTo } = await openSession(openPage)
    await page.clock.install()
    for (const status of [403, 404, 500, 200]) {
      await page.route('**/wallet/dc/request/*', route => route.fulfill({ status, json: { requests: [] } }))
      const answered = page.waitForResponse('**/wallet/dc/request/*')
      await goTo()
      await (await answered).finished()
      await code(page).waitFor()
      await button(page).waitFor({ state: 'detached' })
      await page.unroute('**/wallet/dc/request/*')
    }
    await page.route('**/wallet/dc/request/*', () => {})
    await goTo()
    await button(page).waitFor()
    expect(await button(page).getAttribute('aria-busy')).toBe('true')
    expect(await code(page).isVisible()).toBe(true)
    await page.clock.fastForward(5000)
    await button(page).waitFor({ state: 'detached' })
    expect(page.complaints.filter(each => !each.includes('Failed to load resource'))).toEqual([])
  })

  const INCAPABLE = {
    'no DigitalCredential': 'delete window.DigitalCredential',
    'an insecure origin': "Object.defineProperty(window, 'isSecureContext', { value: false })",
    'a policy that forbids it': '',
  }
  browserTest('D57: a browser that cannot ask has no button, and the page is as it was', async openPage => {
    for (const [title, init] of Object.entries(INCAPABLE)) {
      const { page, goTo } = await openSession(openPage, { options: PHONE, init: `;${init}` })
      if (!init)
        await page.route('**/v/*', async route => {
          const response = await route.fetch()
          await route.fulfill({
            response,
            headers: { ...response.headers(), 'permissions-policy': 'digital-credentials-get=()' },
          })
        })
      const asked: string[] = []
      page.on('request', request => asked.push(new URL(request.url()).pathname))
      await goTo()
      await page.getByRole('link', { name: 'Open wallet' }).waitFor()
      expect([title, await button(page).count(), asked.filter(path => path.includes('/dc/'))]).toEqual([title, 0, []])
    }
  })

  browserTest('D58: an answer by the code ends the dialog that is open, and so does the end of the time', async openPage => {
    for (const end of ['answered', 'expired'] as const) {
      const { app, page, goTo, data } = await openSession(openPage)
      await goTo()
      await (await virtualWallet(page)).wait()
      await button(page).click()
      await busy(page).waitFor()
      if (end === 'answered') await answerWith(app, await holderOf(app), (await data()).qr_uri ?? '')
      else {
        app.clock.advance(301_000)
        await sweepExpired(app.deps)
      }
      await page
        .getByRole('heading', { name: end === 'answered' ? 'Verified. Thank you.' : 'This request has expired.' })
        .waitFor()
      await until(async () => (await callsOf(page))[0]?.end === 'AbortError')
      expect(page.complaints).toEqual([])
    }
  })
})

describe('the sandbox in place of the wallet of a browser', () => {
  const simulate = (page: Page) => page.getByRole('button', { name: "Simulate the browser's wallet" }).click()
  const popupOf = async (page: Page, open: () => Promise<unknown>) => (await Promise.all([page.waitForEvent('popup'), open()]))[0]

  browserTest('the band of a test session opens it: who declines shares nothing, and an answer is judged', async openPage => {
    const { page, origin, goTo, read } = await openSession(openPage)
    await goTo()
    const first = await popupOf(page, () => simulate(page))
    await first.getByRole('heading', { name: `${origin} asks for a proof` }).waitFor()
    await shoot(first, 'sandbox-dc')
    await clickToClose(first.getByRole('button', { name: 'Do not share' }))
    await nothingShared(page).waitFor()
    const second = await popupOf(page, () => simulate(page))
    await nothingShared(page).waitFor({ state: 'detached' })
    await second.close()
    await nothingShared(page).waitFor()
    expect((await read()).status).toBe('pending')
    const third = await popupOf(page, () => simulate(page))
    // The sheet takes the focus when it opens.
    await third.getByRole('heading').and(third.locator(':focus')).waitFor()
    await third.getByRole('radio', { name: 'Minor', exact: true }).press('Space')
    await third.locator('.persona.chosen .persona-title').filter({ hasText: 'Minor' }).waitFor()
    await clickToClose(third.getByRole('button', { name: 'Share', exact: true }))
    await page.getByRole('heading', { name: 'Your proof was refused.' }).waitFor()
    expect((await read()).error?.code).toBe('claim_not_satisfied')
    expect(page.complaints).toEqual([])
  })

  /** A page of a shop, with the function that pages bundle. */
  async function openShop(openPage: OpenPage): Promise<WatchedPage> {
    const entry = join(import.meta.dir, '../../src/web/shared/ask-sandbox.ts')
    const built = await Bun.build({ entrypoints: [entry], format: 'esm' })
    const script = `${await built.outputs[0]!.text()}\nwindow.askSandbox = askSandbox`
    const page = await openPage(ORIGIN)
    await page.route(`${ORIGIN}/**`, route =>
      route.request().url().endsWith('.js')
        ? route.fulfill({ contentType: 'text/javascript', body: script })
        : route.fulfill({ contentType: 'text/html', body: '<!doctype html><script type=module src=/ask.js></script>' }),
    )
    await page.goto('/')
    return page
  }

  browserTest('a page of another origin is answered for that origin, by each protocol', async openPage => {
    const { app, key, origin: base, tenantId } = await startShop()
    await listOrigin(app, tenantId)
    const page = await openShop(openPage)
    for (const protocol of ['openid4vp-v1-unsigned', 'org-iso-mdoc']) {
      const { id } = await createVerification(app, key)
      const { body: prepared } = await ask(app, id, { body: { protocols: [protocol] } })
      const answer = page.evaluate(`askSandbox(${JSON.stringify(base)}, ${JSON.stringify(prepared)})`)
      const popup = await page.waitForEvent('popup')
      await popup.getByRole('heading', { name: `${ORIGIN} asks for a proof` }).waitFor()
      await clickToClose(popup.getByRole('button', { name: 'Share', exact: true }))
      const told = await tell(app, id, await answer)
      expect([told.status, told.body.status]).toEqual([200, 'completed'])
    }
  })

  browserTest(
    'D60: other windows, other messages, pages without an origin and live sessions are not answered',
    async openPage => {
      const { app, key, origin: base, tenantId } = await startShop()
      await listOrigin(app, tenantId)
      const { id } = await createVerification(app, key)
      const { body } = await ask(app, id)
      const message = JSON.stringify({ type: 'vidimus-requests', environment: 'test', requests: body.requests })
      const page = await openShop(openPage)
      /** Messages that come before the page listens would be lost: it tells its opener when it does. */
      const open = async (opener: Page) => {
        await opener.evaluate(
          "window.ready = new Promise(done => addEventListener('message', e => e.data?.type === 'vidimus-ready' && done()))&&0",
        )
        const popup = await popupOf(opener, () => opener.evaluate(`void (window.popup = open('${base}/sandbox?dc'))`))
        await opener.evaluate('window.ready')
        return popup
      }
      const consent = (popup: Page) => popup.getByRole('heading', { name: /asks for a proof/ })
      /** Messages of one window arrive in their order: the page has seen the others when the last is there. */
      const postAll = async (opener: Page, popup: Page, messages: string[]) => {
        await popup.getByRole('img', { name: 'Opening the request' }).waitFor()
        await popup.evaluate(
          "window.last = new Promise(done => addEventListener('message', e => e.data === 'last' && done()))&&0",
        )
        for (const each of [...messages, '"last"']) await opener.evaluate(`popup.postMessage(${each}, '*')`)
        await popup.evaluate('window.last')
      }

      const popup = await open(page)
      await popup.evaluate(`postMessage(${message}, '*')`)
      const others = ['null', '7', '{}', '{"type":"vidimus-requests"}', '{"type":"vidimus-requests","requests":[null]}']
      await postAll(page, popup, others)
      expect(await consent(popup).count()).toBe(0)
      await page.evaluate(`popup.postMessage(${message.replace('"test"', '"live"')}, '*')`)
      await popup.getByRole('heading', { name: 'This is a live request.' }).waitFor()

      const nowhere = await openPage(base)
      await nowhere.goto('data:text/html,<title>nowhere</title>')
      const orphan = await open(nowhere)
      await postAll(nowhere, orphan, [message, message.replace('"test"', '"live"')])
      expect(await orphan.getByRole('img', { name: 'Opening the request' }).count()).toBe(1)
      expect(await consent(orphan).count()).toBe(0)

      const alone = await openPage(base)
      await alone.goto('/sandbox?dc')
      await alone.getByRole('heading', { name: 'No page has asked.' }).waitFor()
      await expect(page.evaluate(`askSandbox('${base}', ${JSON.stringify({ ...body, environment: 'live' })})`)).rejects.toThrow()
    },
  )
})

test('P53: only the hosted page and the till may ask wallets, and only they and the sandbox keep their popups', async () => {
  const { app } = await startShop()
  const policyOf = async (path: string) => {
    const { headers } = await app.call('GET', path)
    const permissions = headers.get('permissions-policy') ?? ''
    const [, get] = /digital-credentials-get=\((.*?)\)/.exec(permissions) ?? []
    return [get, permissions.includes('digital-credentials-create=()'), headers.get('cross-origin-opener-policy')]
  }
  for (const path of ['/v/vs_anything', '/till']) expect(await policyOf(path)).toEqual(['self', true, 'same-origin-allow-popups'])
  expect(await policyOf('/sandbox')).toEqual(['', true, 'unsafe-none'])
  expect(await policyOf('/dashboard')).toEqual(['', true, 'same-origin'])
})

browserTest('the page has the logo, colour, privacy link and line for people without a wallet of its shop', async openPage => {
  const { app, tenantId, page, goTo } = await openSession(openPage, { options: PHONE })
  const logo = await Bun.file(join(import.meta.dir, '../fixtures/logo.png')).bytes()
  for (const accent of ['#ffcc00', '#003366']) {
    const withoutWallet = { en: 'Or show your ID at delivery.', de: 'Oder mit Ausweis bei der Lieferung.' }
    await setLook(app.deps, tenantId, { accent, logo, privacyUrl: 'https://wine.example/privacy', withoutWallet }, 'test')
    await goTo()
    await button(page).waitFor()
    const [colour] = await button(page).evaluate(each => [getComputedStyle(each).backgroundColor])
    expect(colour).toBe(accent === '#ffcc00' ? 'rgb(255, 204, 0)' : 'rgb(0, 51, 102)')
    await expectAccessible(page)
    await shoot(page, `hosted-look-${accent.slice(1)}`)
  }
  expect(await page.getByRole('link', { name: 'Privacy notice of Wine & Co' }).getAttribute('href')).toBe(
    'https://wine.example/privacy',
  )
  for (const [language, line] of [
    ['Deutsch', 'Oder mit Ausweis bei der Lieferung.'],
    ['Polski', 'Or show your ID at delivery.'],
    ['English', 'Or show your ID at delivery.'],
  ] as const) {
    await page.getByRole('combobox').selectOption(language)
    await page.getByText(line).waitFor()
  }
  expect(await page.locator('img.logo').evaluate((each: HTMLImageElement) => each.naturalWidth)).toBeGreaterThan(0)
  expect(page.complaints).toEqual([])
})
