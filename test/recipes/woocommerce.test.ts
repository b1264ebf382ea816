// The plug-in for WooCommerce, from the zip that is installed, in PHP against the real service. WordPress and WooCommerce are
// stood in for: see wordpress.php beside this.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildShops, PLUGIN } from '../../scripts/build/shops.ts'
import { readPo } from '../../scripts/build/translations.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { signWebhook } from '../../src/sdk/webhook.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, type TestApp, temporaryDir, until } from '../helpers/app.ts'
import { browserTest, expectAccessible } from '../helpers/browser.ts'
import { answerOf, listOrigin } from '../helpers/dc.ts'
import { freePort } from '../helpers/free-port.ts'
import { startAppFor } from '../helpers/receiver.ts'
import { virtualWallet } from '../helpers/virtual-wallet.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const [PHP, PYTHON] = [Bun.which('php'), Bun.which('python3')]
const SOURCES = resolve(import.meta.dir, '../../src/sdk/woocommerce')
const UNZIP =
  'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2]); print("\\n".join(z.namelist()))'

let app: TestApp
let key: string
let secret: string
let shop: ReturnType<typeof Bun.spawn> | undefined
let url: string
let plugins: string
let names: string[]
/** Between plug-in and service; it loses answers to the calls whose path ends so. */
let proxy: ReturnType<typeof Bun.serve> | undefined
let lost: string | undefined

beforeAll(async () => {
  if (!PHP || !PYTHON) return
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const dir = temporaryDir()
  plugins = join(dir, 'wp-content/plugins')
  mkdirSync(plugins, { recursive: true })
  await buildShops(join(dir, 'built'))
  names = execFileSync(PYTHON, ['-c', UNZIP, join(dir, `built/${PLUGIN}.zip`), plugins], { encoding: 'utf8' })
    .trim()
    .split('\n')
  for (const name of ['wordpress.php', 'route-exception.php']) cpSync(join(import.meta.dir, name), join(dir, name))
  app = await startAppFor([{ allow: { address: '127.0.0.1', prefix: 32, port } }], { now: Date.now(), config: { publicUrl: '' } })
  const { tenant, webhookSecret } = await createTenant(app.deps, { name: 'Wine shop' }, 'test')
  key = await app.key(tenant.id, { scopes: ['verifications:create', 'verifications:read', 'verifications:delete'] })
  secret = webhookSecret
  await listOrigin(app, tenant.id, url)
  proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      headers.delete('host')
      const answer = await fetch(`${app.url}${pathname}${search}`, {
        method: request.method,
        headers,
        body: (await request.text()) || undefined,
      })
      return lost !== undefined && pathname.endsWith(lost) ? new Response('', { status: 502 }) : answer
    },
  })
  shop = Bun.spawn([PHP, '-d', 'display_errors=1', '-S', `127.0.0.1:${port}`, join(dir, 'wordpress.php')], {
    env: { PATH: process.env.PATH, STATE: join(dir, 'state.json'), SHOP_URL: url },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await until(async () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  )
  expect(await save(SETTINGS())).toBe('saved')
})
afterAll(async () => {
  shop?.kill()
  await shop?.exited
  await proxy?.stop(true)
  await cleanUp()
})

function woo(title: string, check: () => Promise<void>): void {
  const isReady = PHP && PYTHON
  test.skipIf(!isReady)(isReady ? `WooCommerce: ${title}` : `SKIPPED, as there is no php or python3 here: ${title}`, check)
}

const SETTINGS = () => ({ url: app.url, api_key: key, webhook_secret: secret, template: 'age_over_18', 'categories[]': '5' })

async function ask(
  path: string,
  { form, cookie = '', ...init }: RequestInit & { form?: Record<string, string>; cookie?: string } = {},
) {
  const sent = form ? { method: 'POST', body: new URLSearchParams(form) } : {}
  const answer = await fetch(`${url}${path}`, { redirect: 'manual', ...init, ...sent, headers: { cookie, ...init.headers } })
  const text = await answer.text()
  expect(text).not.toMatch(/(Warning|Fatal error|Deprecated|Notice)(<\/b>)?:/)
  return { status: answer.status, text, location: answer.headers.get('location') ?? '' }
}

const STAFF = 'role=shop_manager'
const settingsPage = async () => (await ask('/wp-admin/admin.php?page=vidimus', { cookie: STAFF })).text
const nonceOf = (html: string, action: string) =>
  new RegExp(`value="${action}"><input type="hidden" name="_wpnonce" value="(\\w+)"`).exec(html)?.[1] ?? ''

/** A form of the settings page, and the outcome in the address that it leads to. */
async function submit(action: string, fields: Record<string, string>): Promise<string> {
  const form = { action, _wpnonce: nonceOf(await settingsPage(), action), ...fields }
  const { location } = await ask('/wp-admin/admin-post.php', { form, cookie: STAFF })
  return new URL(location).searchParams.get('vidimus') ?? ''
}
const save = (fields: Record<string, string>) => submit('vidimus_save', fields)

type Placed = { refused?: string; order?: number; meta?: Record<string, string> }
type State = { options: Record<string, object>; orders: Record<string, { meta: object }>; cron: unknown[]; log: string[] }
const stateOf = async (): Promise<State> => JSON.parse((await ask('/test/state')).text)

let visitors = 0
/** A customer with products in the cart. 18 is marked, 19 in a category of the settings, 7 neither. */
async function visit(products: string) {
  const cookie = `cart=visitor${++visitors}`
  await ask(`/test/cart?products=${products}`, { cookie })
  const call = async (name: 'session' | 'redeem', form: Record<string, string> = {}, nonce?: string) => {
    const known = nonce ?? /data-nonce="(\w+)"/.exec((await ask('/checkout', { cookie })).text)?.[1] ?? ''
    const { status, text } = await ask(`/?wc-ajax=vidimus_${name}`, { cookie, form: { nonce: known, ...form } })
    return { status, data: (status === 200 ? JSON.parse(text).data : {}) as { session: string; confirmed?: boolean } }
  }
  return {
    cookie,
    call,
    place: async (query = ''): Promise<Placed> =>
      JSON.parse((await ask(`/test/place?${query}`, { cookie, method: 'POST' })).text),
    /** A session answered by the wallet, and the code of the redirect. */
    async answered(persona: PersonaId = 'adult') {
      const { session } = (await call('session')).data
      const { wallet_uri = '' } = (await app.call<Verification>('GET', `/v1/verifications/${session}`, { key })).body
      const { redirect_uri } = (await answerWith(app, await holderOf(app, persona), wallet_uri)).body as { redirect_uri: string }
      expect(redirect_uri).toStartWith(`${url}/checkout#response_code=`)
      return { session, code: new URLSearchParams(new URL(redirect_uri).hash.slice(1)).get('response_code') ?? '' }
    },
  }
}

const REFUSAL = 'Please confirm the proof with your wallet before you place the order.'

woo('the zip has one folder with header, readme and German texts for every English one', async () => {
  const main = readFileSync(join(plugins, PLUGIN, `${PLUGIN}.php`), 'utf8')
  const { version } = await Bun.file(join(SOURCES, '../../../package.json')).json()
  expect(main).toContain(`\n * Version: ${version}\n`)
  expect(main.slice(0, 8192)).toMatch(/Plugin Name: .+[\s\S]+Requires PHP: 7\.4[\s\S]+Text Domain: vidimus-for-woocommerce/)
  expect(readFileSync(join(plugins, PLUGIN, 'readme.txt'), 'utf8')).toMatch(
    new RegExp(`^=== .+ ===\n[\\s\\S]*\nStable tag: ${version}\n`),
  )
  expect(names.every(name => name.startsWith(`${PLUGIN}/`))).toBe(true)
  for (const name of ['uninstall.php', 'client/Vidimus.php', 'LICENSE', `languages/${PLUGIN}-de_DE.mo`])
    expect(names).toContain(`${PLUGIN}/${name}`)
  const used = readdirSync(join(SOURCES, 'includes')).flatMap(name =>
    [...readFileSync(join(SOURCES, 'includes', name), 'utf8').matchAll(/__\('([^']+)', 'vidimus-for-woocommerce'\)/g)].map(
      ([, text = '']) => text,
    ),
  )
  const read =
    'import gettext, json, sys; t = gettext.GNUTranslations(open(sys.argv[1], "rb")); print(json.dumps({k: v for k, v in t._catalog.items() if k}))'
  const german = JSON.parse(
    execFileSync(PYTHON!, ['-c', read, join(plugins, PLUGIN, `languages/${PLUGIN}-de_DE.mo`)], { encoding: 'utf8' }),
  ) as object
  expect(Object.keys(german).toSorted()).toEqual([...new Set(used)].toSorted())
  const po = readPo(readFileSync(join(SOURCES, `languages/${PLUGIN}-de_DE.po`), 'utf8'))
  expect(new Map(Object.entries(german))).toEqual(new Map([...po].filter(([id]) => id)))
})

woo('settings are for staff, keep key and secret to themselves, and are saved only when all are right', async () => {
  const page = await settingsPage()
  expect(page).toContain('Wine &amp; more')
  expect(page).toContain(`<code>${url}</code>`)
  expect(page).toContain('The API key is a test key')
  for (const hidden of [key, secret]) expect(page).not.toContain(hidden)
  expect((await ask('/wp-admin/admin.php?page=vidimus')).status).toBe(403)
  const form = { action: 'vidimus_save', ...SETTINGS(), _wpnonce: nonceOf(page, 'vidimus_save') }
  expect((await ask('/wp-admin/admin-post.php', { form })).status).toBe(403)
  expect(
    (await ask('/wp-admin/admin-post.php', { form: { ...form, _wpnonce: nonceOf(page, 'vidimus_test') }, cookie: STAFF })).status,
  ).toBe(403)
  const before = (await stateOf()).options
  for (const [fields, outcome] of [
    [{ url: 'http://verify.example' }, 'bad_url'],
    [{ url: 'javascript:alert(1)' }, 'bad_url'],
    [{ api_key: 'vk_test_' }, 'bad_key'],
    [{ webhook_secret: 'whsec_short' }, 'bad_secret'],
    [{ template: '"><script>' }, 'bad_template'],
  ] as const)
    expect(await save({ ...SETTINGS(), ...fields })).toBe(outcome)
  expect((await stateOf()).options).toEqual(before)
  // Empty fields keep both.
  expect(await save({ ...SETTINGS(), api_key: '', webhook_secret: '' })).toBe('saved')
  expect((await stateOf()).options).toEqual(before)
})

woo('the test button says what is wrong, and leaves no session behind', async () => {
  const sessions = async () => (await app.call<{ data: unknown[] }>('GET', '/v1/verifications', { key })).body.data.length
  const before = await sessions()
  expect(await submit('vidimus_test', {})).toBe('works')
  await save({ ...SETTINGS(), template: 'no_such' })
  expect(await submit('vidimus_test', {})).toBe('unknown_template')
  const { id } = await app.tenant()
  await save({ ...SETTINGS(), api_key: await app.key(id, { scopes: ['verifications:create', 'verifications:delete'] }) })
  expect(await submit('vidimus_test', {})).toBe('origin_not_allowed')
  await save({ ...SETTINGS(), api_key: `vk_test_${'0'.repeat(40)}` })
  expect(await submit('vidimus_test', {})).toBe('invalid_api_key')
  expect((await ask('/wp-admin/admin.php?page=vidimus&vidimus=invalid_api_key', { cookie: STAFF })).text).toContain(
    'does not know this API key',
  )
  await save(SETTINGS())
  expect(await sessions()).toBe(before)
  expect((await stateOf()).log.join()).not.toMatch(/vk_test|vs_/)
})

woo('an order without a proof is refused in every checkout; other carts are left alone', async () => {
  for (const products of ['18', '7,19']) {
    const { place, cookie } = await visit(products)
    expect(await place()).toEqual({ refused: REFUSAL })
    expect(await place('express')).toEqual({ refused: REFUSAL })
    expect(await place('block')).toEqual({ refused: REFUSAL })
    expect((await ask('/checkout-block', { cookie })).text).toContain('<vidimus-verify ')
  }
  const { place, cookie, call } = await visit('7')
  expect((await ask('/checkout', { cookie })).text).not.toContain('vidimus')
  expect((await call('session')).status).toBe(403)
  expect(await place()).toEqual({ order: expect.any(Number), meta: [] as never })
})

woo('a proof belongs to one cart: its code works once, there and with a nonce, for one order', async () => {
  const [mine, other] = [await visit('18'), await visit('18')]
  const { session, code } = await mine.answered()
  // Nothing is proven by the answer alone.
  expect(await mine.place()).toEqual({ refused: REFUSAL })
  expect((await mine.call('redeem', { response_code: code }, 'guessed')).status).toBe(403)
  await other.answered()
  expect((await other.call('redeem', { response_code: code })).data).toEqual({ confirmed: false } as never)
  expect((await mine.call('redeem', { response_code: 'short' })).data).toEqual({ confirmed: false } as never)
  expect((await mine.call('redeem', { response_code: code })).data).toEqual({ confirmed: true } as never)
  expect(await other.place()).toEqual({ refused: REFUSAL })
  expect((await ask('/checkout', { cookie: mine.cookie })).text).toContain('Your proof is confirmed.')
  // A card that was declined does not cost the proof.
  const meta = { _vidimus_id: session, _vidimus_confirmed: expect.stringMatching(/^age_over_18 \d{4}-\d\d-\d\dT[\d:]+Z$/) }
  expect(await mine.place('declined')).toMatchObject({ meta })
  expect(await mine.place('block')).toMatchObject({ meta })
  await ask('/test/cart?products=18', { cookie: mine.cookie })
  expect(await mine.place()).toEqual({ refused: REFUSAL })
})

woo('a minor is refused, and may try again with another session', async () => {
  const { call, place, answered } = await visit('18')
  const { session, code } = await answered('minor')
  expect((await call('redeem', { response_code: code })).data).toEqual({ confirmed: false } as never)
  expect(await place()).toEqual({ refused: REFUSAL })
  const again = (await call('session')).data.session
  expect(again).not.toBe(session)
  expect((await call('session')).data.session).toBe(again)
})

woo('a forged or replayed webhook is refused, and a genuine one alone confirms no cart', async () => {
  const { call, place } = await visit('18')
  const { session: id } = (await call('session')).data
  const send = (payload: string, signature?: string) =>
    ask('/wp-json/vidimus/v1/webhook', {
      method: 'POST',
      body: payload,
      headers: signature ? { 'x-service-signature': signature } : {},
    })
  const verification = { id, status: 'completed', claims: { age_over_18: true } }
  const payload = JSON.stringify({ type: 'verification.completed', verification, sent_at: new Date().toISOString() })
  const sign = (seconds: number, secrets: string[]) =>
    signWebhook({ payload, secrets, timestamp: Math.floor(Date.now() / 1000) + seconds })
  const genuine = await sign(0, [secret])
  expect((await send(payload)).status).toBe(400)
  expect((await send(payload, await sign(0, ['whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGVzdHMsICMx']))).status).toBe(400)
  expect((await send(payload, await sign(-400, [secret]))).status).toBe(400)
  expect((await send(`${payload} `, genuine)).status).toBe(400)
  expect((await send(payload, genuine)).status).toBe(204)
  // The same message, also under a header that is written in another way.
  expect((await send(payload, genuine)).status).toBe(409)
  expect((await send(payload, `v1=${'0'.repeat(64)}, ${genuine}`)).status).toBe(409)
  // An unknown part that ends like the time.
  expect((await send(payload, `at=1,${genuine}`)).status).toBe(409)
  expect(await place()).toEqual({ refused: REFUSAL })
})

woo('a redeem call whose answer was lost is settled by the webhook of the service', async () => {
  await save({ ...SETTINGS(), url: `http://127.0.0.1:${proxy?.port}` })
  const { call, place, answered } = await visit('18')
  const { code } = await answered()
  lost = '/redeem'
  expect((await call('redeem', { response_code: code })).status).toBe(503)
  lost = undefined
  await save(SETTINGS())
  let placed: Placed = {}
  await until(async () => {
    // Webhooks are due by the clock of the test.
    app.clock.advance(10)
    placed = await place()
    return placed.order !== undefined
  })
  expect(placed.meta).toMatchObject({ _vidimus_id: expect.stringMatching(/^vs_/) })
  expect((await stateOf()).log.at(-1)).toBe('unexpected_answer')
})

woo('a proof is erased with its order, when the order is anonymised, and on request of the customer', async () => {
  const buy = async () => {
    const { call, place, answered } = await visit('18')
    const { session, code } = await answered()
    await call('redeem', { response_code: code })
    return { session, order: (await place()).order }
  }
  const isThere = async (session: string) => (await app.call('GET', `/v1/verifications/${session}`, { key })).status === 200
  const [deleted, anonymised, asked] = [await buy(), await buy(), await buy()]
  await ask(`/test/delete?order=${deleted.order}`)
  await ask(`/test/anonymize?order=${anonymised.order}`)
  // While the service refuses, the erasure is put off.
  await save({ ...SETTINGS(), api_key: `vk_test_${'0'.repeat(40)}` })
  await ask('/test/cron')
  expect(JSON.parse((await ask('/test/erase?email=buyer@shop.example')).text)).toMatchObject({
    items_removed: false,
    items_retained: true,
  })
  await save(SETTINGS())
  expect([await isThere(deleted.session), await isThere(asked.session)]).toEqual([true, true])
  await ask('/test/cron')
  expect((await stateOf()).cron).toEqual([])
  expect(JSON.parse((await ask('/test/erase?email=buyer@shop.example')).text)).toMatchObject({
    items_removed: true,
    items_retained: false,
    done: true,
  })
  for (const { session } of [deleted, anonymised, asked]) expect(await isThere(session)).toBe(false)
  expect((await stateOf()).orders[String(asked.order)]?.meta).toEqual({ _vidimus_confirmed: expect.any(String) } as never)
})

if (PHP && PYTHON)
  browserTest(
    'WooCommerce: a customer proves an age on the checkout page, under a strict policy and in German',
    async openPage => {
      await ask('/test/locale?locale=de_AT')
      const { cookie, place } = await visit('18')
      const page = await openPage(url)
      await page.context().addCookies([{ name: 'cart', value: cookie.slice('cart='.length), url }])
      const session = page.waitForResponse(/vidimus_session/)
      await page.goto('/checkout-block')
      const { data } = (await (await session).json()) as { data: { session: string } }
      await page.locator('vidimus-verify button[aria-disabled=false]').first().waitFor()
      await page.getByText('In Ihrem Warenkorb liegt ein Produkt').waitFor()
      await expectAccessible(page)
      const wallet = await virtualWallet(page)
      await wallet.respond(await answerOf(app, data.session, await holderOf(app), { origin: url }))
      await page.getByRole('button', { name: 'Mit Ihrer Wallet fortfahren' }).click()
      await page.getByText('Ihr Nachweis ist bestätigt.').waitFor()
      expect(await place('block')).toMatchObject({ meta: { _vidimus_id: data.session } })
      expect(page.complaints.filter(each => !each.startsWith(`request to ${app.url}`))).toEqual([])
      await ask('/test/locale?locale=en_US')
    },
  )

if (PHP && PYTHON)
  browserTest('WooCommerce: the window that comes back from the hosted page confirms the one that waits', async openPage => {
    const { cookie, place } = await visit('18')
    const page = await openPage(url)
    await page.context().addCookies([{ name: 'cart', value: cookie.slice('cart='.length), url }])
    const session = page.waitForResponse(/vidimus_session/)
    await page.goto('/checkout')
    const { data } = (await (await session).json()) as { data: { session: string } }
    const { wallet_uri = '' } = (await app.call<Verification>('GET', `/v1/verifications/${data.session}`, { key })).body
    const { redirect_uri } = (await answerWith(app, await holderOf(app), wallet_uri)).body as { redirect_uri: string }
    const [back] = await Promise.all([page.waitForEvent('popup'), page.evaluate(to => void open(to), redirect_uri)])
    await back.getByText('Your proof is confirmed.').waitFor()
    expect(new URL(back.url()).hash).toBe('')
    await page.getByText('Your proof is confirmed.').waitFor()
    expect(await place()).toMatchObject({ meta: { _vidimus_id: data.session } })
  })
