import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { signWebhook } from '../../src/sdk/webhook.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { type TestApp, temporaryDir, until } from '../helpers/app.ts'
import { freePort } from '../helpers/free-port.ts'
import { startAppFor } from '../helpers/receiver.ts'
import { recipeBlock } from '../helpers/recipe.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const PHP = Bun.which('php')
const VERIFIERS = resolve(import.meta.dir, '../../src/handbook/recipes/verify-a-webhook.md')

type Order = { products: number[]; key: string; status: string; meta: Record<string, string>; notes?: string[] }

let app: TestApp
let key: string
let secret: string
let shop: ReturnType<typeof Bun.spawn> | undefined
let port: number
let orders: string

beforeAll(async () => {
  if (!PHP) return
  port = await freePort()
  app = await startAppFor([{ allow: { address: '127.0.0.1', prefix: 32, port } }], { now: Date.now() })
  const { tenant, webhookSecret } = await createTenant(app.deps, { name: 'Wine shop' }, 'test')
  key = await app.key(tenant.id, { scopes: ['verifications:create', 'verifications:read', 'verifications:delete'] })
  secret = webhookSecret
  const dir = temporaryDir()
  orders = join(dir, 'orders.json')
  writeFileSync(orders, '{}')
  writeFileSync(join(dir, 'vidimus-age-check.php'), recipeBlock('woocommerce.md', 'woocommerce'))
  const [, verifier] = /^```php\n([\s\S]*?)^```$/m.exec(readFileSync(VERIFIERS, 'utf8')) ?? []
  if (verifier === undefined) throw new Error('verify-a-webhook.md has no PHP')
  writeFileSync(join(dir, 'verify-webhook.php'), verifier)
  copyFileSync(join(import.meta.dir, 'wordpress.php'), join(dir, 'wordpress.php'))
  shop = Bun.spawn([PHP, '-d', 'display_errors=1', '-S', `127.0.0.1:${port}`, join(dir, 'wordpress.php')], {
    env: {
      PATH: process.env.PATH,
      ORDERS: orders,
      SHOP_URL: `http://shop.local:${port}`,
      VIDIMUS_URL: app.url,
      VIDIMUS_API_KEY: key,
      VIDIMUS_WEBHOOK_SECRET: secret,
    },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await until(async () =>
    fetch(`http://127.0.0.1:${port}/wp-json/vidimus/v1/redeem`, { method: 'POST' }).then(
      () => true,
      () => false,
    ),
  )
})
afterAll(async () => {
  shop?.kill()
  await shop?.exited
})

function woo(title: string, check: () => Promise<void>): void {
  test.skipIf(!PHP)(PHP ? `WooCommerce: ${title}` : `SKIPPED, as there is no php here: ${title}`, check)
}

let last = 76
function placeOrder(products: number[] = [18]): number {
  const id = ++last
  const order: Order = { products, key: `wc_order_${id}abc`, status: 'pending', meta: {} }
  writeFileSync(`${orders}.mine`, JSON.stringify({ ...JSON.parse(readFileSync(orders, 'utf8')), [id]: order }))
  renameSync(`${orders}.mine`, orders)
  return id
}
const orderOf = (id: number): Order => JSON.parse(readFileSync(orders, 'utf8'))[id]

const ask = async (path: string, init?: RequestInit) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  return { status: response.status, text: await response.text() }
}
const happen = async (id: number, event: string) => {
  const answer = await ask(`/${id}/${event}`)
  expect(answer.text).not.toMatch(/(Warning|Fatal error|Deprecated|Notice)/)
  return answer.text
}

/** The session that the page links to. */
async function linked(id: number): Promise<Verification> {
  const [, session] = /href="[^"]*\/v\/(vs_\w+)"/.exec(await happen(id, 'thankyou')) ?? []
  return (await app.call<Verification>('GET', `/v1/verifications/${session}`, { key })).body
}

const answered = async ({ wallet_uri = '' }: Verification, persona: PersonaId = 'adult') =>
  (await answerWith(app, await holderOf(app, persona), wallet_uri)).body as { redirect_uri: string }

const redeem = (body: object) =>
  ask('/wp-json/vidimus/v1/redeem', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

woo('a paid order is held, released by the webhook, and its verification is erased when it is done', async () => {
  const id = placeOrder()
  await happen(id, 'paid')
  expect(orderOf(id).status).toBe('on-hold')
  const session = await linked(id)
  expect(session).toMatchObject({ status: 'pending', template: 'age_over_18', metadata: { order: String(id) } })
  // A page that is opened again links to the same session.
  expect((await linked(id)).id).toBe(session.id)
  await answered(session)
  await until(async () => orderOf(id).status === 'processing')
  expect(orderOf(id).notes).toEqual(['Age over 18 confirmed by wallet.'])
  expect(await happen(id, 'thankyou')).toBe('<p>Your age is confirmed.</p>')
  await happen(id, 'completed')
  expect((await app.call('GET', `/v1/verifications/${session.id}`, { key })).status).toBe(404)
  expect(orderOf(id).meta).toEqual({ _vidimus_attempt: '1', _vidimus_checked: expect.stringMatching(/Z$/) })
})

woo('an order without such products is left alone', async () => {
  const id = placeOrder([7])
  await happen(id, 'paid')
  expect(orderOf(id).status).toBe('processing')
  expect(await happen(id, 'thankyou')).toBe('')
})

woo('a minor does not release the order; the next opening of the page starts another attempt', async () => {
  const id = placeOrder()
  await happen(id, 'paid')
  const first = await linked(id)
  await answered(first, 'minor')
  const second = await linked(id)
  expect([orderOf(id).status, second.status]).toEqual(['on-hold', 'pending'])
  expect(second.id).not.toBe(first.id)
})

woo('the code of the redirect releases the order, once, and only with the key of the order', async () => {
  const id = placeOrder()
  await happen(id, 'paid')
  const session = await linked(id)
  const { redirect_uri } = await answered(session)
  const url = new URL(redirect_uri)
  expect(url.searchParams.get('key')).toBe(orderOf(id).key)
  const response_code = new URLSearchParams(url.hash.slice(1)).get('response_code')
  expect((await redeem({ order: id, key: 'wc_order_other', response_code })).status).toBe(404)
  expect((await redeem({ order: id, response_code })).status).toBe(404)
  expect((await redeem({ order: id, key: orderOf(id).key, response_code: 'x'.repeat(32) })).status).toBe(422)
  expect((await redeem({ order: id, key: orderOf(id).key, response_code })).status).toBe(204)
  expect(orderOf(id).status).toBe('processing')
  expect((await redeem({ order: id, key: orderOf(id).key, response_code })).status).toBe(422)
  expect(orderOf(id).notes).toHaveLength(1)
})

woo('a webhook that is forged, of another order or not paid for releases nothing', async () => {
  const [id, other] = [placeOrder(), placeOrder()]
  await happen(id, 'paid')
  const mine = await linked(id)
  await linked(other)
  const message = (verification: object) =>
    JSON.stringify({ type: 'verification.completed', verification, sent_at: new Date().toISOString() })
  const completed = { id: mine.id, status: 'completed', claims: { age_over_18: true }, responded_at: new Date().toISOString() }
  const send = async (payload: string, secrets: string[]) =>
    await ask('/wp-json/vidimus/v1/webhook', {
      method: 'POST',
      body: payload,
      headers: { 'x-service-signature': await signWebhook({ payload, secrets, timestamp: Math.floor(Date.now() / 1000) }) },
    })
  const forged = 'whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGVzdHMsICMx'
  expect((await send(message({ ...completed, metadata: { order: String(id) } }), [forged])).status).toBe(400)
  expect((await ask('/wp-json/vidimus/v1/webhook', { method: 'POST', body: '{}' })).status).toBe(400)
  // Genuine, but the other order has another session; and an order that is not there.
  expect((await send(message({ ...completed, metadata: { order: String(other) } }), [secret])).status).toBe(204)
  expect((await send(message({ ...completed, metadata: { order: '1' } }), [secret])).status).toBe(204)
  expect((await send(message({ ...completed, claims: {}, metadata: { order: String(id) } }), [secret])).status).toBe(204)
  expect([orderOf(id).status, orderOf(other).status]).toEqual(['on-hold', 'pending'])
  expect([orderOf(id), orderOf(other)].map(({ meta }) => meta._vidimus_checked)).toEqual([undefined, undefined])
  // A yes before the payment is kept, and the payment goes through.
  const { _vidimus_id } = orderOf(other).meta
  await send(message({ ...completed, id: _vidimus_id, metadata: { order: String(other) } }), [secret])
  expect(orderOf(other).status).toBe('pending')
  await happen(other, 'paid')
  expect(orderOf(other).status).toBe('processing')
})
