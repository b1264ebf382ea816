// Clients that never finish a request, and many that poll: the others are served meanwhile, and slow ones are cut off.
import { afterAll, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { parseNetworks } from '../../src/egress/addresses.ts'
import { cleanUp, createVerification, startApp, startWithTenant, type TestApp, until } from '../helpers/app.ts'

afterAll(cleanUp)

const CONNECTIONS_OF_A_KIND = 50

type Slow = { kind: string; socket: Socket; isClosed: boolean }

const KINDS: Record<string, (socket: Socket) => void> = {
  silent: () => {},
  headers: socket => trickle(socket, 'GET /healthz HTTP/1.1\r\nHost: x\r\n', 'x-more: and more\r\n'),
  body: socket =>
    trickle(
      socket,
      'POST /v1/devices/enroll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n',
      ' ',
    ),
  'half-closed': socket => socket.end('GET /healthz HTTP/1.1\r\nHost: x\r\n'),
}

function trickle(socket: Socket, head: string, more: string): void {
  socket.write(head)
  const timer = setInterval(() => socket.write(more), 1000)
  socket.on('close', () => clearInterval(timer))
}

function open(app: TestApp, kind: string): Slow {
  const slow: Slow = {
    kind,
    socket: connect({ port: Number(new URL(app.url).port), host: '127.0.0.1', allowHalfOpen: true }),
    isClosed: false,
  }
  const close = () => {
    slow.isClosed = true
    slow.socket.destroy()
  }
  slow.socket.on('error', close).on('end', close).on('close', close)
  slow.socket.on('connect', () => KINDS[kind]!(slow.socket)).resume()
  return slow
}

test(`${4 * CONNECTIONS_OF_A_KIND} connections that are silent, trickle or are half closed are cut off, and everybody else is answered`, async () => {
  const { app, key } = await startWithTenant()
  const slow = Object.keys(KINDS).flatMap(kind => Array.from({ length: CONNECTIONS_OF_A_KIND }, () => open(app, kind)))
  await until(async () => slow.every(({ socket, isClosed }) => isClosed || !socket.connecting))
  const left = () => slow.filter(({ isClosed }) => !isClosed)
  expect(left().length).toBeGreaterThan(100)
  let answered = 0
  // The service allows fifteen seconds; sixty leave room for a busy machine.
  for (let i = 0; i < 240 && left().length > 0; i++) {
    const { id } = await createVerification(app, key)
    expect((await app.call('GET', `/v1/verifications/${id}/status`)).status).toBe(200)
    answered++
    await Bun.sleep(250)
  }
  expect([...new Set(left().map(({ kind }) => kind))]).toEqual([])
  expect(answered).toBeGreaterThan(5)
})

test('512 slow bodies and many running requests of one tenant refuse nothing to another tenant', async () => {
  const lookedUp = Promise.withResolvers<string[]>()
  const app = await startApp({ rateLimitScale: 100, resolve: () => lookedUp.promise })
  const [greedy, modest] = [await app.tenant(), await app.tenant()]
  const keys = await Promise.all(Array.from({ length: 8 }, () => app.key(greedy.id, { environment: 'live' })))
  const webhook = { template: 'age_over_18', webhook_url: 'https://hooks.shop.example/' }
  const greedyStatus = async () => (await app.call('GET', '/v1/usage', { key: keys[0] })).status

  let waiting = 0
  const slow = keys.flatMap(key =>
    Array.from({ length: 64 }, () => {
      const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' })
      const head = `POST /v1/verifications/vs_x/redeem HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`
      // The service responds to Expect once it wants the body.
      socket.on('connect', () =>
        socket.write(`${head}Content-Type: application/json\r\nContent-Length: 40000\r\nExpect: 100-continue\r\n\r\n{`),
      )
      socket.on('data', () => waiting++).on('error', () => {})
      return socket
    }),
  )
  await until(async () => waiting >= slow.length)
  expect(await greedyStatus()).toBe(200)

  // In work until the test lets the name be resolved.
  const running = keys.flatMap(key =>
    Array.from({ length: 20 }, () => app.call('POST', '/v1/verifications', { key, body: webhook })),
  )
  await until(async () => (await greedyStatus()) === 429)

  for (let i = 0; i < 100; i++) {
    const { id } = await createVerification(app, modest.key)
    expect((await app.call('GET', `/v1/verifications/${id}`, { key: modest.key })).status).toBe(200)
  }
  expect(await greedyStatus()).toBe(429)

  for (const socket of slow) socket.destroy()
  lookedUp.resolve(['93.184.215.14'])
  await Promise.all(running)
  await until(async () => (await greedyStatus()) === 200)
})

test('500 pollers behind a proxy get only 200 and 429, and every creation succeeds', async () => {
  const app = await startApp({ rateLimitScale: 1, now: Date.now(), config: { trustedProxies: parseNetworks('127.0.0.1') } })
  const { key, liveKey } = await app.tenant()
  const ids: string[] = []
  for (let i = 0; i < 90; i++) ids.push((await createVerification(app, key)).id)
  const statuses = new Map<number, number>()
  const created: number[] = []
  let isOver = false
  const poll = async (i: number) => {
    // Some poll one session from one address.
    const isOfCrowd = i % 10 === 0
    const headers = { 'x-forwarded-for': isOfCrowd ? '203.0.112.1' : `203.0.${113 + (i >> 8)}.${i & 255}` }
    const id = isOfCrowd ? ids[0] : ids[i % ids.length]
    while (!isOver) {
      const { status } = await app.call('GET', `/v1/verifications/${id}/status`, { headers })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await Bun.sleep(200)
    }
  }
  const polling = Array.from({ length: 500 }, (_, i) => poll(i))
  for (let i = 0; i < 100; i++) {
    app.clock.advance(20)
    created.push((await app.call('POST', '/v1/verifications', { key: liveKey, body: { template: 'age_over_18' } })).status)
    await Bun.sleep(20)
  }
  isOver = true
  await Promise.all(polling)
  expect(new Set(created)).toEqual(new Set([201]))
  expect([...statuses.keys()].filter(status => status !== 200 && status !== 429)).toEqual([])
  expect(statuses.get(200)).toBeGreaterThan(500)
  // Pollers of one session spend only its budget.
  expect(statuses.get(429)).toBeGreaterThan(0)
})
