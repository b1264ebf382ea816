import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { inspect } from 'node:util'
import { type CallOptions, type Client, createClient } from '../../src/sdk/client.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, startApp, type TestApp, until } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { deviceOf, register } from '../helpers/devices.ts'
import { type FaultyProxy, startFaultyProxy, stopProxies } from '../helpers/faulty-proxy.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'
import { failure } from './failure.ts'

let app: TestApp
let tenant: Awaited<ReturnType<TestApp['tenant']>>
let proxy: FaultyProxy
let vidimus: Client

beforeAll(async () => {
  app = await startApp()
})
afterAll(stopProxies)

async function newParty() {
  const tenant = await app.tenant()
  const proxy = await startFaultyProxy(app.url)
  return { tenant, proxy, vidimus: createClient({ baseUrl: proxy.url, apiKey: tenant.key }) }
}

const begin = async () => {
  ;({ tenant, proxy, vidimus } = await newParty())
}

const body = { template: 'age_over_18', purpose: 'To sell you wine' }
const created = async () => (await vidimus.usage()).verifications_created
const keysSent = (to = proxy) =>
  to.seen.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key'])

describe('verifications.create', () => {
  test.each([
    ['lost twice', ['lose', 'lose']],
    ['cut off', ['cut']],
    ['refused by the network', ['refuse']],
    ['answered by a proxy with 502, without the service', [{ status: 502, body: '<h1>Bad Gateway</h1>' }]],
    ['answered with 503', [{ status: 503, headers: { 'retry-after': '0' } }]],
  ] as const)('a response that is %s leads to one session, charged once, with one idempotency key', async (_, faults) => {
    await begin()
    proxy.next(...faults)
    const { pageUrl, ...verification } = await vidimus.verifications.create(body)
    // With the public name of the service, which the client does not call.
    expect(pageUrl).toBe(`https://verify.example/v/${verification.id}`)
    expect(verification).toMatchObject({ status: 'pending', template: 'age_over_18' })
    expect(keysSent()).toHaveLength(faults.length + 1)
    expect(new Set(keysSent()).size).toBe(1)
    expect(keysSent()[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(await created()).toBe(1)
    expect((await vidimus.verifications.list()).data).toEqual([verification])
  })

  test('without a Link header pageUrl is below the base URL', async () => {
    await begin()
    proxy.next({ status: 201, body: '{"id":"vs_1"}' })
    expect((await vidimus.verifications.create(body)).pageUrl).toBe(`${proxy.url}/v/vs_1`)
  })

  test('two calls create two sessions; with an idempotency key of your own they create one', async () => {
    await begin()
    const [first, second] = [await vidimus.verifications.create(body), await vidimus.verifications.create(body)]
    expect(first.id).not.toBe(second.id)
    const again = { idempotencyKey: 'order-77' }
    expect(await vidimus.verifications.create(body, again)).toEqual(await vidimus.verifications.create(body, again))
    expect(await created()).toBe(3)
    expect(await failure(vidimus.verifications.create({ template: 'age_over_16' }, again))).toMatchObject({
      code: 'idempotency_key_reused',
      status: 422,
      maybeDone: false,
    })
    await expect(vidimus.verifications.create(body, { idempotencyKey: 'a b' })).rejects.toThrow(TypeError)
  })

  test('a spent quota throws at once: midnight is beyond any timeout', async () => {
    await begin()
    tenant = await app.tenant({ name: 'Small', dailyQuota: 1 })
    vidimus = createClient({ baseUrl: proxy.url, apiKey: tenant.key })
    await vidimus.verifications.create(body)
    expect(await failure(vidimus.verifications.create(body))).toMatchObject({
      code: 'quota_exceeded',
      status: 429,
      retryAfterMs: 12 * 3_600_000,
      maybeDone: false,
    })
    expect(keysSent()).toHaveLength(2)
  })

  test('a refusal is not repeated, and the error has its code and the request id', async () => {
    await begin()
    const error = await failure(vidimus.verifications.create({ template: 'no_such' }))
    expect(error).toMatchObject({ name: 'VidimusError', code: 'unknown_template', status: 422, maybeDone: false })
    expect(error.requestId).toMatch(/^req_/)
    expect(error.message).toContain('template')
    expect(keysSent()).toHaveLength(1)
  })
})

describe('repeats', () => {
  test.concurrent('a creation is tried four times at most; then the error says that it may have been done', async () => {
    const { proxy, vidimus } = await newParty()
    proxy.next('lose', 'lose', 'lose', 'lose')
    expect(await failure(vidimus.verifications.create(body))).toMatchObject({
      code: 'no_answer',
      status: undefined,
      maybeDone: true,
    })
    expect(keysSent(proxy)).toHaveLength(4)
    expect((await vidimus.usage()).verifications_created).toBe(1)
  })

  test.concurrent('a 429 is repeated after Retry-After', async () => {
    const { proxy, vidimus } = await newParty()
    proxy.next({ status: 429, headers: { 'retry-after': '1' } })
    const startedAt = performance.now()
    await vidimus.verifications.create(body)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(995)
    expect(new Set(keysSent(proxy)).size).toBe(1)
    expect((await vidimus.usage()).verifications_created).toBe(1)
  })

  test.concurrent('a repeat while the first request is under way waits for it', async () => {
    const { proxy, vidimus } = await newParty()
    const inFlight = JSON.stringify({ error: { code: 'idempotency_key_in_flight', message: 'still running' } })
    proxy.next('lose', { status: 409, headers: { 'retry-after': '30' }, body: inFlight })
    expect(await vidimus.verifications.create(body)).toMatchObject({ status: 'pending' })
    expect((await vidimus.usage()).verifications_created).toBe(1)
  })

  test.concurrent('a hanging service leaves time for another attempt, and the call ends with its timeout', async () => {
    let calls = 0
    // The second attempt needs no network: a busy machine might not answer in the time that is left.
    const once = async (url: string, init: RequestInit) =>
      calls++ === 0 ? await fetch(url, init) : Response.json({ day: '2026-03-04', verifications_created: 7 })
    const { tenant, proxy, vidimus } = await newParty()
    const hanging = createClient({ baseUrl: proxy.url, apiKey: tenant.key, timeoutMs: 3000, fetch: once })
    proxy.next('hang')
    expect(await hanging.usage()).toMatchObject({ verifications_created: 7 })
    expect([calls, proxy.seen.length]).toEqual([2, 1])
    proxy.always(/./, 'hang')
    expect((await failure(vidimus.usage({ timeoutMs: 100 }))).code).toBe('no_answer')
    await expect(vidimus.usage({ timeoutMs: Number.POSITIVE_INFINITY })).rejects.toThrow(TypeError)
  })

  test.concurrent('wait survives a service that is unreachable for a while', async () => {
    const { tenant, vidimus } = await newParty()
    const session = await vidimus.verifications.create(body)
    // The stream, and a poll with all its attempts.
    let away = 5
    const failing = (url: string, init: RequestInit) => {
      if (/\/(events|status)$/.test(url) && away-- > 0) throw new TypeError('nobody there')
      return fetch(url, init)
    }
    const waiting = createClient({ baseUrl: app.url, apiKey: tenant.key, fetch: async (url, init) => await failing(url, init) })
    const ended = waiting.verifications.wait(session.id)
    await until(async () => away < 5)
    await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
    expect((await ended).status).toBe('completed')
  })
})

describe('signals', () => {
  test.each<[string, (options: CallOptions) => Promise<unknown>]>([
    ['create', options => vidimus.verifications.create(body, options)],
    ['get', options => vidimus.verifications.get('vs_1', options)],
    ['list', options => vidimus.verifications.list({}, options)],
    ['all', options => vidimus.verifications.all({}, options).next()],
    ['wait', options => vidimus.verifications.wait('vs_1', options)],
    ['redeem', options => vidimus.verifications.redeem('vs_1', 'a'.repeat(32), options)],
    ['cancel', options => vidimus.verifications.cancel('vs_1', options)],
    ['erase', options => vidimus.verifications.erase('vs_1', options)],
    ['devices.register', options => vidimus.devices.register({ name: 'Till', allowed_templates: ['age_over_18'] }, options)],
    ['devices.list', options => vidimus.devices.list(options)],
    ['devices.revoke', options => vidimus.devices.revoke('x', options)],
    ['templates', options => vidimus.templates(options)],
    ['usage', options => vidimus.usage(options)],
  ])('%s throws the reason of its signal, aborted before or under way', async (_, call) => {
    await begin()
    proxy.always(/./, 'hang')
    const controller = new AbortController()
    const ended = call({ signal: controller.signal }).catch(error => error)
    await until(async () => proxy.seen.length === 1)
    controller.abort('enough')
    expect(await ended).toBe('enough')
    expect(await call({ signal: controller.signal }).catch(error => error)).toBe('enough')
    expect(proxy.seen).toHaveLength(1)
  })

  test('a signal ends the pause between attempts too', async () => {
    await begin()
    const controller = new AbortController()
    proxy.next({ status: 429, headers: { 'retry-after': '20' }, body: '' })
    const { setTimeout } = globalThis
    let pauses = 0
    // The pause is Retry-After and up to half a second more; without the signal it would last too long.
    const start = (run: () => void, ms = 0) => {
      const isPause = ms >= 20_000 && ms <= 20_500
      if (isPause) pauses++
      return setTimeout(isPause ? () => {} : run, ms)
    }
    const timers = spyOn(globalThis, 'setTimeout').mockImplementation(start as never)
    const ended = vidimus.usage({ signal: controller.signal }).catch(error => error)
    await until(async () => pauses === 1).finally(() => timers.mockRestore())
    controller.abort('enough')
    expect(await ended).toBe('enough')
    expect(proxy.seen).toHaveLength(1)
  })
})

describe('list and all', () => {
  test('all() reads every page once, newest first, and list() returns one', async () => {
    await begin()
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await vidimus.verifications.create(body)).id)
    const read = async (query?: { limit?: number; before?: string }) =>
      (await Array.fromAsync(vidimus.verifications.all(query))).map(({ id }) => id)
    expect(await read()).toEqual(ids)
    expect(await read({ limit: 2 })).toEqual(ids)
    // A full last page is followed by an empty one.
    expect(await read({ limit: 5 })).toEqual(ids)
    const { data } = await vidimus.verifications.list({ limit: 2 })
    expect(data.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect(await read({ limit: 2, before: data[1]?.created_at })).toEqual(ids.slice(2))
  })

  test('a value that is not an id never becomes a path', async () => {
    await begin()
    for (const id of ['', '..', '../usage', 'a/b', 'vs_1?x', 'vs_1#'])
      await expect(vidimus.verifications.get(id)).rejects.toThrow(TypeError)
    expect(proxy.seen).toEqual([])
  })

  test('an endless response is cut off', async () => {
    const endless = () =>
      new Response(new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(1024 * 1024).fill(32)) }))
    const client = createClient({ baseUrl: app.url, apiKey: tenant.key, fetch: async () => endless() })
    expect(await failure(client.usage())).toMatchObject({ code: 'unexpected_answer', status: 200, maybeDone: false })
  })

  test('an endless response to a creation or redemption may mean that it was done', async () => {
    const endless = () =>
      new Response(new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(1024 * 1024).fill(32)) }))
    const { verifications } = createClient({ baseUrl: app.url, apiKey: 'vk_test_1', fetch: async () => endless() })
    for (const call of [verifications.create(body), verifications.redeem('vs_1', 'x')])
      expect(await failure(call)).toMatchObject({ code: 'unexpected_answer', status: 200, maybeDone: true })
  })

  test.each<[string, () => Promise<unknown>]>([
    ['create', () => vidimus.verifications.create(body)],
    ['get', () => vidimus.verifications.get('vs_1')],
    ['list', () => vidimus.verifications.list()],
    ['all', () => vidimus.verifications.all().next()],
    ['wait', () => vidimus.verifications.wait('vs_1')],
    ['redeem', () => vidimus.verifications.redeem('vs_1', 'x')],
    ['cancel', () => vidimus.verifications.cancel('vs_1')],
    ['erase', () => vidimus.verifications.erase('vs_1')],
    ['templates', () => vidimus.templates()],
    ['usage', () => vidimus.usage()],
    ['devices.list', () => vidimus.devices.list()],
  ])('other JSON of another server is no result of %s', async (_, act) => {
    for (const other of ['{}', '[]', '{"data":null,"id":null,"status":null}']) {
      await begin()
      proxy.next({ status: 200, body: other })
      expect([other, await failure(act())]).toEqual([other, expect.objectContaining({ code: 'unexpected_answer', status: 200 })])
    }
  })

  test('a page of another server is not a result', async () => {
    await begin()
    proxy.next({ status: 200, body: '<h1>Log in to the hotel network</h1>' })
    expect(await failure(vidimus.usage())).toMatchObject({ code: 'unexpected_answer', status: 200, maybeDone: false })
    proxy.next({ status: 200, body: 'null' })
    expect(await failure(vidimus.verifications.create(body))).toMatchObject({ code: 'unexpected_answer', maybeDone: true })
  })
})

describe('verifications.wait', () => {
  const answered = async ({ wallet_uri = '' }: Verification, persona: 'adult' | 'minor' = 'adult') =>
    await answerWith(app, await holderOf(app, persona), wallet_uri)
  const paths = () => proxy.seen.map(({ path }) => path.replace(/vs_\w+/, ':id'))

  test.each([
    ['adult', 'completed'],
    ['minor', 'failed'],
  ] as const)('wait resolves with the whole verification once it has ended: %s, %s', async (persona, status) => {
    await begin()
    const session = await vidimus.verifications.create(body)
    const waiting = vidimus.verifications.wait(session.id)
    await until(async () => paths().includes('/v1/verifications/:id/events'))
    await answered(session, persona)
    const verification = await waiting
    expect(verification.status).toBe(status)
    expect(verification).toEqual(await vidimus.verifications.get(session.id))
  })

  test('wait resolves with an expired verification', async () => {
    const own = await startApp()
    const { key } = await own.tenant()
    const session = await createVerification(own, key)
    own.clock.advance(301_000)
    expect((await createClient({ baseUrl: own.url, apiKey: key }).verifications.wait(session.id)).status).toBe('expired')
  })

  test.each([
    ['are not there', { status: 404, body: 'no' }],
    ['break off', 'refuse'],
    ['end at once', { status: 200, headers: { 'content-type': 'text/event-stream' }, body: 'retry: 1000\n\n' }],
  ] as const)('wait polls without the key where events %s', async (_, fault) => {
    await begin()
    proxy.always(/\/events$/, fault)
    const session = await vidimus.verifications.create(body)
    const waiting = vidimus.verifications.wait(session.id)
    await until(async () => paths().includes('/v1/verifications/:id/status'))
    await answered(session)
    expect((await waiting).status).toBe('completed')
    const open = proxy.seen.filter(({ path }) => /\/(status|events)$/.test(path))
    expect(open.length).toBeGreaterThan(1)
    expect(open.filter(({ headers }) => headers.authorization !== undefined)).toEqual([])
  })

  test('wait throws session_not_found for an unknown id, and when the session is erased meanwhile', async () => {
    await begin()
    expect((await failure(vidimus.verifications.wait('vs_none'))).code).toBe('session_not_found')
    const { id } = await vidimus.verifications.create(body)
    const waiting = failure(vidimus.verifications.wait(id))
    await until(async () => paths().includes('/v1/verifications/:id/events'))
    await vidimus.verifications.erase(id)
    expect((await waiting).code).toBe('session_not_found')
  })
})

describe('redeem, cancel and erase', () => {
  async function redirected(): Promise<{ id: string; code: string }> {
    const { id, wallet_uri = '' } = await vidimus.verifications.create({ ...body, redirect_url: 'https://shop.example/done' })
    const exchange = await answerWith(app, await holderOf(app), wallet_uri)
    const { redirect_uri } = exchange.body as { redirect_uri: string }
    return { id, code: new URLSearchParams(new URL(redirect_uri).hash.slice(1)).get('response_code') ?? '' }
  }

  test('a code returns the verification once; then it fails like a wrong code', async () => {
    await begin()
    const { id, code } = await redirected()
    proxy.next({ status: 429, headers: { 'retry-after': '0' }, body: '' })
    expect(await vidimus.verifications.redeem(id, code)).toMatchObject({ id, status: 'completed' })
    expect(await failure(vidimus.verifications.redeem(id, code))).toMatchObject({
      code: 'invalid_response_code',
      maybeDone: false,
    })
  })

  test.each([['lose'], ['refuse'], [{ status: 502 }]] as const)(
    'redeeming is not repeated after %p, whose work may be done',
    async fault => {
      await begin()
      const { id, code } = await redirected()
      const before = proxy.seen.length
      proxy.next(fault)
      expect(await failure(vidimus.verifications.redeem(id, code))).toMatchObject({ maybeDone: true })
      expect(proxy.seen.length - before).toBe(1)
    },
  )

  test('a cancellation whose response is lost is repeated, and returns the cancelled session', async () => {
    await begin()
    const { id } = await vidimus.verifications.create(body)
    proxy.next('lose')
    expect(await vidimus.verifications.cancel(id)).toMatchObject({ id, status: 'failed', error: { code: 'cancelled' } })
    const answered = await vidimus.verifications.create(body)
    await answerWith(app, await holderOf(app), answered.wallet_uri ?? '')
    expect(await failure(vidimus.verifications.cancel(answered.id))).toMatchObject({ code: 'session_already_responded' })
  })

  test('erase returns what was deleted; after a lost response the error says that it may have been this call', async () => {
    await begin()
    const [first, second] = [await redirected(), await redirected()]
    expect(await vidimus.verifications.erase(first.id)).toMatchObject({
      id: first.id,
      deleted: { verification_sessions: 1, verification_results: 1, webhook_deliveries: 0 },
    })
    expect(await failure(vidimus.verifications.erase(first.id))).toMatchObject({ code: 'session_not_found', maybeDone: false })
    proxy.next('lose')
    expect(await failure(vidimus.verifications.erase(second.id))).toMatchObject({ code: 'session_not_found', maybeDone: true })
    const erased = rowsOf<{ id: string }>(app.dir, `SELECT id FROM verification_sessions WHERE tenant_id = '${tenant.id}'`)
    expect(erased).toEqual([])
  })
})

describe('devices', () => {
  test('devices are registered, listed and revoked', async () => {
    await begin()
    const { device, pairing_code } = await vidimus.devices.register({ name: 'Till 1', allowed_templates: ['age_over_18'] })
    expect(pairing_code).toMatch(/^VD-/)
    expect(await vidimus.devices.list()).toEqual({ data: [device] })
    proxy.next('lose')
    expect(await vidimus.devices.revoke(device.id)).toMatchObject({ id: device.id, status: 'revoked' })
    expect((await deviceOf(app, tenant.key, device.id)).status).toBe('revoked')
  })

  test('a registration whose response was lost is not repeated, because its code is lost', async () => {
    await begin()
    proxy.next('lose')
    const registering = vidimus.devices.register({ name: 'Till 1', allowed_templates: ['age_over_18'] })
    expect(await failure(registering)).toMatchObject({ code: 'no_answer', maybeDone: true })
    expect((await vidimus.devices.list()).data).toHaveLength(1)
    await register(app, tenant.key)
  })
})

describe('the API key', () => {
  const client = () => createClient({ baseUrl: proxy.url, apiKey: tenant.key })

  test('the API key is in no text of a client or an error', async () => {
    await begin()
    const failures = [await failure(vidimus.verifications.get('vs_none'))]
    proxy.always(/./, 'refuse')
    failures.push(await failure(vidimus.devices.register({ name: 'Till', allowed_templates: ['age_over_18'] })))
    const texts = [client(), ...failures].flatMap(each => [String(each), JSON.stringify(each), inspect(each, { depth: 9 })])
    expect(texts.filter(text => text.includes(tenant.key.slice(8)))).toEqual([])
  })

  test.each(['', 'vk_test_abc\n', ' vk_test_abc', 'sk_live_abc', 'vk_test_', undefined])(
    'is refused when it is none, and not repeated in the message: %p',
    apiKey => {
      const make = () => createClient({ baseUrl: 'https://verify.example', apiKey: apiKey as string })
      expect(make).toThrow(TypeError)
      expect(make).not.toThrow(/abc/)
    },
  )

  test('the API key does not follow a redirect', async () => {
    await begin()
    const other = await startFaultyProxy(app.url)
    for (const status of [301, 302, 307, 308]) proxy.next({ status, headers: { location: `${other.url}/v1/usage` } })
    for (let i = 0; i < 4; i++)
      expect(await failure(vidimus.usage())).toMatchObject({ code: 'unexpected_answer', maybeDone: false })
    expect(other.seen).toEqual([])
    expect(proxy.seen).toHaveLength(4)
  })

  test.each([
    'http://verify.example',
    'http://8.8.8.8',
    'http://10.example.com',
    'http://172.32.0.1',
    'http://[2001:db8::1]',
    'http://fc00.example',
    'ftp://verify.example',
    'https://user:secret@verify.example',
    'https://verify.example/?a=b',
    'https://verify.example/#a',
    'verify.example',
    '',
  ])('the API key is not sent to %p', baseUrl => {
    expect(() => createClient({ baseUrl, apiKey: tenant.key })).toThrow(TypeError)
  })

  test.each([
    ['https://verify.example/', 'https://verify.example/v1/usage'],
    ['https://shop.example/verify/', 'https://shop.example/verify/v1/usage'],
    ['http://localhost:3000', 'http://localhost:3000/v1/usage'],
    ['http://127.1:3000', 'http://127.0.0.1:3000/v1/usage'],
    ['http://[::1]:3000', 'http://[::1]:3000/v1/usage'],
    ['http://192.168.10.5', 'http://192.168.10.5/v1/usage'],
    ['http://[fd00::5]', 'http://[fd00::5]/v1/usage'],
    ['http://vidimus:3000', 'http://vidimus:3000/v1/usage'],
    ['http://till.lan', 'http://till.lan/v1/usage'],
  ])('the base URL %p calls %p', async (baseUrl, url) => {
    const called: string[] = []
    const fetched = async (address: string) => {
      called.push(address)
      return Response.json({ day: '2026-03-04' })
    }
    await createClient({ baseUrl, apiKey: tenant.key, fetch: fetched }).usage()
    expect(called).toEqual([url])
  })
})
