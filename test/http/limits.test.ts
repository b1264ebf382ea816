import { expect, test } from 'bun:test'
import { parseNetworks } from '../../src/egress/addresses.ts'
import { createVerification, type ErrorBody, startApp, startWithTenant } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'

const statuses = async (count: number, act: () => Promise<{ status: number }>) => {
  const seen: number[] = []
  for (let i = 0; i < count; i++) seen.push((await act()).status)
  return seen
}
const times = (count: number, value: number) => Array.from({ length: count }, () => value)

test('a test key may burst 100 requests, then 50 a second; 429 has Retry-After', async () => {
  const { app, key } = await startWithTenant({ rateLimitScale: 1 })
  const read = () => app.call<ErrorBody>('GET', '/v1/usage', { key })
  expect(await statuses(100, read)).toEqual(times(100, 200))
  const refused = await read()
  expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limit_exceeded', '1'])
  expect(refused.headers.get('ratelimit')).toBe('"key";r=0;t=1')
  app.clock.advance(19)
  expect((await read()).status).toBe(429)
  app.clock.advance(1)
  expect(await statuses(2, read)).toEqual([200, 429])
  app.clock.advance(1000)
  expect(await statuses(51, read)).toEqual([...times(50, 200), 429])
})

test('each key of a tenant has its own budget, up to that of the tenant', async () => {
  const app = await startApp({ rateLimitScale: 0.02 }) // key 2 (live 8), tenant 16
  const { id } = await app.tenant()
  const keys = await Promise.all([1, 2, 3].map(() => app.key(id, { environment: 'live' })))
  const read = (key: string) => statuses(9, () => app.call('GET', '/v1/usage', { key }))
  expect(await read(keys[0] ?? '')).toEqual([...times(8, 200), 429])
  expect(await read(keys[1] ?? '')).toEqual([...times(8, 200), 429])
  expect(await read(keys[2] ?? '')).toEqual(times(9, 429))
})

test('creations have a budget of their own per tenant and environment', async () => {
  const { app, id } = await startWithTenant({ rateLimitScale: 1 })
  const keys = await Promise.all([1, 2].map(() => app.key(id)))
  const create = (key: string) => app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
  expect(await statuses(60, () => create(keys[0] ?? ''))).toEqual(times(60, 201))
  expect(await statuses(41, () => create(keys[1] ?? ''))).toEqual([...times(40, 201), 429])
})

test('the status poll is limited per session to 10 at once and 2 a second', async () => {
  const { app, key } = await startWithTenant({ rateLimitScale: 1 })
  const { id } = await createVerification(app, key)
  const poll = () => app.call<ErrorBody>('GET', `/v1/verifications/${id}/status`)
  expect(await statuses(11, poll)).toEqual([...times(10, 200), 429])
  app.clock.advance(1000)
  expect(await statuses(3, poll)).toEqual([200, 200, 429])
  expect((await poll()).headers.get('ratelimit-policy')).toBe('"status";q=10;w=5')
  expect((await app.call('GET', `/v1/verifications/${(await createVerification(app, key)).id}/status`)).status).toBe(200)
})

test('an address may poll 200 sessions at once and 50 a second, known or not', async () => {
  const app = await startApp({ rateLimitScale: 1 })
  let n = 0
  expect(await statuses(201, () => app.call('GET', `/v1/verifications/vs_${n++}/status`))).toEqual([...times(200, 404), 429])
})

test('each client behind a trusted proxy has its own budget and cannot forge another', async () => {
  const app = await startApp({ rateLimitScale: 0.01, config: { trustedProxies: parseNetworks('127.0.0.1') } }) // ip: 2
  let n = 0
  const from = (address: string) =>
    app.call('GET', `/v1/verifications/vs_${n++}/status`, { headers: { 'x-forwarded-for': address } })
  expect(await statuses(3, () => from('203.0.113.7'))).toEqual([404, 404, 429])
  expect(await statuses(3, () => from('198.51.100.1, 203.0.113.8'))).toEqual([404, 404, 429])
  expect((await from('1.2.3.4, 203.0.113.8')).status).toBe(429)
})

test('bad keys of an address get 429 after 30, 10 a minute after that 401; a good key behind it is not refused', async () => {
  const { app, key } = await startWithTenant({ rateLimitScale: 1 })
  const guess = () => app.call('GET', '/v1/usage', { key: 'vk_test_guess' })
  expect(await statuses(31, guess)).toEqual([...times(30, 401), 429])
  expect((await app.call('GET', '/v1/usage', { key })).status).toBe(200)
  app.clock.advance(6000)
  expect(await statuses(2, guess)).toEqual([401, 429])
})

test('a stranger with the id of a QR code gets 429, and leaves the budgets of its wallet and its shop whole', async () => {
  const { app, key } = await startWithTenant({ rateLimitScale: 1, config: { trustedProxies: parseNetworks('127.0.0.1') } })
  const { id } = await createVerification(app, key, { ttl_seconds: 3600 })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const acts = {
    fetch: (address: string) => app.call('GET', `/wallet/request/${id}`, { headers: from(address) }),
    answer: (address: string) =>
      app.call('POST', `/wallet/response/${id}`, { raw: new URLSearchParams({ x: '1' }), headers: from(address) }),
    poll: (address: string) => app.call('GET', `/v1/verifications/${id}/status`, { headers: from(address) }),
  }
  for (let i = 0; i < 60; i++) {
    for (const act of Object.values(acts)) await act('203.0.114.7')
    app.clock.advance(10_000)
  }
  const seen = async (address: string) => [(await acts.fetch(address)).status, (await acts.answer(address)).status]
  expect(await seen('203.0.114.7')).toEqual([429, 429])
  expect(await seen('203.0.114.99')).toEqual([200, 400])
  expect(await statuses(12, () => acts.poll('203.0.114.7'))).toContain(429)
  expect((await acts.poll('203.0.114.99')).status).toBe(200)
})

test('pages of other origins can read 429 and Retry-After', async () => {
  const { app, key } = await startWithTenant({ rateLimitScale: 1 })
  const { id } = await createVerification(app, key)
  for (const path of [`/v1/verifications/${id}/status`, `/wallet/request/${id}`]) {
    for (let i = 0; i < 10; i++) await app.call('GET', path)
    const { status, headers } = await app.call('GET', path)
    const shown = ['access-control-allow-origin', 'cross-origin-resource-policy'].map(name => headers.get(name))
    expect([status, ...shown]).toEqual([429, '*', 'cross-origin'])
    const readable = headers.get('access-control-expose-headers')?.split(', ')
    expect(readable).toEqual(['retry-after', 'ratelimit', 'ratelimit-policy', 'x-request-id'])
    for (const name of readable!) expect([name, headers.has(name)]).toEqual([name, true])
  }
})

test('429 is sent before the body is checked', async () => {
  const { app, key } = await startWithTenant({ rateLimitScale: 0.01 })
  const call = { key, raw: '{', headers: { 'content-type': 'application/json', 'idempotency-key': 'a b' } }
  expect(await statuses(2, () => app.call('POST', '/v1/verifications', call))).toEqual([400, 429])
})

test('at most 64 requests of a key are in work at once; disconnected clients free their places', async () => {
  const gate = Promise.withResolvers<string[]>()
  const allInWork = Promise.withResolvers<void>()
  let inWork = 0
  const resolve = () => {
    if (++inWork === 64) allInWork.resolve()
    return gate.promise
  }
  const { app, key } = await startWithTenant({ rateLimitScale: 100, resolve })
  const body = { template: 'age_over_18', webhook_url: 'https://hooks.shop.example/' }
  const gone = new AbortController()
  const waiting = Array.from({ length: 64 }, (_, i) =>
    fetch(`${app.url}/v1/verifications`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: i < 32 ? gone.signal : undefined,
    }).then(
      response => response.status,
      () => 'gone',
    ),
  )
  await allInWork.promise
  expect((await app.call('GET', '/v1/usage', { key })).status).toBe(429)
  gone.abort()
  gate.resolve(['93.184.215.14'])
  const outcomes = await Promise.all(waiting)
  expect(outcomes.filter(each => each === 201)).toHaveLength(32)
  // Every place is free again: 64 more fit.
  for (let i = 0; i < 3; i++) {
    const again = await Promise.all(
      Array.from({ length: 64 }, () => app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })),
    )
    expect(again.filter(({ status }) => status === 201)).toHaveLength(64)
  }
})

test('the timeline of a session has at most a hundred events that anybody can cause', async () => {
  const { app, key } = await startWithTenant()
  const { id } = await createVerification(app, key)
  const events = () => rowsOf<{ event: string }>(app.dir, 'SELECT event FROM verification_events').map(({ event }) => event)
  const answer = () => app.call('POST', `/wallet/response/${id}`, { raw: new URLSearchParams({ x: '1' }) })
  for (let i = 0; i < 99; i++) expect((await answer()).status).toBe(400)
  expect(events()).toHaveLength(99)
  for (let i = 0; i < 3; i++) expect((await answer()).status).toBe(400)
  expect(events()).toHaveLength(100)
  // Kept with the session; test/verifications/fetches.test.ts has their limit.
  expect((await app.call('GET', `/wallet/request/${id}`)).status).toBe(200)
  expect(events()).toHaveLength(100)
})
