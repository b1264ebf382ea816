// The till asks a wallet through the browser: Chromium's virtual wallet, and the sandbox as a popup.
import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import type { Verification } from '../../src/verifications/schema.ts'
import { until } from '../helpers/app.ts'
import { browserTest, clickToClose, type OpenPage } from '../helpers/browser.ts'
import { answerOf, type Protocol } from '../helpers/dc.ts'
import { isFocused } from '../helpers/focus.ts'
import { sessionsOf, shareService } from '../helpers/shop.ts'
import { answer, ask, button, heading, look, openTill } from '../helpers/till.ts'
import { virtualWallet } from '../helpers/virtual-wallet.ts'
import { holderOf } from '../helpers/wallet.ts'

shareService()

const offer = (page: Page) => button(page, 'Ask through this browser')
const busy = (page: Page) => button(page, 'Waiting for the wallet')
const simulated = (page: Page) => button(page, 'Ask the simulated wallet')
const alert = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor()

/** A till that asks. */
async function openAsking(openPage: OpenPage, options: Parameters<typeof openTill>[1] = {}, init = '') {
  const till = await openTill(openPage, { templates: ['age_over_18', 'age_over_18_photo'], ...options })
  const { app, page, origin } = till
  await page.addInitScript(init)
  if (init) await page.reload()
  const begin = async () => {
    const uri = await ask(page)
    const [{ id } = { id: '' }] = sessionsOf(till).slice(-1)
    const by = async (protocol: Protocol, persona: Parameters<typeof holderOf>[1] = 'adult') =>
      await answerOf(app, id, await holderOf(app, persona), { origin, protocol })
    const read = async () => (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key: till.key })).body
    return { uri, id, by, read }
  }
  return { ...till, begin }
}

describe('the till and the wallet of the browser', () => {
  for (const protocol of ['openid4vp-v1-unsigned', 'org-iso-mdoc'] as const) {
    browserTest(`an answer by ${protocol} is the verdict, beside the code that nobody scanned`, async openPage => {
      const { page, begin } = await openAsking(openPage)
      const { by } = await begin()
      await (await virtualWallet(page)).respond(await by(protocol))
      await page.getByRole('img', { name: /QR code/ }).waitFor()
      await look(page, 'digital')
      await offer(page).click()
      await heading(page, 'Yes').waitFor()
      expect(page.complaints).toEqual([])
    })
  }

  browserTest('P54: after a refusal nothing was shared, the button has the focus, and the code still counts', async openPage => {
    const { app, page, begin } = await openAsking(openPage)
    const { uri, by, read } = await begin()
    const wallet = await virtualWallet(page)
    await wallet.decline()
    await offer(page).click()
    await alert(page, 'Nothing was shared. Try again, or use another way.')
    // Some browsers leave the focus nowhere.
    await page.route('**/wallet/dc/response/*', async route => {
      await page.evaluate(() => (document.activeElement as HTMLElement).blur())
      await route.continue()
    })
    await wallet.respond(await by('openid4vp-v1-unsigned', 'declines'))
    await offer(page).click()
    await alert(page, 'The customer chose not to share. Nothing was sent.')
    await isFocused(offer(page))
    await look(page, 'digital-declined')
    await wallet.respond({ protocol: 'openid4vp-v1-unsigned', data: { response: 'nonsense' } })
    await offer(page).click()
    await alert(page, 'The answer of the wallet could not be read.')
    await page.route('**/wallet/dc/response/*', route => route.abort())
    await offer(page).click()
    await alert(page, 'The answer did not reach the server.')
    expect((await read()).status).toBe('pending')
    await answer(app, uri)
    await heading(page, 'Yes').waitFor()
  })

  browserTest('P54: an answer by the code ends the dialog that is open, and so does a stop', async openPage => {
    const noteEnd = `
      const get = navigator.credentials.get.bind(navigator.credentials)
      navigator.credentials.get = options => {
        const given = get(options)
        given.catch(({ name }) => { window.end = name })
        return given
      }`
    const { app, page, begin } = await openAsking(openPage, {}, noteEnd)
    const ended = () => until(async () => (await page.evaluate('window.end')) === 'AbortError')
    const wallet = await virtualWallet(page)
    const { uri } = await begin()
    await wallet.wait()
    await offer(page).click()
    await busy(page).waitFor()
    await answer(app, uri)
    await heading(page, 'Yes').waitFor()
    await ended()
    await button(page, 'Next customer').click()
    await page.evaluate('window.end = undefined')
    await begin()
    await offer(page).click()
    await busy(page).waitFor()
    await button(page, 'Stop this check').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop this check' }).click()
    await heading(page, 'What do you want to check?').waitFor()
    await ended()
    expect(page.complaints).toEqual([])
  })

  browserTest('a photo that was shared through the browser is compared as ever', async openPage => {
    const { app, page, origin, ...till } = await openAsking(openPage)
    await ask(page, 'Age 18 or over, with photo')
    const [{ id } = { id: '' }] = sessionsOf({ app, origin, ...till })
    const given = await answerOf(app, id, await holderOf(app), { origin, protocol: 'org-iso-mdoc' })
    await (await virtualWallet(page)).respond(given)
    await offer(page).click()
    await heading(page, 'Is this the customer?').waitFor()
  })

  browserTest(
    'P54: without requests, as for an origin that is not listed, there is no button, and the code as ever',
    async openPage => {
      const { page, begin } = await openAsking(openPage)
      await page.route('**/wallet/dc/request/*', route => route.fulfill({ status: 403, json: {} }))
      const refused = page.waitForResponse('**/wallet/dc/request/*')
      await begin()
      await refused
      await offer(page).waitFor({ state: 'detached' })
      await page.getByRole('img', { name: /QR code/ }).waitFor()
    },
  )

  browserTest('P54: a browser that cannot ask has no button', async openPage => {
    const { page, begin } = await openAsking(openPage, {}, 'delete window.DigitalCredential')
    const asked: string[] = []
    page.on('request', request => asked.push(new URL(request.url()).pathname))
    await begin()
    expect([await offer(page).count(), asked.filter(path => path.includes('/dc/'))]).toEqual([0, []])
  })

  browserTest('P54: in a frame there is no button, and no simulated wallet', async openPage => {
    const { origin, page, begin } = await openAsking(openPage)
    await begin()
    const around = await page.context().newPage()
    // As the demo is: of the same origin, and allowed to frame it.
    await around.route(`${origin}/around`, route =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><iframe src=/till></iframe>' }),
    )
    await around.route(`${origin}/till`, async route => {
      const response = await route.fetch()
      const policy = response.headers()['content-security-policy']!.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
      await route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': policy } })
    })
    await around.goto(`${origin}/around`)
    const framed = around.frameLocator('iframe')
    await framed.getByRole('img', { name: /QR code/ }).waitFor()
    expect(await framed.getByRole('button', { name: /this browser|simulated/ }).count()).toBe(0)
  })

  browserTest('a live till does not offer the simulated wallet', async openPage => {
    const { page } = await openTill(openPage, { live: true })
    await button(page, 'Age 18 or over').click()
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    expect(await simulated(page).count()).toBe(0)
  })
})

browserTest(
  'the simulated wallet opens as a popup: who declines shares nothing, and an answer is the verdict',
  async openPage => {
    const { page, begin } = await openAsking(openPage)
    await begin()
    const open = async () => (await Promise.all([page.waitForEvent('popup'), simulated(page).click()]))[0]
    await clickToClose((await open()).getByRole('button', { name: 'Do not share' }))
    await alert(page, 'Nothing was shared. Try again, or use another way.')
    await clickToClose((await open()).getByRole('button', { name: 'Share', exact: true }))
    await heading(page, 'Yes').waitFor()
    expect(page.complaints).toEqual([])
  },
)
