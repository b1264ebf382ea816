// The wallet call on a shop's page and behind a shop's server. The browser is a stand-in here; test/pages has a real one.
import { afterEach, beforeAll, expect, test } from 'bun:test'
import { ask, canAsk, prefetch, send } from 'vidimus/browser'
import { createClient } from 'vidimus/client'
import { answerPage } from '../../src/sandbox/wallet/dc-wallet.ts'
import { startApp, type TestApp } from '../helpers/app.ts'
import { listOrigin, ORIGIN } from '../helpers/dc.ts'
import { startFaultyProxy, stopProxies } from '../helpers/faulty-proxy.ts'
import { holderOf } from '../helpers/wallet.ts'
import { failure } from './failure.ts'

type Get = (options: {
  digital: { requests: { protocol: string; data: Record<string, unknown> }[] }
  signal: AbortSignal
}) => unknown

let app: TestApp
const { fetch: realFetch } = globalThis
const NAMES = ['DigitalCredential', 'isSecureContext', 'document', 'top']

beforeAll(async () => {
  app = await startApp()
})

afterEach(async () => {
  for (const name of NAMES) Reflect.deleteProperty(globalThis, name)
  Reflect.deleteProperty(navigator, 'credentials')
  globalThis.fetch = realFetch
  await stopProxies()
})

/** A page of the shop: its browser adds the origin, and has a wallet. */
function openPage(get: Get, engine: object = {}): void {
  Object.assign(globalThis, { DigitalCredential: engine, isSecureContext: true, document: {}, top: globalThis })
  Object.defineProperty(navigator, 'credentials', { value: { get }, configurable: true })
  globalThis.fetch = ((url: string, init: RequestInit) =>
    realFetch(url, { ...init, headers: { ...init.headers, origin: ORIGIN } })) as typeof fetch
}

async function newShop() {
  const { id, key } = await app.tenant()
  await listOrigin(app, id)
  const vidimus = createClient({ baseUrl: app.url, apiKey: key })
  return { vidimus, key, session: await vidimus.verifications.create({ template: 'age_over_18' }) }
}

const walletAnswer = async (requests: Parameters<typeof answerPage>[0]['requests']) =>
  await answerPage({ requests, origin: ORIGIN }, await holderOf(app), { now: app.clock.now() })

const untouched = () => new AbortController().signal

test('a page asks the wallet and sends its answer, and the server redeems the code of that page', async () => {
  const { vidimus, session } = await newShop()
  // An old engine gives the data as text.
  openPage(async ({ digital }) => {
    const { protocol, data } = await walletAnswer(digital.requests)
    return { protocol, data: JSON.stringify(data) }
  })
  const prepared = await prefetch(`${app.url}/`, session.id)
  if (!prepared) throw new Error('this page can ask')
  const { status, response_code = '' } = await send(app.url, session.id, await ask(prepared, untouched()))
  expect(status).toBe('completed')
  expect((await vidimus.verifications.redeem(session.id, response_code)).claims).toEqual({ age_over_18: true })
  await expect(send(app.url, session.id, { protocol: 'org-iso-mdoc', data: {} })).rejects.toMatchObject({ status: 409 })
})

test('a browser without the wallet call, an unlisted page and an unknown session cannot ask', async () => {
  openPage(() => undefined, { userAgentAllowsProtocol: (protocol: string) => protocol === 'org-iso-mdoc' })
  expect(canAsk()).toBe(true)
  const { session } = await newShop()
  expect((await prefetch(app.url, session.id))?.requests.map(({ protocol }) => protocol)).toEqual(['org-iso-mdoc'])
  expect(await prefetch(app.url, 'vs_none')).toBeUndefined()
  expect(await prefetch('http://127.0.0.1:1', session.id)).toBeUndefined()
  expect(await prefetch(app.url, session.id, AbortSignal.abort())).toBeUndefined()
  globalThis.fetch = realFetch
  expect(await prefetch(app.url, session.id)).toBeUndefined()
  Reflect.deleteProperty(globalThis, 'DigitalCredential')
  expect(canAsk()).toBe(false)
  expect(await prefetch(app.url, session.id)).toBeUndefined()
})

test('an engine that refuses unknown protocols is asked once more by org-iso-mdoc alone', async () => {
  const { session } = await newShop()
  const asked: string[][] = []
  openPage(async ({ digital: { requests } }) => {
    asked.push(requests.map(({ protocol }) => protocol))
    if (requests.length > 1) throw new TypeError('unknown protocol')
    throw new DOMException('cancelled', 'NotAllowedError')
  })
  const prepared = await prefetch(app.url, session.id)
  if (!prepared) throw new Error('this page can ask')
  await expect(ask(prepared, untouched())).rejects.toHaveProperty('name', 'NotAllowedError')
  expect(asked).toEqual([['openid4vp-v1-unsigned', 'org-iso-mdoc'], ['org-iso-mdoc']])
})

test('a server asks and answers for its page; a lost answer is not sent again', async () => {
  const { vidimus, key, session } = await newShop()
  const proxy = await startFaultyProxy(app.url)
  const through = createClient({ baseUrl: proxy.url, apiKey: key }).verifications
  proxy.next('lose')
  const { requests, origin } = await through.dcRequest(session.id, { origin: ORIGIN, protocols: ['org-iso-mdoc'] })
  expect([origin, requests.map(({ protocol }) => protocol)]).toEqual([ORIGIN, ['org-iso-mdoc']])
  const answer = await walletAnswer(requests)
  expect((await failure(vidimus.verifications.dcRequest(session.id, { origin: 'https://other.example' }))).code).toBe(
    'origin_not_allowed',
  )
  proxy.seen.length = 0
  proxy.next('lose')
  expect(await failure(through.dcRespond(session.id, { origin: ORIGIN, ...answer }))).toMatchObject({
    code: 'no_answer',
    maybeDone: true,
  })
  expect(proxy.seen).toHaveLength(1)
  expect((await vidimus.verifications.get(session.id)).status).toBe('completed')
  expect((await failure(through.dcRespond(session.id, { origin: ORIGIN, ...answer }))).code).toBe('session_already_responded')
})
