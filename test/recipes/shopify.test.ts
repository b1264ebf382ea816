import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, type TestApp, until } from '../helpers/app.ts'
import { browserTest, expectAccessible } from '../helpers/browser.ts'
import { answerOf, listOrigin } from '../helpers/dc.ts'
import { freePort } from '../helpers/free-port.ts'
import { askTarget, type Merchant, startShopify, stopMerchants } from '../helpers/merchant.ts'
import { logOf, startAppFor } from '../helpers/receiver.ts'
import { environmentOfShopify } from '../helpers/recipe.ts'
import { virtualWallet } from '../helpers/virtual-wallet.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const SHOP = 'wine.myshopify.com'
const SECRET = 'the_app_client_secret'

let app: TestApp
let key: string
let merchant: Merchant
let webhookUrl: string
let tenantId: string
let shopify: ReturnType<typeof standIn>
/** Where webhooks go to. */
let isNameKnown = true

beforeAll(async () => {
  const port = await freePort()
  app = await startAppFor([{ allow: { address: '127.0.0.1', prefix: 32, port } }], {
    now: Date.now(),
    resolve: async () => {
      if (!isNameKnown) throw new Error('no such name')
      return ['127.0.0.1']
    },
  })
  const { tenant, webhookSecret } = await createTenant(app.deps, { name: 'Wine shop' }, 'test')
  tenantId = tenant.id
  key = await app.key(tenant.id, { scopes: ['verifications:create', 'verifications:read', 'verifications:delete'] })
  shopify = standIn()
  webhookUrl = `http://age.example:${port}/vidimus`
  merchant = await startShopify(port, {
    ...environmentOfShopify(),
    PORT: String(port),
    PUBLIC_URL: `http://age.example:${port}`,
    SHOPIFY_ADMIN_URL: shopify.url,
    VIDIMUS_URL: app.url,
    VIDIMUS_API_KEY: key,
    VIDIMUS_WEBHOOK_SECRET: webhookSecret,
  })
})
afterAll(async () => {
  await stopMerchants()
  await shopify.stop()
})

type Order = { tags: string[]; holds: { id: string; handle: string }[]; link?: string; session?: string; isRouted: boolean }

type Variables = {
  id?: string
  hold?: { handle: string }
  holdIds?: string[]
  tags?: string[]
  fields?: { ownerId: string; key: string; value: string }[]
}

/** As much of the Admin API as the recipe asks for. */
function standIn() {
  const orders = new Map<string, Order>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.headers.get('x-shopify-access-token') !== 'shpat_the_admin_token') return new Response('{}', { status: 401 })
      const { query, variables } = (await request.json()) as { query: string; variables: Variables }
      const { id, hold = { handle: '' }, holdIds = [], tags = [], fields: [field] = [] } = variables
      const number = /\d+$/.exec(id ?? field?.ownerId ?? '')?.[0] ?? ''
      const order = orders.get(number)
      if (!order) return Response.json({ data: { order: null } })
      const done = (name: string) => Response.json({ data: { [name]: { userErrors: [] } } })
      if (query.startsWith('query')) {
        const nodes = order.isRouted ? [{ id: `gid://shopify/FulfillmentOrder/${number}`, fulfillmentHolds: order.holds }] : []
        const session = order.session === undefined ? null : { value: order.session }
        return Response.json({ data: { order: { tags: order.tags, session, fulfillmentOrders: { nodes } } } })
      }
      if (query.includes('fulfillmentOrderHold(')) {
        order.holds.push({ id: `hold-${order.holds.length}`, handle: hold.handle })
        return done('fulfillmentOrderHold')
      }
      if (query.includes('fulfillmentOrderReleaseHold(')) {
        order.holds = order.holds.filter(each => !holdIds.includes(each.id))
        return done('fulfillmentOrderReleaseHold')
      }
      if (query.includes('metafieldsSet(')) {
        if (field?.key === 'age_check_url') order.link = field.value
        else order.session = field?.value
        return done('metafieldsSet')
      }
      order.tags.push(...tags)
      return done('tagsAdd')
    },
  })
  return { url: server.url.href, orders, stop: () => server.stop(true) }
}

let last = 5000
function placeOrder(): { id: number; order: Order } {
  const order: Order = { tags: [], holds: [{ id: 'other', handle: 'fraud-check' }], isRouted: true }
  shopify.orders.set(String(++last), order)
  return { id: last, order }
}

async function ordersCreate(id: number, { sku = '18-riesling', secret = SECRET, shop = SHOP } = {}): Promise<number> {
  const body = JSON.stringify({ id, line_items: [{ sku: 'glass' }, { sku }] })
  const hmac = createHmac('sha256', secret).update(body).digest('base64')
  const headers = { 'x-shopify-hmac-sha256': hmac, 'x-shopify-shop-domain': shop }
  return (await fetch(`${merchant.url}/shopify/orders-create`, { method: 'POST', body, headers })).status
}

/** The shop forwards a link of its own to the app, with a signature. */
async function viaProxy(link: string, init?: RequestInit, secret = SECRET): Promise<{ status: number; text: string }> {
  const response = await fetch(`${merchant.url}/age?${signedQuery(new URL(link), secret)}`, init)
  return { status: response.status, text: await response.text() }
}

function signedQuery({ search }: URL, secret = SECRET): URLSearchParams {
  const query = new URLSearchParams(`${search}&shop=${SHOP}&path_prefix=/apps/age&timestamp=1772625600`)
  const signed = [...query]
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join('')
  query.set('signature', createHmac('sha256', secret).update(signed).digest('hex'))
  return query
}

async function linked(link: string): Promise<Verification> {
  const { text } = await viaProxy(link)
  const [, id] = /session="(vs_\w+)"/.exec(text) ?? []
  return (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body
}

const answered = async ({ wallet_uri = '' }: Verification, persona: PersonaId = 'adult') =>
  (await answerWith(app, await holderOf(app, persona), wallet_uri)).body as { redirect_uri: string }

const ours = ({ holds }: Order) => holds.filter(({ handle }) => handle === 'vidimus-age').length

test('Shopify: an order is held once, released by the webhook, and its verification is erased', async () => {
  const { id, order } = placeOrder()
  expect([await ordersCreate(id), await ordersCreate(id)]).toEqual([200, 200])
  expect(ours(order)).toBe(1)
  const session = await linked(order.link ?? '')
  expect(session).toMatchObject({ status: 'pending', template: 'age_over_18', metadata: { order: String(id) } })
  expect((await linked(order.link ?? '')).id).toBe(session.id)
  await answered(session)
  await until(async () => order.tags.includes('age-confirmed'))
  // What others hold it for is theirs.
  expect(order.holds).toEqual([{ id: 'other', handle: 'fraud-check' }])
  await until(async () => (await app.call('GET', `/v1/verifications/${session.id}`, { key })).status === 404)
  expect((await viaProxy(order.link ?? '')).text).toContain('Your age is confirmed')
  expect(merchant.said()).toBe('')
})

test('Shopify: other products are not held; an order that is not routed yet is asked for again', async () => {
  const { id, order } = placeOrder()
  expect(await ordersCreate(id, { sku: '7-juice' })).toBe(200)
  expect(ours(order)).toBe(0)
  order.isRouted = false
  expect(await ordersCreate(id)).toBe(500)
})

test('Shopify: a webhook that is forged or of another shop does nothing', async () => {
  const { id, order } = placeOrder()
  expect(await ordersCreate(id, { secret: 'guessed' })).toBe(401)
  expect(await ordersCreate(id, { shop: 'other.myshopify.com' })).toBe(401)
  expect(ours(order)).toBe(0)
  const post = (headers: Record<string, string>) =>
    fetch(`${merchant.url}/vidimus`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        type: 'verification.completed',
        verification: { id: 'vs_1', status: 'completed', claims: { age_over_18: true }, metadata: { order: String(id) } },
        sent_at: '',
      }),
    })
  expect((await post({})).status).toBe(400)
  expect((await post({ 'x-service-signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` })).status).toBe(400)
  expect(order.tags).toEqual([])
})

test('Shopify: a yes of another session, though signed and with the number of the order in its metadata, releases nothing', async () => {
  const { id, order } = placeOrder()
  await ordersCreate(id)
  const foreign = { webhook_url: webhookUrl, metadata: { order: String(id) } }
  const deliver = async () => {
    const session = await createVerification(app, key, foreign)
    await answered(session)
    // Sessions of one millisecond follow each other by one.
    app.clock.advance(10)
    await until(async () => logOf(app, session.id).delivery?.status === 'delivered')
  }
  // Before the order has a session of its own, and after.
  await deliver()
  await linked(order.link ?? '')
  await deliver()
  expect([order.tags, ours(order)]).toEqual([[], 1])
})

test('Shopify: a link that was made up, or did not come through the shop, opens nothing', async () => {
  const { id, order } = placeOrder()
  await ordersCreate(id)
  const link = order.link ?? ''
  expect((await viaProxy(link.replace(/token=\w{4}/, 'token=0000'))).status).toBe(401)
  expect((await viaProxy(link.replace(String(id), String(id - 1)))).status).toBe(401)
  expect((await viaProxy(link, {}, 'guessed')).status).toBe(401)
  expect((await fetch(`${merchant.url}/age${new URL(link).search}`)).status).toBe(401)
})

test('Shopify: a path that is no address is 404, and ends nothing', async () => {
  for (const target of ['//', '//x:99999/', 'http://[/']) expect(await askTarget(merchant, target)).toBe('HTTP/1.1 404 Not Found')
  expect((await fetch(`${merchant.url}/age/page.js`)).status).toBe(200)
})

test('Shopify: a minor does not release the order, and may try again; the code of a redirect releases it', async () => {
  const { id, order } = placeOrder()
  await ordersCreate(id)
  const link = order.link ?? ''
  const first = await linked(link)
  await answered(first, 'minor')
  const second = await linked(link)
  expect([second.status, ours(order)]).toEqual(['pending', 1])
  expect(second.id).not.toBe(first.id)
  isNameKnown = false
  const { redirect_uri } = await answered(second)
  const response_code = new URLSearchParams(new URL(redirect_uri).hash.slice(1)).get('response_code')
  const handOver = (code: unknown) => viaProxy(link, { method: 'POST', body: JSON.stringify({ response_code: code }) })
  expect([(await handOver('x'.repeat(32))).status, (await handOver(7)).status]).toEqual([422, 422])
  expect([order.tags, ours(order)]).toEqual([[], 1])
  expect((await handOver(response_code)).status).toBe(204)
  expect([order.tags, ours(order)]).toEqual([['age-confirmed'], 0])
  await until(async () => (await app.call('GET', `/v1/verifications/${second.id}`, { key })).status === 404)
  expect((await handOver(response_code)).status).toBe(422)
})

test('Shopify: an answer by QR code counts when the page is opened again, without a webhook', async () => {
  const { id, order } = placeOrder()
  await ordersCreate(id)
  isNameKnown = false
  await answered(await linked(order.link ?? ''))
  const german = await viaProxy(order.link ?? '', { headers: { 'accept-language': 'de-AT,de' } })
  expect(german.text).toContain('Ihr Alter ist bestätigt.')
  expect([order.tags, ours(order)]).toEqual([['age-confirmed'], 0])
})

browserTest('Shopify: the buyer answers on a page of the shop, under its policy', async openPage => {
  const { id, order } = placeOrder()
  await ordersCreate(id)
  isNameKnown = false
  const storefront = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const url = new URL(request.url)
      const path = url.pathname.replace('/apps/age', '/age')
      return await fetch(`${merchant.url}${path}?${signedQuery(url)}`, {
        method: request.method,
        body: (await request.text()) || null,
      })
    },
  })
  const { origin } = storefront.url
  await listOrigin(app, tenantId, origin)
  const page = await openPage(origin)
  await page.goto(order.link?.replace(`https://${SHOP}`, '') ?? '')
  const element = page.locator('vidimus-verify')
  await element.locator('button[aria-disabled=false]').first().waitFor()
  await expectAccessible(page)
  const session = (await element.getAttribute('session')) ?? ''
  await (await virtualWallet(page)).respond(await answerOf(app, session, await holderOf(app), { origin }))
  await page.getByRole('button', { name: 'Continue with your wallet' }).click()
  await page.getByText('Your age is confirmed.').waitFor()
  expect([order.tags, ours(order)]).toEqual([['age-confirmed'], 0])
  expect(page.complaints.filter(each => !each.startsWith(`request to ${app.url}`))).toEqual([])
  await storefront.stop(true)
})
