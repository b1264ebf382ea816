import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepHeld } from '../../src/verifications/end/release.ts'
import type { HostedVerification } from '../../src/verifications/schema.ts'
import { LANGUAGE_NAMES, type Language } from '../../src/words/languages.ts'
import { purposeOf } from '../../src/words/purposes.ts'
import { createVerification, type ErrorBody, startApp, type TestApp, until } from '../helpers/app.ts'
import { browserTest, expectAccessible, type OpenPage, readCode, shoot } from '../helpers/browser.ts'
import { pair } from '../helpers/devices.ts'
import { SHOP, shareService, startShop } from '../helpers/shop.ts'
import { answerWith, fetchOf, holderOf } from '../helpers/wallet.ts'

shareService()

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const DESKTOP = { viewport: { width: 1440, height: 900 } }
const BODY = { purpose: 'To sell you wine', redirect_url: 'https://wine.example/thanks?order=17' }

/** Collects all responses to a page. */
function listen(page: Page): { text: () => Promise<string> } {
  const bodies: Promise<string>[] = []
  page.on('response', response => {
    // A stream does not end; other tests check its content. The browser's request names what is asked, as the QR code's does.
    if (!/\/events$|\/wallet\/dc\/request\//.test(response.url())) bodies.push(response.text().catch(() => ''))
  })
  return { text: async () => (await Promise.all(bodies)).join('\n') }
}

async function openSession(openPage: OpenPage, body: object = BODY, options: object = DESKTOP) {
  const shop = await startShop()
  const session = await createVerification(shop.app, shop.key, body)
  const page = await openPage(shop.origin, options)
  const heard = listen(page)
  await page.goto(`/v/${session.id}`)
  return { ...shop, session, page, heard }
}

describe('the hosted page', () => {
  browserTest('the page shows who asks, why and for what, and a QR code with the wallet link', async openPage => {
    const { page, session } = await openSession(openPage)
    await page.getByRole('heading', { level: 1, name: 'Wine & Co asks for a proof' }).waitFor()
    expect(await page.title()).toBe('Wine & Co asks for a proof')
    expect(await page.getByText('To sell you wine').isVisible()).toBe(true)
    expect(await page.getByText('That you are 18 or over').isVisible()).toBe(true)
    expect(await page.getByRole('img', { name: /QR code/ }).isVisible()).toBe(true)
    expect(await page.getByText(/^[45]:\d\d left$/).isVisible()).toBe(true)
    expect(await page.getByRole('link', { name: 'My wallet is on this device' }).getAttribute('href')).toBe(session.wallet_uri!)
    expect(await readCode(page)).toBe(session.wallet_uri!.replace(session.id, `${session.id}%3Ffrom%3Dqr`))
    await expectAccessible(page)
    await shoot(page, 'hosted-pending')
    expect(page.complaints).toEqual([])
  })

  browserTest('a code for localhost has a warning, any other none', async openPage => {
    const { page } = await openSession(openPage)
    const hint = page.getByText('This code leads to localhost, which a phone cannot reach.')
    await hint.waitFor()
    const public_ = await startApp({ config: { publicUrl: 'https://verify.wine.example' } })
    const { id } = await createVerification(public_, (await public_.tenant({ name: SHOP })).key, BODY)
    const elsewhere = await openPage(public_.url, DESKTOP)
    await elsewhere.goto(`/v/${id}`)
    await elsewhere.getByRole('img', { name: /QR code/ }).waitFor()
    expect(await elsewhere.getByText('Nothing opened?').count()).toBe(0)
    expect(await elsewhere.getByText('localhost').count()).toBe(0)
  })

  browserTest('a phone gets one button, and every other way behind one fold', async openPage => {
    const { page, session } = await openSession(openPage, BODY, PHONE)
    const button = page.getByRole('button', { name: 'Continue with your wallet' })
    await button.waitFor()
    const way = page.locator('.way')
    expect(await way.getByRole('link').allTextContents()).toEqual(['Back to Wine & Co without sharing'])
    expect((await button.boundingBox())!.height).toBeGreaterThanOrEqual(44)
    expect(await page.getByRole('img', { name: /QR code/ }).isVisible()).toBe(false)
    await shoot(page, 'hosted-phone')
    await page.getByText('Another way').tap()
    const query = session.wallet_uri!.slice(session.wallet_uri!.indexOf('?'))
    for (const [name, start] of [
      ['Open wallet', 'openid4vp://'],
      ['EU wallet', 'eu-eaap://'],
      ['HAIP wallet', 'haip-vp://'],
    ] as const) {
      const link = page.getByRole('link', { name, exact: true })
      expect(await link.getAttribute('href')).toBe(`${start}${query}`)
      expect((await link.boundingBox())!.height).toBeGreaterThanOrEqual(24)
    }
    await page.getByText('My wallet is on another device').waitFor()
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await shoot(page, 'hosted-phone-ways')
    expect(page.complaints).toEqual([])
  })

  browserTest(
    'a browser that cannot ask wallets gets one link, and reads after two seconds that nothing opened',
    async openPage => {
      const { app, origin, key } = await startShop()
      const session = await createVerification(app, key, BODY)
      const page = await openPage(origin, PHONE)
      await page.addInitScript('delete window.DigitalCredential')
      await page.clock.install()
      await page.goto(`/v/${session.id}`)
      const link = page.getByRole('link', { name: 'Open wallet' })
      await link.waitFor()
      await page.clock.pauseAt(new Date(Date.now() + 60_000))
      expect(await page.locator('.way a:visible').allTextContents()).toEqual(['Open wallet', 'Back to Wine & Co without sharing'])
      // Nothing here takes the link, and a test must not wait for that.
      await page.evaluate("document.addEventListener('click', event => event.preventDefault())")
      const nothing = page.getByText('Nothing opened? You may have no wallet that can answer.')
      const turn = (state: 'hidden' | 'visible') =>
        page.evaluate(
          `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`,
        )
      await link.tap()
      await page.clock.runFor(1999)
      expect(await nothing.count()).toBe(0)
      await page.clock.runFor(1)
      await nothing.waitFor()
      await shoot(page, 'hosted-nothing-opened')
      // A slow app took it after all, and the next tap is followed at once.
      await turn('hidden')
      await turn('visible')
      await nothing.waitFor({ state: 'detached' })
      await link.tap()
      await page.clock.runFor(1000)
      await turn('hidden')
      await page.clock.runFor(60_000)
      await turn('visible')
      expect(await nothing.count()).toBe(0)
      await link.tap()
      await page.evaluate("dispatchEvent(new Event('pagehide'))")
      await page.clock.runFor(60_000)
      expect(await nothing.count()).toBe(0)
      expect(page.complaints).toEqual([])
    },
  )

  browserTest('accepted documents are one line, and a tap shows the rest', async openPage => {
    const { page } = await openSession(openPage, { template: 'age_over_18' }, PHONE)
    const line = page.getByText(/^Accepted documents: EU proof of age, /)
    await line.waitFor()
    const heightOf = async () => (await line.boundingBox())!.height
    const folded = await heightOf()
    expect(folded).toBeLessThan(30)
    await line.tap()
    expect(await heightOf()).toBeGreaterThan(folded * 1.8)
    await expectAccessible(page)
  })

  browserTest('the page follows the session to its end and never shows the claims', async openPage => {
    const body = { ...BODY, template: 'identity_basic' }
    const { app, key, page, session, heard } = await openSession(openPage, body)
    await page.getByText('Family name', { exact: true }).waitFor()
    const shared = await page.locator('.shares ul li').allTextContents()
    expect(shared).toEqual(['Family name', 'Given names', 'Date of birth'])
    await fetchOf(app)(session.request_uri ?? '', {})
    await page.getByRole('heading', { name: 'Waiting for your consent' }).waitFor()
    expect(await page.getByRole('img', { name: /QR code/ }).isVisible()).toBe(false)
    expect(await page.getByRole('status').textContent()).toBe('Waiting for your consent')
    await expectAccessible(page)
    await shoot(page, 'hosted-scanned')
    await page.getByRole('button', { name: 'Show the code again' }).click()
    await page.getByRole('img', { name: /QR code/ }).waitFor()

    await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
    await page.getByRole('heading', { level: 1, name: 'Verified. Thank you.' }).waitFor()
    expect(await page.title()).toBe('Verified. Thank you.')
    expect(await page.getByRole('link', { name: 'Back to Wine & Co' }).getAttribute('href')).toBe(BODY.redirect_url)
    await expectAccessible(page)
    await shoot(page, 'hosted-completed')

    const { text } = await app.call('GET', `/v1/verifications/${session.id}`, { key })
    const { claims } = JSON.parse(text) as { claims: Record<string, string> }
    const shown = `${await heard.text()}\n${await page.content()}`
    expect(shown).toContain('To sell you wine')
    for (const value of [claims.family_name!, claims.given_name!, claims.birthdate!, 'response_code', 'findings'])
      expect([value, shown.includes(value)]).toEqual([value, false])
    expect(page.complaints).toEqual([])
  })

  browserTest('the page polls when the event stream fails', async openPage => {
    const { app, origin, key } = await startShop()
    const session = await createVerification(app, key, BODY)
    const page = await openPage(origin, DESKTOP)
    await page.route('**/events', route => route.abort())
    await page.goto(`/v/${session.id}`)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await fetchOf(app)(session.request_uri ?? '', {})
    await page.getByRole('heading', { name: 'Waiting for your consent' }).waitFor()
    await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
    await page.getByRole('heading', { name: 'Verified. Thank you.' }).waitFor()
    // Only the blocked streams.
    expect(page.complaints.filter(complaint => !complaint.includes('ERR_FAILED'))).toEqual([])
  })

  browserTest('the page polls when a proxy holds the events back', async openPage => {
    const { app, origin, key } = await startShop()
    const session = await createVerification(app, key, BODY)
    const page = await openPage(origin, DESKTOP)
    await page.clock.install()
    await page.route('**/events', () => {})
    await page.goto(`/v/${session.id}`)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
    await page.clock.fastForward(10_000)
    await page.getByRole('heading', { name: 'Verified. Thank you.' }).waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('polling respects Retry-After', async openPage => {
    const { app, origin, key } = await startShop()
    const session = await createVerification(app, key, BODY)
    const page = await openPage(origin, DESKTOP)
    await page.clock.install()
    await page.route('**/events', route => route.abort())
    let isBusy = true
    let asked = 0
    await page.route('**/data', async route => {
      asked++
      const body = JSON.stringify({ error: { code: 'rate_limit_exceeded', message: 'Too many requests.' } })
      await (isBusy ? route.fulfill({ status: 429, headers: { 'retry-after': '30' }, body }) : route.continue())
    })
    const refused = page.waitForResponse('**/data')
    await page.goto(`/v/${session.id}`)
    await (await refused).finished()
    isBusy = false
    // The page's clock runs on beside these steps.
    await page.clock.runFor(20_000)
    expect(asked).toBe(1)
    await until(async () => {
      await page.clock.runFor(2000)
      return asked > 1
    })
    await page.getByRole('img', { name: /QR code/ }).waitFor()
  })

  browserTest('a refusal is shown without its reason, with the way back', async openPage => {
    const { app, page, session, heard } = await openSession(openPage)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await answerWith(app, await holderOf(app, 'minor'), session.wallet_uri ?? '')
    await page.getByRole('heading', { level: 1, name: 'Your proof was refused.' }).waitFor()
    expect(await page.getByText('Your wallet answered, but a check refused the answer.').isVisible()).toBe(true)
    await page.getByText('Ask Wine & Co: they can tell you more, and start again with you.').waitFor()
    expect(await page.getByRole('link', { name: 'Back to Wine & Co' }).isVisible()).toBe(true)
    const shown = `${await heard.text()}\n${await page.content()}`
    expect(shown).not.toMatch(/claim_not_satisfied|age_over_18":false|"credentials":/)
    await expectAccessible(page)
    await shoot(page, 'hosted-failed')
    expect(page.complaints).toEqual([])
  })

  browserTest('a customer whose photo nobody compared reads that, and not of a refusal', async openPage => {
    const { app, key, origin } = await startShop()
    const till = await pair(app, key, { allowed_templates: ['age_over_18_photo'] })
    const session = await createVerification(app, till.access_token, { template: 'age_over_18_photo' })
    const page = await openPage(origin, DESKTOP)
    await page.goto(`/v/${session.id}`)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
    await page.getByText('Wine & Co compares your photo with you now.').waitFor()
    app.clock.advance(120_000)
    await sweepHeld(app.deps)
    await page.getByRole('heading', { level: 1, name: 'Your photo was not compared.' }).waitFor()
    expect(await page.content()).not.toMatch(/refused/)
    await expectAccessible(page)
    await shoot(page, 'hosted-not-compared')
    await page.getByRole('combobox').selectOption('Deutsch')
    await page.getByRole('heading', { level: 1, name: 'Ihr Foto wurde nicht verglichen.' }).waitFor()
    await shoot(page, 'hosted-not-compared-german')
    expect(page.complaints).toEqual([])
  })

  browserTest('a shopper who declined reads that nothing was sent, without an error, and can try again', async openPage => {
    const { app, page, session } = await openSession(openPage, { purpose: 'To sell you wine' })
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await answerWith(app, await holderOf(app, 'declines'), session.wallet_uri ?? '')
    await page.getByRole('heading', { level: 1, name: 'You chose not to share.' }).waitFor()
    await page.getByText('Nothing was sent.').waitFor()
    await page.getByText('To try again, ask Wine & Co to start again.').waitFor()
    expect(await page.locator('.seal.refused').count()).toBe(0)
    expect(await page.getByRole('link', { name: /Back to/ }).count()).toBe(0)
    const returning = await openSession(openPage)
    await returning.page.getByRole('img', { name: /QR code/ }).waitFor()
    await answerWith(returning.app, await holderOf(returning.app, 'declines'), returning.session.wallet_uri ?? '')
    const again = returning.page.getByRole('link', { name: 'Try again' })
    expect(await again.getAttribute('href')).toBe(BODY.redirect_url)
    await expectAccessible(returning.page)
    await shoot(returning.page, 'hosted-declined')
    expect(page.complaints).toEqual([])
  })

  browserTest('a request that the shop withdrew is no error, and leads back without a code', async openPage => {
    const { app, key, page, session } = await openSession(openPage)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await app.call('POST', `/v1/verifications/${session.id}/cancel`, { key })
    await page.getByRole('heading', { level: 1, name: 'This request was stopped.' }).waitFor()
    await page.getByText('Nothing was passed on.').waitFor()
    expect(await page.locator('.seal.refused').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Back to Wine & Co' }).getAttribute('href')).toStartWith(BODY.redirect_url)
    await expectAccessible(page)
    expect(page.complaints).toEqual([])
  })

  browserTest('a completed session that no rule judges is thanked for without a green seal', async openPage => {
    const query = {
      credentials: [
        {
          id: 'mdl',
          format: 'mso_mdoc',
          meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
          claims: [{ path: ['org.iso.18013.5.1', 'age_over_18'] }],
        },
      ],
    }
    const { app, page, session } = await openSession(openPage, { template: undefined, query })
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await answerWith(app, await holderOf(app, 'minor'), session.wallet_uri ?? '')
    await page.getByRole('heading', { level: 1, name: 'Shared. Thank you.' }).waitFor()
    expect(await page.locator('.seal.answered').count()).toBe(1)
    expect(await page.locator('.seal.verified').count()).toBe(0)
  })

  browserTest('an expired session is shown as such', async openPage => {
    const { app, page } = await openSession(openPage)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    app.clock.advance(300_000)
    await sweepExpired(app.deps)
    await page.getByRole('heading', { level: 1, name: 'This request has expired.' }).waitFor()
    expect(await page.getByRole('link', { name: 'Back to Wine & Co' }).isVisible()).toBe(true)
    await expectAccessible(page)
    await shoot(page, 'hosted-expired')
    expect(page.complaints).toEqual([])
  })

  browserTest('an unknown or erased session shows that nothing is there', async openPage => {
    const { app, key, origin, page, session } = await openSession(openPage)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await app.call('DELETE', `/v1/verifications/${session.id}`, { key })
    await page.getByRole('heading', { level: 1, name: 'There is nothing here.' }).waitFor()
    await page.goto(`${origin}/v/vs_0000000000000000000000`)
    await page.getByRole('heading', { level: 1, name: 'There is nothing here.' }).waitFor()
    await expectAccessible(page)
    await shoot(page, 'hosted-gone')
    expect(page.complaints.filter(complaint => !complaint.includes('404'))).toEqual([])
  })

  browserTest('a German browser gets German, English on request, and the choice is kept', async openPage => {
    const { app, origin, key, page, session } = await openSession(
      openPage,
      { template: 'age_over_18' },
      { ...DESKTOP, locale: 'de-DE' },
    )
    await page.getByRole('heading', { level: 1, name: 'Wine & Co bittet um einen Nachweis' }).waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe('de')
    expect(await page.getByText('Um zu prüfen, ob Sie mindestens 18 Jahre alt sind').isVisible()).toBe(true)
    expect(await page.getByText('Dass Sie mindestens 18 Jahre alt sind').isVisible()).toBe(true)
    await expectAccessible(page)
    await shoot(page, 'hosted-german')
    await page.locator(`a.touch[href$="${session.id}%3Flanguage%3Dde"]`).waitFor()
    await page.getByRole('combobox').selectOption('English')
    await page.getByText('To check that you are 18 or over').waitFor()
    await page.locator(`a.touch[href$="${session.id}"]`).waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe('en')
    const next = await createVerification(app, key)
    await page.goto(`${origin}/v/${next.id}`)
    await page.getByText('To check that you are 18 or over').waitFor()
    await page.getByRole('combobox').selectOption('Deutsch')
    await answerWith(app, await holderOf(app), next.wallet_uri ?? '')
    await page.getByRole('heading', { level: 1, name: 'Bestätigt. Danke.' }).waitFor()
    expect(session.id).not.toBe(next.id)
    expect(page.complaints).toEqual([])
  })

  browserTest('the page works by keyboard alone, with a visible focus', async openPage => {
    const { page } = await openSession(openPage)
    await page.getByRole('button', { name: 'Continue with your wallet' }).waitFor()
    const reached: string[] = []
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press('Tab')
      const [text, outline] = await page.evaluate<[string, string]>(
        '[document.activeElement.textContent, getComputedStyle(document.activeElement).outlineWidth]',
      )
      expect([text, outline]).toEqual([text, '3px'])
      reached.push(text)
    }
    expect(reached).toEqual([
      'Answer with the sandbox wallet',
      "Simulate the browser's wallet",
      'Accepted documents: EU proof of age, EU personal ID, German personal ID, Driving licence, Photo ID',
      'Continue with your wallet',
      'My wallet is on this device',
      'Back to Wine & Co without sharing',
      'No wallet yet?',
      Object.values(LANGUAGE_NAMES).join(''),
    ])
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByText(/^A wallet is an app/).waitFor()
    expect(await page.getByText(/EU proof of age, EU personal ID, .*Driving licence, Photo ID/).isVisible()).toBe(true)
    await expectAccessible(page)
    await shoot(page, 'hosted-help')
    expect(page.complaints).toEqual([])
  })

  browserTest('a test session is marked and links to the sandbox wallet; a live one is not and does not', async openPage => {
    const { app, origin, page, session, liveKey } = await openSession(openPage)
    const link = page.getByRole('link', { name: 'Answer with the sandbox wallet' })
    expect(await link.getAttribute('href')).toBe(`${origin}/sandbox#wallet_uri=${encodeURIComponent(session.wallet_uri!)}`)
    const live = await createVerification(app, liveKey)
    await page.goto(`${origin}/v/${live.id}`)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    expect(await link.count()).toBe(0)
    expect(await page.getByText('Test:').count()).toBe(0)
    expect(page.complaints).toEqual([])
  })

  browserTest('long names, many claims and large type fit', async openPage => {
    const { app, origin } = await startShop()
    const name = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenverleih Niederösterreich GmbH & Co KG'
    const { key } = await app.tenant({ name })
    const session = await createVerification(app, key, { template: 'driving_licence', purpose: 'x'.repeat(300) })
    const page = await openPage(origin, { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true })
    await page.goto(`/v/${session.id}`)
    await page.getByRole('button', { name: 'Continue with your wallet' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    await expectAccessible(page)
    await shoot(page, 'hosted-long')
    expect(page.complaints).toEqual([])
  })

  browserTest('the page speaks the language of the browser, and fits the smallest phone in each', async openPage => {
    const { origin, key, app } = await startShop()
    const { id } = await createVerification(app, key, { template: 'age_over_18_photo' })
    const seen: string[] = []
    for (const language of Object.keys(LANGUAGE_NAMES)) {
      const page = await openPage(origin, {
        viewport: { width: 320, height: 640 },
        hasTouch: true,
        isMobile: true,
        locale: language,
      })
      await page.goto(`/v/${id}`)
      await page.locator(`html[lang=${language}] h1`).waitFor()
      seen.push((await page.locator('h1').textContent()) ?? '')
      await page.getByText(purposeOf('age_over_18_photo')[language as Language]).waitFor()
      for (const fold of await page.locator('summary').all()) await fold.tap()
      expect([language, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([language, 320])
      await shoot(page, `hosted-320-${language}`)
      expect(page.complaints).toEqual([])
    }
    expect(new Set(seen).size).toBe(seen.length)
  })

  browserTest('words that are half as long again fit the smallest phone', async openPage => {
    const { origin, key, app } = await startShop()
    const { id } = await createVerification(app, key, { template: 'identity_basic' })
    const page = await openPage(origin, { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true })
    await page.goto(`/v/${id}`)
    await page.getByRole('button', { name: 'Continue with your wallet' }).waitFor()
    const stretched = await page.evaluate<number>(`(() => {
      const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
      let count = 0
      for (let text = walker.nextNode(); text; text = walker.nextNode(), count++)
        text.data = text.data.replace(/\\p{L}{2,}/gu, word => word + 'ê'.repeat(Math.ceil(word.length / 2)))
      return count
    })()`)
    expect(stretched).toBeGreaterThan(10)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    await shoot(page, 'hosted-pseudo')
  })

  browserTest('the page says when the service is unreachable, and recovers', async openPage => {
    const { app, page, session } = await openSession(openPage)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await page.context().setOffline(true)
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await page.getByText(/does not answer/).waitFor()
    await expectAccessible(page)
    await shoot(page, 'hosted-unreachable')
    await page.context().setOffline(false)
    await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
    await page.getByRole('heading', { name: 'Verified. Thank you.' }).waitFor()
    expect(await page.getByText(/does not answer/).count()).toBe(0)
  })

  browserTest('the page works under the path that the service is published at', async openPage => {
    const { app, key } = await startShop()
    const proxy = startProxy(app.url)
    const session = await createVerification(app, key, BODY)
    const page = await openPage(proxy.origin, DESKTOP)
    await page.goto(`/check/v/${session.id}`)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
    await page.getByRole('heading', { name: 'Verified. Thank you.' }).waitFor()
    expect(proxy.strayed()).toEqual([])
    // The proxy's origin is not that of the public URL, so its page may not ask wallets through the browser.
    expect(page.complaints.filter(each => !each.includes('403'))).toEqual([])
    proxy.stop()
  })
})

describe('headers and assets', () => {
  test('pages have a strict policy, cannot be framed, and have assets with hashed names', async () => {
    const { app } = await startShop()
    const { status, headers, text } = await app.call('GET', '/v/vs_anything')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
        "base-uri 'none'; object-src 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('permissions-policy')).toStartWith('camera=(), ')
    expect(headers.get('permissions-policy')).toEndWith('microphone=(), geolocation=(), payment=(), usb=()')
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/)
    const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '')
    expect(assets.map(url => url.replace(/-\w+\./, '-HASH.')).toSorted()).toEqual([
      '../assets/chunk-HASH.css',
      '../assets/chunk-HASH.js',
      '../assets/seal-HASH.svg',
    ])
    for (const url of assets) {
      const asset = await app.call('GET', url.replace('..', ''))
      expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff')
    }
    expect((await app.call('GET', '/assets/chunk-none.js')).status).toBe(404)
    expect((await app.call('GET', '/assets/..%2fserve.ts')).status).toBe(404)
  })
})

describe('GET /v/{id}/data', () => {
  const SHOWN = ['asked_by', 'created_at', 'environment', 'expires_at', 'id', 'now', 'purpose', 'shares']
  const dataOf = async (app: TestApp, id: string) => (await app.call<HostedVerification>('GET', `/v/${id}/data`)).body

  test('a pending session returns only the data of the page', async () => {
    const { app, key } = await startShop()
    const metadata = { order: 'secret-order' }
    const session = await createVerification(app, key, { ...BODY, metadata, webhook_url: 'https://hook.example/secret' })
    const { text, body } = await app.call<HostedVerification>('GET', `/v/${session.id}/data`)
    expect(Object.keys(body).toSorted()).toEqual(
      [...SHOWN, 'fetched', 'further_uris', 'qr_uri', 'status', 'wallet_uri'].toSorted(),
    )
    expect(body).toMatchObject({
      asked_by: SHOP,
      environment: 'test',
      fetched: false,
      status: 'pending',
      wallet_uri: session.wallet_uri,
    })
    expect(text).not.toMatch(/secret|nonce|state/)
  })

  test('an ended session shows a stranger no claims, credentials, findings, response code or way back', async () => {
    const { app, key } = await startShop()
    const ends = {
      adult: ['completed', undefined],
      minor: ['failed', 'not_accepted'],
      revoked: ['failed', 'not_accepted'],
      untrusted_issuer: ['failed', 'not_accepted'],
      declines: ['failed', 'declined'],
    }
    for (const [persona, end] of Object.entries(ends)) {
      const { id, wallet_uri = '' } = await createVerification(app, key, BODY)
      await answerWith(app, await holderOf(app, persona as keyof typeof ends), wallet_uri)
      const { status, reason, ...rest } = await dataOf(app, id)
      expect([persona, status, reason]).toEqual([persona, ...end] as [string, typeof status, typeof reason])
      expect(Object.keys(rest).toSorted()).toEqual(SHOWN)
    }
  })

  test('alternatives are named once, with their documents', async () => {
    const { app, key } = await startShop()
    const age = await dataOf(app, (await createVerification(app, key, { template: 'age_over_18' })).id)
    expect(age.shares).toHaveLength(1)
    expect(age.shares[0]).toMatchObject({ required: true, alternatives: [{ claims: ['age_over_18'] }] })
    expect(age.shares[0]!.alternatives[0]!.documents).toEqual([
      'eu.europa.ec.av.1',
      'urn:eudi:pid:1',
      'urn:eudi:pid:de:1',
      'eu.europa.ec.eudi.pid.1',
      'org.iso.18013.5.1.mDL',
      'org.iso.23220.photoID.1',
      'org.iso.23220.photoid.1',
    ])
    const either = await dataOf(app, (await createVerification(app, key, { template: 'age_over_18_or_birthdate' })).id)
    expect(either.shares[0]!.alternatives.map(({ claims }) => claims)).toEqual([['age_over_18'], ['birthdate']])
    const query = {
      credentials: [
        {
          id: 'a',
          format: 'dc+sd-jwt',
          meta: { vct_values: ['urn:eudi:pid:1'] },
          claims: [
            { id: 'x', path: ['family_name'] },
            { id: 'y', path: ['address', 'locality'] },
          ],
          claim_sets: [['x'], ['x', 'y']],
        },
        { id: 'b', format: 'mso_mdoc', meta: { doctype_value: 'org.iso.18013.5.1.mDL' } },
      ],
      credential_sets: [{ options: [['a']] }, { options: [['b']], required: false }],
    }
    const own = await dataOf(app, (await createVerification(app, key, { template: undefined, query })).id)
    expect(own.purpose).toBeUndefined()
    expect(own.shares).toEqual([
      {
        required: true,
        alternatives: [
          { claims: ['family_name'], documents: ['urn:eudi:pid:1'] },
          { claims: ['family_name', 'address.locality'], documents: ['urn:eudi:pid:1'] },
        ],
      },
      { required: false, alternatives: [{ claims: [], documents: ['org.iso.18013.5.1.mDL'] }] },
    ])
  })

  test('other origins cannot read the data, and it counts as a status poll', async () => {
    const app = await startApp({ rateLimitScale: 1 })
    const { key } = await app.tenant()
    const { id } = await createVerification(app, key)
    const { headers } = await app.call('GET', `/v/${id}/data`)
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('ratelimit')).toMatch(/^"status";r=9;/)
    for (let i = 0; i < 9; i++) await app.call('GET', `/v/${id}/data`)
    expect((await app.call('GET', `/v1/verifications/${id}/status`)).status).toBe(429)
    const { status, body } = await app.call<ErrorBody>('GET', '/v/vs_0000000000000000000000/data')
    expect([status, body.error.code]).toEqual([404, 'session_not_found'])
  })
})

/** A proxy in front of the service, at the path /check. */
function startProxy(target: string) {
  const strayed: string[] = []
  const server = Bun.serve({
    port: 0,
    idleTimeout: 30,
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      if (!pathname.startsWith('/check/')) {
        strayed.push(pathname)
        return new Response(null, { status: 404 })
      }
      return fetch(`${target}${pathname.slice('/check'.length)}${search}`, { method, headers, signal: request.signal })
    },
  })
  return { origin: `http://localhost:${server.port}`, strayed: () => strayed, stop: () => void server.stop(true) }
}
