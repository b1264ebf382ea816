// The server of the recipe as it stands on the page, in Node, with a browser and its wallet.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { browserTest, expectAccessible } from '../helpers/browser.ts'
import { answerOf, listOrigin, presentThrough } from '../helpers/dc.ts'
import { freePort } from '../helpers/free-port.ts'
import { type Merchant, startMerchant, stopMerchants } from '../helpers/merchant.ts'
import { environmentOf, recipeBlock } from '../helpers/recipe.ts'
import { virtualWallet } from '../helpers/virtual-wallet.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const PAGE = 'digital-credentials.md'

let app: TestApp
let key: string
let shop: Merchant

beforeAll(async () => {
  app = await startApp({ now: Date.now(), config: { publicUrl: '' } })
  const { id } = await app.tenant()
  key = await app.key(id, { scopes: ['verifications:create', 'verifications:read', 'verifications:delete'] })
  const port = await freePort()
  await listOrigin(app, id, `http://127.0.0.1:${port}`)
  const env = {
    ...environmentOf(recipeBlock(PAGE, 'digital-credentials environment')),
    VIDIMUS_URL: app.url,
    VIDIMUS_API_KEY: key,
  }
  shop = await startMerchant(recipeBlock(PAGE, 'digital-credentials'), port, { ...env, PORT: String(port) })
})
afterAll(async () => {
  await stopMerchants()
  await cleanUp()
})

/** A customer at the checkout. */
async function visit() {
  const first = await fetch(`${shop.url}/checkout`)
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
  const sessionIn = (html: string) => /<vidimus-verify session="(vs_\w+)" sandbox>/.exec(html)?.[1] ?? ''
  return {
    session: sessionIn(await first.text()),
    open: async () => await (await fetch(`${shop.url}/checkout`, { headers: { cookie } })).text(),
    checked: async (code: string) =>
      (await fetch(`${shop.url}/checked`, { method: 'POST', body: code, headers: { cookie } })).status,
    sessionIn,
  }
}

const answeredOnPage = async (session: string, persona?: PersonaId) =>
  (await presentThrough(app, session, await holderOf(app, persona), { origin: shop.url })).body.response_code ?? ''
const statusOf = async (session: string) => (await app.call('GET', `/v1/verifications/${session}`, { key })).status

test('An online shop: a code of this cart confirms the age and erases the session; others are refused', async () => {
  const [mine, other] = [await visit(), await visit()]
  const code = await answeredOnPage(mine.session)
  expect(await other.checked(code)).toBe(400)
  expect(await mine.checked('x'.repeat(43))).toBe(400)
  expect(await mine.checked('x'.repeat(600))).toBe(503)
  expect((await fetch(`${shop.url}/checked`, { method: 'POST', body: code })).status).toBe(404)
  expect(await mine.checked(code)).toBe(204)
  expect(await mine.open()).toContain('Your age is confirmed.')
  expect(await statusOf(mine.session)).toBe(404)
  expect(other.sessionIn(await other.open())).toBe(other.session)
})

test('An online shop: an answer by QR code counts; a minor gets another session', async () => {
  const [byCode, minor] = [await visit(), await visit()]
  const { wallet_uri = '' } = (await app.call<Verification>('GET', `/v1/verifications/${byCode.session}`, { key })).body
  await answerWith(app, await holderOf(app), wallet_uri)
  expect(await byCode.checked('')).toBe(204)
  expect(await byCode.open()).toContain('Your age is confirmed.')
  expect(await minor.checked(await answeredOnPage(minor.session, 'minor'))).toBe(204)
  const again = minor.sessionIn(await minor.open())
  expect([again, again === minor.session]).toEqual([expect.stringMatching(/^vs_/), false])
})

browserTest('An online shop: the customer answers on the page of the recipe, under its policy', async openPage => {
  const page = await openPage(shop.url)
  await page.goto('/checkout')
  const element = page.locator('vidimus-verify')
  await element.locator('button[aria-disabled=false]').first().waitFor()
  await expectAccessible(page)
  const session = (await element.getAttribute('session')) ?? ''
  await (await virtualWallet(page)).respond(await answerOf(app, session, await holderOf(app), { origin: shop.url }))
  await page.getByRole('button', { name: 'Continue with your wallet' }).click()
  await page.getByText('Your age is confirmed.').waitFor()
  expect(await statusOf(session)).toBe(404)
  expect(page.complaints.filter(each => !each.startsWith(`request to ${app.url}`))).toEqual([])
})
