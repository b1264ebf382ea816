// <vidimus-verify> on a page of another origin, under a strict policy, with the browser's virtual wallet.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, startApp, type TestApp, until } from '../helpers/app.ts'
import { browserTest, clickToClose, expectAccessible, type OpenPage, shoot, type WatchedPage } from '../helpers/browser.ts'
import { answerOf, listOrigin } from '../helpers/dc.ts'
import { type VirtualWallet, virtualWallet } from '../helpers/virtual-wallet.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

let app: TestApp
let server: ReturnType<typeof Bun.serve>

beforeAll(async () => {
  app = await startApp({ now: Date.now(), config: { publicUrl: '' } })
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: ({ url }) => shopPage(new URL(url).searchParams) })
})
afterAll(async () => {
  await server.stop(true)
  await cleanUp()
})

/** The page of a careful shop. Its own script comes from its own origin. */
function shopPage(wanted: URLSearchParams): Response {
  const service = app.deps.config.publicUrl
  if (wanted.has('script')) return new Response(SHOP_SCRIPT, { headers: { 'content-type': 'text/javascript' } })
  if (wanted.has('style')) return new Response(SHOP_STYLE, { headers: { 'content-type': 'text/css' } })
  const policy = `default-src 'none'; script-src 'self' ${service}; connect-src ${service}; style-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'`
  const elements = wanted
    .getAll('session')
    .map(id => `<vidimus-verify session="${id}"${wanted.has('sandbox') ? ' sandbox' : ''}></vidimus-verify>`)
  const html = `<!doctype html><html lang="${wanted.get('lang') ?? 'en'}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Checkout</title><link rel="stylesheet" href="/?style"><script type="module" src="/?script"></script><script type="module" src="${service}/verify.js"></script>
<main><h1>Wine &amp; Co</h1>${elements.join('')}</main></html>`
  return new Response(html, { headers: { 'content-type': 'text/html', 'content-security-policy': policy } })
}

const SHOP_SCRIPT = `
window.heard = []
window.listening = []
for (const name of ['answered', 'cancelled', 'error'])
  addEventListener('vidimus-' + name, ({ detail: { error, ...detail } }) => heard.push({ name, ...detail }))
window.dialogs = []
const { get } = CredentialsContainer.prototype
CredentialsContainer.prototype.get = function (options) {
  dialogs.push(options.signal)
  return get.call(this, options)
}
const { addEventListener: listen } = EventTarget.prototype
EventTarget.prototype.addEventListener = function (...args) {
  if (this === window || this === document) listening.push(args[0])
  return listen.apply(this, args)
}
`
const SHOP_STYLE = `
:root { color-scheme: light dark; --vidimus-accent: #7a1f3d; --vidimus-radius: 2px }
body { font-family: system-ui, sans-serif; margin: 24px auto; max-width: 420px; padding: 0 16px }
`

type Heard = { name: string; session: string; status?: string; response_code?: string; reason?: string; wallet_error?: string }

type Opened = {
  page: WatchedPage
  ids: string[]
  key: string
  tenantId: string
  sessions: Verification[]
  prefetches: () => string[]
  heard: () => Promise<Heard[]>
  wallet: VirtualWallet
}

type Wanted = { count?: number; lang?: string; isListed?: boolean; hasSandbox?: boolean }

async function openCheckout(
  openPage: OpenPage,
  { count = 1, lang = 'en', isListed = true, hasSandbox = false }: Wanted = {},
): Promise<Opened> {
  const { id: tenantId, key } = await app.tenant({ name: 'Wine & Co' })
  const { origin } = server.url
  if (isListed) await listOrigin(app, tenantId, origin)
  const sessions = await Promise.all(Array.from({ length: count }, () => createVerification(app, key)))
  const ids = sessions.map(({ id }) => id)
  const page = await openPage(origin, { viewport: { width: 390, height: 844 } })
  const asked: string[] = []
  page.on(
    'request',
    request => request.url().includes('/wallet/dc/request/') && request.method() === 'POST' && asked.push(request.url()),
  )
  await page.goto(`/?lang=${lang}${hasSandbox ? '&sandbox' : ''}${ids.map(id => `&session=${id}`).join('')}`)
  const heard = () => page.evaluate(() => (globalThis as unknown as { heard: Heard[] }).heard)
  return { page, ids, key, tenantId, sessions, prefetches: () => asked, heard, wallet: await virtualWallet(page) }
}

const ask = (page: WatchedPage) => page.getByRole('button', { name: 'Continue with your wallet' })
const other = (page: WatchedPage) => page.getByRole('link', { name: 'Use another device or app' })
/** The page loads the script of the service and calls it: that is what it is for. */
const complaintsOf = ({ complaints }: WatchedPage) =>
  complaints.filter(each => !each.startsWith(`request to ${app.deps.config.publicUrl}`))
const statusOf = async (id: string, key: string) =>
  (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body.status
const ready = (page: WatchedPage, count = 1) =>
  page
    .locator('vidimus-verify button[part=button][aria-disabled=false]')
    .nth(count - 1)
    .waitFor()

browserTest('a shop asks on its own page, and its server redeems the code that this page got, once', async openPage => {
  const { page, ids, key, prefetches, heard, wallet } = await openCheckout(openPage)
  const [id = ''] = ids
  await ready(page)
  await shoot(page, 'element')
  await wallet.respond(await answerOf(app, id, await holderOf(app), { origin: server.url.origin }))
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('Verified. Thank you.').waitFor()
  const [answered] = await heard()
  expect(answered).toMatchObject({ name: 'answered', session: id, status: 'completed' })
  const redeem = () =>
    app.call<Verification>('POST', `/v1/verifications/${id}/redeem`, { key, body: { response_code: answered?.response_code } })
  expect((await redeem()).body.claims).toEqual({ age_over_18: true })
  expect((await redeem()).status).toBe(404)
  expect([await ask(page).count(), await other(page).count(), (await heard()).length, prefetches().length]).toEqual([0, 0, 1, 1])
  // No listener outside its own shadow.
  expect(await page.evaluate(() => (globalThis as unknown as { listening: string[] }).listening)).toEqual([])
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('VIDIMUS-VERIFY')
  await expectAccessible(page)
  expect(complaintsOf(page)).toEqual([])
})

browserTest('nothing is shared after a refusal, the other way has the focus, and the next try counts', async openPage => {
  const { page, ids, key, heard, wallet } = await openCheckout(openPage)
  const [id = ''] = ids
  await ready(page)
  await wallet.decline()
  await ask(page).click()
  await page.getByText('Nothing was shared. Try again, or use another way.').waitFor()
  expect(await heard()).toEqual([{ name: 'cancelled', session: id }])
  expect(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.tagName)).toBe('A')
  await shoot(page, 'element-cancelled')
  await expectAccessible(page)
  // Of another page: it does not open here.
  const foreign = await answerOf(app, id, await holderOf(app), {
    origin: server.url.origin,
    protocol: 'org-iso-mdoc',
    walletOrigin: 'https://evil.example',
  })
  await wallet.respond(foreign)
  await ask(page).click()
  await page.getByText('That did not work. Try again, or use another way.').waitFor()
  expect((await heard()).at(-1)).toEqual({ name: 'error', session: id, reason: 'refused' })
  await wallet.respond({ protocol: 'openid4vp-v1-unsigned', data: { error: 'access_denied' } })
  await ask(page).click()
  await page.getByText('Nothing was shared.').waitFor()
  expect((await heard()).at(-1)).toEqual({ name: 'cancelled', session: id, wallet_error: 'access_denied' })
  expect(await statusOf(id, key)).toBe('pending')
  await wallet.respond(await answerOf(app, id, await holderOf(app, 'minor'), { origin: server.url.origin }))
  await ask(page).click()
  await page.getByText('Nothing was verified.').waitFor()
  expect((await heard()).at(-1)).toMatchObject({
    name: 'answered',
    session: id,
    status: 'failed',
    response_code: expect.any(String),
  })
  expect(complaintsOf(page).filter(each => !each.includes('400'))).toEqual([])
})

browserTest(
  'an element that is removed, changed or without a session is silent, and asks for each session once',
  async openPage => {
    const { page, ids, key, prefetches, heard, wallet } = await openCheckout(openPage, { count: 2 })
    const [first = '', second = ''] = ids
    await until(async () => prefetches().length === 2)
    await wallet.wait()
    await ready(page, 2)
    await ask(page).first().click()
    await page.getByText('Waiting for your wallet').waitFor()
    // The second click does nothing; the removed element closes the dialog, so that the other can open its own.
    await ask(page).first().click({ force: true })
    const change = (act: (elements: HTMLElement[]) => void) =>
      page.evaluate(`(${act})([...document.querySelectorAll('vidimus-verify')])`)
    await change(([one]) => one?.remove())
    await ask(page).click()
    await page.getByText('Waiting for your wallet').waitFor()
    // Moved, set to the session of the first, to none, and to a service that is not there.
    await change(([one]) => one && document.body.append(one))
    await page.evaluate(id => document.querySelector('vidimus-verify')?.setAttribute('session', id), first)
    await ready(page)
    await page.evaluate(id => document.querySelector('vidimus-verify')?.setAttribute('session', id), second)
    await ready(page)
    expect(prefetches().map(url => url.split('/').at(-1))).toEqual([first, second])
    await change(([one]) => one?.removeAttribute('session'))
    await ask(page).waitFor({ state: 'hidden' })
    expect(await other(page).count()).toBe(0)
    await change(([one]) => {
      one?.setAttribute('session', 'vs_x')
      one?.setAttribute('base', 'javascript:alert(1)//')
    })
    expect(await page.locator('vidimus-verify a').isVisible()).toBe(false)
    expect(await heard()).toEqual([])
    expect([await statusOf(first, key), await statusOf(second, key)]).toEqual(['pending', 'pending'])
    expect(complaintsOf(page)).toEqual([])
  },
)

browserTest('a page that is not listed links to the hosted page, in German, and follows what happens there', async openPage => {
  const { page, ids, sessions, heard } = await openCheckout(openPage, { isListed: false, lang: 'de', count: 2 })
  const link = page.getByRole('link', { name: 'Mit Ihrer Wallet fortfahren' })
  await link.nth(1).waitFor()
  expect(await page.getByRole('button').count()).toBe(0)
  await shoot(page, 'element-link')
  // Before the click: the first look comes at once, the next two seconds later.
  await answerWith(app, await holderOf(app), sessions[0]?.wallet_uri ?? '')
  const [opened] = await Promise.all([page.waitForEvent('popup'), link.first().click()])
  expect(opened.url()).toBe(`${app.deps.config.publicUrl}/v/${ids[0]}`)
  await page.getByText('Bestätigt. Danke.').waitFor()
  expect(await heard()).toEqual([{ name: 'answered', session: ids[0] ?? '', status: 'completed' }])
  await opened.close()
  app.clock.advance(301_000)
  const [late] = await Promise.all([page.waitForEvent('popup'), link.click()])
  await late.close()
  await page.getByText('Diese Anfrage ist abgelaufen. Es wurde nichts geteilt.').waitFor()
  expect((await heard()).at(-1)).toEqual({ name: 'error', session: ids[1] ?? '', reason: 'expired' })
  app.clock.set(Date.now())
  await expectAccessible(page)
})

browserTest('an open dialog is closed when the session is answered on another device', async openPage => {
  const { page, ids, sessions, heard, wallet } = await openCheckout(openPage)
  await ready(page)
  await wallet.wait()
  await ask(page).click()
  await answerWith(app, await holderOf(app), sessions[0]?.wallet_uri ?? '')
  await page.getByText('Verified. Thank you.').waitFor()
  expect(await heard()).toEqual([{ name: 'answered', session: ids[0] ?? '', status: 'completed' }])
  const isClosed = () =>
    page.evaluate(() => (globalThis as unknown as { dialogs: AbortSignal[] }).dialogs.map(each => each.aborted))
  expect(await isClosed()).toEqual([true])
  expect(complaintsOf(page)).toEqual([])
})

browserTest('an answer about the status that is cut off, or of a proxy, does not end the following', async openPage => {
  const { page, sessions } = await openCheckout(openPage, { isListed: false })
  const link = page.getByRole('link', { name: 'Continue with your wallet' })
  await link.waitFor()
  await answerWith(app, await holderOf(app), sessions[0]?.wallet_uri ?? '')
  const headers = { 'access-control-allow-origin': '*' }
  const bodies = ['{"id":"vs_', 'null', '<h1>Bad gateway</h1>']
  await page.route('**/status', route => {
    const body = bodies.shift()
    return body === undefined ? route.continue() : route.fulfill({ headers, body })
  })
  const [opened] = await Promise.all([page.waitForEvent('popup'), link.click()])
  await opened.close()
  await page.getByText('Verified. Thank you.').waitFor()
  expect(complaintsOf(page).filter(each => !each.includes('403'))).toEqual([])
})

browserTest('the sandbox wallet stands for the browser in a test, and takes the origin of the shop from it', async openPage => {
  const { page, ids, heard } = await openCheckout(openPage, { hasSandbox: true })
  const open = () => page.getByRole('button', { name: 'Answer with the sandbox wallet' }).click()
  await ready(page)
  await page.getByRole('button', { name: 'Answer with the sandbox wallet' }).waitFor()
  await shoot(page, 'element-sandbox')
  const [declined] = await Promise.all([page.waitForEvent('popup'), open()])
  await declined.getByText(server.url.origin).first().waitFor()
  await clickToClose(declined.getByRole('button', { name: 'Do not share' }))
  await page.getByText('Nothing was shared. Try again, or use another way.').waitFor()
  const [popup] = await Promise.all([page.waitForEvent('popup'), open()])
  await clickToClose(popup.getByRole('button', { name: 'Share', exact: true }))
  await page.getByText('Verified. Thank you.').waitFor()
  expect((await heard()).map(({ name, status }) => [name, status])).toEqual([
    ['cancelled', undefined],
    ['answered', 'completed'],
  ])
  expect((await heard()).at(-1)?.session).toBe(ids[0])
  expect(complaintsOf(page)).toEqual([])
})

browserTest('the end of a session leaves the focus in a field that the customer fills in', async openPage => {
  const { page, sessions, heard } = await openCheckout(openPage, { isListed: false })
  await page.evaluate(() => document.querySelector('main')?.append(document.createElement('input')))
  const link = page.getByRole('link', { name: 'Continue with your wallet' })
  const [opened] = await Promise.all([page.waitForEvent('popup'), link.click()])
  await opened.close()
  await page.locator('input').focus()
  await answerWith(app, await holderOf(app), sessions[0]?.wallet_uri ?? '')
  await page.getByText('Verified. Thank you.').waitFor()
  expect(await heard()).toHaveLength(1)
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT')
})

browserTest('an element that has ended stays so when it is moved, and starts again with another session', async openPage => {
  const { page, ids, prefetches, wallet, key } = await openCheckout(openPage)
  const [id = ''] = ids
  await ready(page)
  await wallet.respond(await answerOf(app, id, await holderOf(app), { origin: server.url.origin }))
  await ask(page).click()
  await page.getByText('Verified. Thank you.').waitFor()
  await page.evaluate(() => document.body.append(document.querySelector('vidimus-verify') ?? ''))
  // After the microtask of a restart.
  await page.evaluate(() => new Promise<void>(done => setTimeout(done)))
  expect([await ask(page).count(), await page.getByText('Verified. Thank you.').count()]).toEqual([0, 1])
  const next = await createVerification(app, key)
  await page.evaluate(id => document.querySelector('vidimus-verify')?.setAttribute('session', id), next.id)
  await ready(page)
  expect(prefetches()).toHaveLength(2)
})

browserTest('an element in a shadow root has the language of the page around it, and says which', async openPage => {
  const { page, ids } = await openCheckout(openPage, { isListed: false, lang: 'de' })
  await page.evaluate(id => {
    const host = document.createElement('div')
    const element = document.createElement('vidimus-verify')
    element.setAttribute('session', id)
    host.attachShadow({ mode: 'open' }).append(element)
    document.querySelector('vidimus-verify')?.replaceWith(host)
  }, ids[0] ?? '')
  await page.getByRole('link', { name: 'Mit Ihrer Wallet fortfahren' }).waitFor()
  await page.evaluate(() => {
    document.documentElement.lang = 'ar'
    document.documentElement.dir = 'rtl'
    document.body.append(document.querySelector('div') ?? '')
  })
  const link = page.getByRole('link', { name: 'Continue with your wallet' })
  await link.waitFor()
  expect(await link.evaluate(each => [each.matches(':lang(en)'), getComputedStyle(each).direction])).toEqual([true, 'ltr'])
})

browserTest('a sandbox script that cannot be loaded leaves the element as it is without one', async openPage => {
  const { page } = await openCheckout(openPage)
  await ready(page)
  await page.route('**/verify-sandbox.js', route => route.abort())
  const failed = page.waitForEvent('requestfailed')
  await page.evaluate(() => document.querySelector('vidimus-verify')?.setAttribute('sandbox', ''))
  await failed
  await ready(page)
  expect(page.complaints.filter(each => each.startsWith('uncaught'))).toEqual([])
})

browserTest('an element whose session was erased ends', async openPage => {
  const { page, ids, key, heard } = await openCheckout(openPage, { isListed: false })
  const link = page.getByRole('link', { name: 'Continue with your wallet' })
  await link.waitFor()
  await app.call('DELETE', `/v1/verifications/${ids[0]}`, { key })
  const [opened] = await Promise.all([page.waitForEvent('popup'), link.click()])
  await opened.close()
  await page.getByText('This request is closed.').waitFor()
  expect(await heard()).toEqual([{ name: 'error', session: ids[0] ?? '', reason: 'expired' }])
})

browserTest(
  'a request for the status that is never answered is given up before the next, and does not end the following',
  async openPage => {
    const { page, sessions } = await openCheckout(openPage, { isListed: false })
    const link = page.getByRole('link', { name: 'Continue with your wallet' })
    await link.waitFor()
    await answerWith(app, await holderOf(app), sessions[0]?.wallet_uri ?? '')
    const seen: string[] = []
    page.on('requestfailed', request => request.url().endsWith('/status') && seen.push('given up'))
    await page.route('**/status', async route => {
      if (seen.push('asked') > 1) await route.continue()
    })
    const [opened] = await Promise.all([page.waitForEvent('popup'), link.click()])
    await opened.close()
    await page.getByText('Verified. Thank you.').waitFor()
    expect(seen).toEqual(['asked', 'given up', 'asked'])
  },
)

browserTest('an element that is removed gives up its request for the status', async openPage => {
  const { page } = await openCheckout(openPage, { isListed: false })
  const link = page.getByRole('link', { name: 'Continue with your wallet' })
  await link.waitFor()
  // No timer runs: only the removal can end it.
  await page.evaluate(() => Object.assign(globalThis, { setTimeout: () => 0 }))
  const asked = Promise.withResolvers<void>()
  await page.route('**/status', () => asked.resolve())
  const [opened] = await Promise.all([page.waitForEvent('popup'), link.click()])
  await opened.close()
  await asked.promise
  const givenUp = page.waitForEvent('requestfailed', request => request.url().endsWith('/status'))
  await page.evaluate(() => document.querySelector('vidimus-verify')?.remove())
  await givenUp
})

browserTest('an answer that arrived, but whose response is lost, ends as one from another device does', async openPage => {
  const { page, ids, heard, wallet } = await openCheckout(openPage)
  const [id = ''] = ids
  await ready(page)
  await page.route('**/wallet/dc/response/**', async route => void (await route.fetch()))
  await page.evaluate(() => {
    const { timeout } = AbortSignal
    AbortSignal.timeout = ms => timeout.call(AbortSignal, ms / 20)
  })
  await wallet.respond(await answerOf(app, id, await holderOf(app), { origin: server.url.origin }))
  await ask(page).click()
  await page.getByText('Verified. Thank you.').waitFor()
  expect(await heard()).toEqual([
    { name: 'error', session: id, reason: 'failed' },
    { name: 'answered', session: id, status: 'completed' },
  ])
})

const GZIP_BYTES_MAX = 4300

test('verify.js is small, is fetched by any page, and again only when it has changed', async () => {
  const first = await app.call('GET', '/verify.js')
  expect(first.status).toBe(200)
  expect(Bun.gzipSync(first.text, { level: 9 }).length).toBeLessThan(GZIP_BYTES_MAX)
  expect(first.headers.get('content-type')).toStartWith('text/javascript')
  expect(first.headers.get('access-control-allow-origin')).toBe('*')
  expect(first.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  const etag = first.headers.get('etag') ?? ''
  const again = await app.call('GET', '/verify.js', { headers: { 'if-none-match': etag } })
  expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
  expect((await app.call('GET', '/verify.js', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  const asset = await app.call('GET', `/assets/${etag.slice(1, -1)}`)
  expect([asset.status, asset.text]).toEqual([200, first.text])
  expect(asset.headers.get('cache-control')).toContain('immutable')
})
