import { afterAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { createDeps } from '../../src/deps.ts'
import { parseCidr } from '../../src/egress/addresses.ts'
import { realWorld } from '../../src/ground.ts'
import { createChanges } from '../../src/verifications/changes.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { eraseVerification } from '../../src/verifications/erasure/erase.ts'
import { createVerification, type ErrorBody, outcome, startWithTenant, type TestApp, until } from '../helpers/app.ts'
import { answerWith, fetchOf, holderOf } from '../helpers/wallet.ts'

const FOLLOWERS_MAX = 8

const open = new Set<AbortController>()
const sockets = new Set<Socket>()
afterAll(() => {
  for (const controller of open) controller.abort()
  for (const socket of sockets) socket.destroy()
})

/** A stream that is read as it comes. */
async function follow(app: TestApp, id: string) {
  const controller = new AbortController()
  open.add(controller)
  const response = await fetch(`${app.url}/v1/verifications/${id}/events`, { signal: controller.signal })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const whole = (async () => {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) text += chunk.value
    return text
  })()
  whole.catch(() => {})
  return { response, seen: () => text, whole, leave: () => controller.abort() }
}

async function followPending(app: TestApp, id: string) {
  const stream = await follow(app, id)
  await until(async () => stream.seen().includes('pending'))
  return stream
}

const event = (id: string, status: string) => `event: status\ndata: {"id":"${id}","status":"${status}"}\n\n`

const START = 'retry: 1000\n\n'

async function startWithSession(body: object = {}) {
  const { app, id: tenantId, key } = await startWithTenant()
  return { app, tenantId, key, session: await createVerification(app, key, body) }
}

describe('GET /v1/verifications/{id}/events', () => {
  test('the stream has the status at once, after every moment, and ends with the final one', async () => {
    const { app, session } = await startWithSession()
    const { id, wallet_uri = '' } = session
    const stream = await follow(app, id)
    await until(async () => stream.seen() === `${START}${event(id, 'pending')}`)
    await answerWith(app, await holderOf(app), wallet_uri)
    // The wallet fetched the request, and then answered it.
    expect(await stream.whole).toBe(`${START}${event(id, 'pending')}${event(id, 'pending')}${event(id, 'completed')}`)
  })

  test('the stream has the headers of the poll, and is never cached', async () => {
    const { app, session } = await startWithSession()
    const { response } = await follow(app, session.id)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const poll = await app.call('GET', `/v1/verifications/${session.id}/status`)
    for (const name of [
      'access-control-allow-origin',
      'cross-origin-resource-policy',
      'cache-control',
      'content-security-policy',
    ])
      expect([name, response.headers.get(name)]).toEqual([name, poll.headers.get(name)])
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('the stream tells nginx, which holds answers back by default, to pass on each event at once', async () => {
    const { app, session } = await startWithSession()
    const { response } = await follow(app, session.id)
    expect(response.headers.get('x-accel-buffering')).toBe('no')
  })

  test('the stream of an ended session has its status, and ends', async () => {
    const { app, session } = await startWithSession()
    await answerWith(app, await holderOf(app, 'minor'), session.wallet_uri ?? '')
    const { whole } = await follow(app, session.id)
    expect(await whole).toBe(`${START}${event(session.id, 'failed')}`)
  })

  test('the stream never has more than the status, whatever was shared', async () => {
    const { app, key } = await startWithTenant()
    const { id, wallet_uri = '' } = await createVerification(app, key, { template: 'identity_basic', metadata: { order: '77' } })
    const { whole } = await follow(app, id)
    await answerWith(app, await holderOf(app), wallet_uri)
    const lines = (await whole).split('\n').filter(line => line.startsWith('data: '))
    expect(lines.length).toBe(3)
    for (const line of lines) expect(Object.keys(JSON.parse(line.slice(6)))).toEqual(['id', 'status'])
    const { text } = await app.call('GET', `/v1/verifications/${id}`, { key })
    const { claims } = JSON.parse(text) as { claims: Record<string, string> }
    expect(claims.family_name).toBeString()
    expect(await whole).not.toContain(claims.family_name!)
  })

  test('the stream has the deadline, with the sweep or before it', async () => {
    const { app, session } = await startWithSession({ ttl_seconds: 60 })
    const early = await followPending(app, session.id)
    app.clock.advance(60_000)
    const late = await follow(app, session.id)
    expect(await late.whole).toBe(`${START}${event(session.id, 'expired')}`)
    await sweepExpired(app.deps)
    expect(await early.whole).toBe(`${START}${event(session.id, 'pending')}${event(session.id, 'expired')}`)
  })

  test('the stream has the deadline without a sweep', async () => {
    const { app, session } = await startWithSession({ ttl_seconds: 60 })
    app.clock.advance(59_900)
    const stream = await followPending(app, session.id)
    app.clock.advance(100)
    // A stream that looks before the clock has moved says that it waits, which is no event.
    const told = (await stream.whole).replaceAll(': waiting\n\n', '')
    expect(told).toBe(`${START}${event(session.id, 'pending')}${event(session.id, 'expired')}`)
  })

  test('the stream ends when the session is erased; that of an unknown session is 404 in the envelope', async () => {
    const { app, key, session } = await startWithSession()
    const stream = await followPending(app, session.id)
    await app.call('DELETE', `/v1/verifications/${session.id}`, { key })
    expect(await stream.whole).toBe(`${START}${event(session.id, 'pending')}`)
    expect(outcome(await app.call('GET', `/v1/verifications/${session.id}/events`))).toBe('404 session_not_found')
  })

  test('a session has at most eight streams, and one that ends makes room', async () => {
    const { app, key, session } = await startWithSession()
    const path = `/v1/verifications/${session.id}/events`
    const streams = await Promise.all(Array.from({ length: FOLLOWERS_MAX }, () => follow(app, session.id)))
    expect(streams.map(({ response }) => response.status)).toEqual(Array(FOLLOWERS_MAX).fill(200))
    const { status, headers, body } = await app.call<ErrorBody>('GET', path)
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limit_exceeded', '10'])
    const other = await createVerification(app, key)
    expect((await follow(app, other.id)).response.status).toBe(200)
    streams[0]!.leave()
    await until(async () => (await follow(app, session.id)).response.status === 200)
  })

  test('a HEAD request takes none of the eight places', async () => {
    const { app, session } = await startWithSession()
    const path = `/v1/verifications/${session.id}/events`
    for (let i = 0; i <= FOLLOWERS_MAX; i++) expect((await app.call('HEAD', path)).status).toBe(200)
  })

  test('a stream is charged to the budget of the poll', async () => {
    const { app, key } = await startWithTenant({ rateLimitScale: 1 })
    const { id } = await createVerification(app, key)
    const path = `/v1/verifications/${id}`
    const { response } = await follow(app, id)
    expect(response.headers.get('ratelimit')).toMatch(/^"status";r=9;/)
    for (let i = 0; i < 9; i++) expect((await app.call('GET', `${path}/status`)).status).toBe(200)
    const { status, headers } = await app.call('GET', `${path}/events`)
    expect([status, headers.get('retry-after')]).toEqual([429, '1'])
  })

  test('a stream ends when the service stops', async () => {
    const { app, session } = await startWithSession()
    const stream = await followPending(app, session.id)
    await app.stop()
    expect(await stream.whole).toBe(`${START}${event(session.id, 'pending')}`)
  })

  test('a stream stays open while nothing happens, and shows a change by another process', async () => {
    const { app, tenantId, session } = await startWithSession()
    const stream = await followPending(app, session.id)
    const command = await createDeps(app.deps.config, { ...realWorld(), now: app.clock.now }, 'command')
    await eraseVerification(command, { tenantId, environment: 'test' }, 'test', session.id)
    await command.close()
    expect(await stream.whole).toBe(`${START}${event(session.id, 'pending')}`)
  })
})

describe('the places for streams', () => {
  test('at most a thousand streams are open at once', () => {
    const changes = createChanges({ subscribe: () => () => {} })
    const follower = { wake: () => {}, end: () => {} }
    const sharers = (i: number) => ({ tenantId: `ten_${i % 10}`, client: `192.0.2.${i % 100}` })
    const leave = Array.from({ length: 1000 }, (_, i) => changes.follow(`vs_${i}`, sharers(i), follower))
    const more = (name: string) => changes.follow(name, { tenantId: 'ten_new', client: '192.0.2.200' }, follower)
    expect(() => more('vs_more')).toThrow('Too many requests')
    leave[0]!()
    leave[0]!()
    more('vs_more')
    expect(() => more('vs_another')).toThrow('Too many requests')
  })

  test('while more than half are taken, a tenant beyond 250 and an address beyond 50 get 429, and no stream is closed', async () => {
    const { app, ...first } = await startWithTenant({ config: { trustedProxies: [parseCidr('127.0.0.1')!] } })
    const [shop, bakery, kiosk] = [
      await seats(app, first.key),
      await seats(app, await keyOf(app)),
      await seats(app, await keyOf(app)),
    ]
    // One shop behind one address, while nobody else needs a place.
    const early = await shop.take(500, '198.51.100.1')
    expect(statusesOf(early)).toEqual({ 200: 500 })
    const last = await shop.take(1, '198.51.100.1')
    expect(statusesOf(last)).toEqual({ 200: 1 })
    const [refused] = await shop.take(1, '198.51.100.2')
    expect(refused!.head).toMatch(/^HTTP\/1\.1 429 [\s\S]*\nretry-after: 10\r\n[\s\S]*rate_limit_exceeded/i)
    expect(statusesOf(await bakery.take(1, '198.51.100.1'))).toEqual({ 429: 1 })
    expect(statusesOf(await bakery.take(50, '198.51.100.3'))).toEqual({ 200: 50 })
    expect(statusesOf(await bakery.take(1, '198.51.100.3'))).toEqual({ 429: 1 })
    for (let network = 4; network < 8; network++)
      expect(statusesOf(await bakery.take(50, `198.51.100.${network}`))).toEqual({ 200: 50 })
    expect(statusesOf(await bakery.take(1, '198.51.100.9'))).toEqual({ 429: 1 })
    expect(statusesOf(await kiosk.take(1, '198.51.100.9'))).toEqual({ 200: 1 })
    expect([...early, ...last].filter(({ hasEnded }) => hasEnded())).toEqual([])
    // The refused poll instead.
    expect((await app.call('GET', `/v1/verifications/${shop.sessions[0]}/status`)).status).toBe(200)
    for (const stream of early.slice(0, 252)) stream.leave()
    await until(async () => statusesOf(await shop.take(1, '198.51.100.1'))[200] === 1)
  })
})

const keyOf = async (app: TestApp) => (await app.tenant()).key

const statusesOf = (streams: { status: number }[]) =>
  Object.fromEntries([...Map.groupBy(streams, ({ status }) => status)].map(([status, some]) => [status, some.length]))

/** Opens streams of one tenant, on as many sessions as they need. The runtime's fetch has too few connections. */
async function seats(app: TestApp, key: string) {
  const sessions: string[] = []
  let taken = 0
  const sessionFor = async () => {
    if (taken % FOLLOWERS_MAX === 0) sessions.push((await createVerification(app, key)).id)
    return sessions[Math.floor(taken++ / FOLLOWERS_MAX)]!
  }
  const take = async (count: number, client: string) => {
    const ids: string[] = []
    while (ids.length < count) ids.push(await sessionFor())
    return await Promise.all(ids.map(id => rawStream(app, id, client)))
  }
  return { sessions, take }
}

async function rawStream(app: TestApp, id: string, client: string) {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  sockets.add(socket)
  socket.write(`GET /v1/verifications/${id}/events HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${client}\r\n\r\n`)
  let head = ''
  let isOver = false
  socket.on('data', chunk => {
    head += chunk
  })
  socket.on('close', () => {
    isOver = true
  })
  // The first event, or the end of the error envelope.
  await until(async () => /pending|\}\}/.test(head))
  return { status: Number(head.slice(9, 12)), head, hasEnded: () => isOver, leave: () => socket.destroy() }
}

test('subscribers are woken by the fetch, the answer, the deadline and the erasure of their session only', async () => {
  const { app, key, session } = await startWithSession()
  const late = await createVerification(app, key, { ttl_seconds: 60 })
  const woken: string[] = []
  for (const [name, { id }] of Object.entries({ session, late }))
    app.deps.changes.follow(id, { tenantId: name, client: name }, { wake: () => woken.push(name), end: () => {} })
  await fetchOf(app)(session.request_uri ?? '', {})
  expect(woken).toEqual(['session'])
  await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
  expect(woken).toEqual(['session', 'session', 'session'])
  app.clock.advance(61_000)
  await sweepExpired(app.deps)
  expect(woken.slice(3)).toEqual(['late'])
  await app.call('DELETE', `/v1/verifications/${session.id}`, { key })
  expect(woken.slice(4)).toEqual(['session'])
})

test('a wallet that only fetches the request wakes subscribers, who still read pending', async () => {
  const { app, session } = await startWithSession()
  const stream = await followPending(app, session.id)
  await fetchOf(app)(session.request_uri ?? '', {})
  await until(async () => stream.seen() === `${START}${event(session.id, 'pending')}${event(session.id, 'pending')}`)
})
