// A name that is public when it is checked and private when it is called; and VIDIMUS_EGRESS_ALLOW.
// Real listeners on the forbidden addresses count connections: none of them may see one.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import fc from 'fast-check'
import type { AllowedDestination } from '../../src/egress/addresses.ts'
import { callOut, type EgressAnswer } from '../../src/egress/client.ts'
import { checkDestination, type EgressPolicy, type Resolve } from '../../src/egress/policy.ts'

const PUBLIC = '93.184.215.14'
const OPENED = '127.0.0.1'
/** Other systems than Linux have one address for loopback. */
const FORBIDDEN = process.platform === 'linux' ? '127.0.0.2' : '::1'

let port = 0
let otherPort = 0
let seen: Record<string, number> = {}
const servers: Server[] = []

/** Answers, and would keep the connection for more. */
function listen(host: string, at: number): Promise<number> {
  const server = createServer(socket => {
    const { port: local = 0 } = socket.address() as { port?: number }
    const place = `${host}:${local}`
    seen[place] = (seen[place] ?? 0) + 1
    socket.on('error', () => {})
    socket.on('data', data => {
      const [, path = '/'] = data.toString().split(' ')
      const redirect = path === '/redirect' ? `302 Found\r\nLocation: http://${urlHost(FORBIDDEN)}:${port}/` : '200 OK'
      socket.write(`HTTP/1.1 ${redirect}\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n`)
    })
  })
  servers.push(server)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(at, host, () => resolve((server.address() as { port: number }).port))
  })
}

const urlHost = (address: string) => (address.includes(':') ? `[${address}]` : address)

beforeAll(async () => {
  port = await listen(OPENED, 0)
  otherPort = await listen(OPENED, 0)
  await listen(FORBIDDEN, port)
})
beforeEach(() => {
  seen = {}
})
afterAll(() => {
  for (const server of servers) server.close()
})

const closed = (): EgressPolicy => ({ allow: [], listener: { addresses: [], port: 1 } })
const opened = (...allow: Partial<AllowedDestination>[]): EgressPolicy => ({
  ...closed(),
  allow: allow.map(entry => ({ address: OPENED, prefix: 32, port, ...entry })),
})
const answering =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses

const call = (policy: EgressPolicy, resolve: Resolve, url = `http://hooks.shop.example:${port}/`): Promise<EgressAnswer> =>
  callOut(policy, resolve, {
    url,
    method: 'POST',
    headers: {},
    body: '{}',
    limits: { resolveMs: 5000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 },
    onLargeAnswer: 'cut',
  })

const REFUSED = { ok: false, failure: 'refused_address' }

test('the listeners of this test count a call to an opened address', async () => {
  expect(await call(opened({}), answering(OPENED))).toMatchObject({ ok: true, status: 200, address: OPENED })
  const prefix = FORBIDDEN === '::1' ? 128 : 32
  expect(await call(opened({ address: FORBIDDEN, prefix }), answering(FORBIDDEN))).toMatchObject({ ok: true, address: FORBIDDEN })
  expect(seen).toEqual({ [`${OPENED}:${port}`]: 1, [`${FORBIDDEN}:${port}`]: 1 })
})

describe('a name that is public at creation and leads elsewhere at delivery', () => {
  test.each([
    [['127.0.0.1']],
    [['169.254.169.254']],
    [['::ffff:7f00:1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['::1']],
    [['0.0.0.0']],
    [['::']],
    [['2002:7f00:1::']],
    [['127.0.0.1', PUBLIC]],
    [[PUBLIC, '127.0.0.1']],
    [[PUBLIC, '2606:4700:4700::1111', '::ffff:7f00:1']],
    [['localhost']],
    [['127.1']],
    [['']],
  ])('%j is refused without a connection', async addresses => {
    const url = `http://hooks.shop.example:${port}/`
    expect(await checkDestination(closed(), answering(PUBLIC), url)).toMatchObject({ ok: true })
    expect(await call(closed(), answering(...addresses))).toMatchObject(REFUSED)
    expect(seen).toEqual({})
  })

  test('that has no address any more is not called at its earlier one', async () => {
    expect(await call(opened({}), answering(OPENED))).toMatchObject({ ok: true })
    expect(await call(opened({}), answering())).toMatchObject({ ok: false, failure: 'dns_failed' })
    expect(seen).toEqual({ [`${OPENED}:${port}`]: 1 })
  })
})

describe('a name whose answer changes with every query', () => {
  test('is resolved once per call, so the checked address is the called one', async () => {
    const asked: string[] = []
    const resolve: Resolve = async host => (asked.push(host) === 1 ? [OPENED] : [FORBIDDEN])
    expect(await call(opened({}), resolve)).toMatchObject({ ok: true, address: OPENED })
    expect(asked).toEqual(['hooks.shop.example'])
    expect(seen).toEqual({ [`${OPENED}:${port}`]: 1 })
  })

  test('is called or refused each time by its current address', async () => {
    let asked = 0
    const resolve: Resolve = async () => [asked++ % 2 === 0 ? OPENED : FORBIDDEN]
    for (let turn = 0; turn < 10; turn++) {
      expect(await call(opened({}), resolve)).toMatchObject(turn % 2 === 0 ? { ok: true } : REFUSED)
    }
    expect(seen).toEqual({ [`${OPENED}:${port}`]: 5 })
  })

  test('gets a connection of its own each time, never one that was left open under its name', async () => {
    const both = opened({}, { address: FORBIDDEN, prefix: FORBIDDEN === '::1' ? 128 : 32 })
    for (const address of [OPENED, FORBIDDEN, OPENED, FORBIDDEN]) await call(both, answering(address))
    expect(seen).toEqual({ [`${OPENED}:${port}`]: 2, [`${FORBIDDEN}:${port}`]: 2 })
  })

  test('is called at its first address, when all of them are allowed', async () => {
    const both = opened({}, { address: FORBIDDEN, prefix: FORBIDDEN === '::1' ? 128 : 32 })
    expect(await call(both, answering(OPENED, FORBIDDEN))).toMatchObject({ ok: true, address: OPENED })
    expect(seen).toEqual({ [`${OPENED}:${port}`]: 1 })
  })

  test('may redirect to a forbidden address: the redirect is returned and not followed', async () => {
    const answer = await call(opened({}), answering(OPENED), `http://hooks.shop.example:${port}/redirect`)
    expect(answer).toMatchObject({ ok: true, status: 302 })
    expect(seen).toEqual({ [`${OPENED}:${port}`]: 1 })
  })

  test('never reaches a forbidden address, for any sequence of answers', async () => {
    const oneAddress = fc.constantFrom(OPENED, OPENED, FORBIDDEN, '::ffff:7f00:2', '0.0.0.0', '::', '169.254.169.254', 'x', '')
    const answers = fc.array(fc.array(oneAddress, { maxLength: 3 }), { minLength: 1, maxLength: 4 })
    let called = 0
    await fc.assert(
      fc.asyncProperty(answers, async turns => {
        let asked = 0
        for (const _ of turns) {
          const { ok } = await call(opened({}), async () => turns[asked++] ?? [])
          if (ok) called += 1
        }
        expect(asked).toBe(turns.length)
      }),
      { numRuns: 150 },
    )
    expect(seen).toEqual({ [`${OPENED}:${port}`]: called })
    expect(called).toBeGreaterThan(0)
  })
})

describe('VIDIMUS_EGRESS_ALLOW', () => {
  const at = (address: string, to = port) => `http://${urlHost(address)}:${to}/`
  const cases: [string, () => Promise<EgressAnswer>, object, () => Record<string, number>][] = [
    [
      'opens the exact address and port',
      () => call(opened({}), answering(), at(OPENED)),
      { ok: true },
      () => ({ [`${OPENED}:${port}`]: 1 }),
    ],
    [
      'opens a name that leads there',
      () => call(opened({}), answering(OPENED)),
      { ok: true },
      () => ({ [`${OPENED}:${port}`]: 1 }),
    ],
    ['does not open the neighbour', () => call(opened({}), answering(), at(FORBIDDEN)), REFUSED, () => ({})],
    ['does not open a name that leads to both', () => call(opened({}), answering(OPENED, FORBIDDEN)), REFUSED, () => ({})],
    ['does not open another port', () => call(opened({}), answering(), at(OPENED, otherPort)), REFUSED, () => ({})],
    ['does not open the mapped spelling', () => call(opened({}), answering(), at('::ffff:127.0.0.1')), REFUSED, () => ({})],
    ['does not open a name without a dot elsewhere', () => call(opened({}), answering(PUBLIC), at('till')), REFUSED, () => ({})],
    ['does not open localhost elsewhere', () => call(opened({}), answering(FORBIDDEN), at('localhost')), REFUSED, () => ({})],
    [
      'cannot open a whole loopback network',
      () => call(opened({ address: '127.0.0.0', prefix: 8 }), answering(), at(OPENED)),
      REFUSED,
      () => ({}),
    ],
    [
      'cannot open link-local',
      () => call(opened({ address: '169.254.169.254' }), answering('169.254.169.254')),
      REFUSED,
      () => ({}),
    ],
    [
      'cannot open our own listener',
      () => call({ ...opened({}), listener: { addresses: [OPENED], port } }, answering(OPENED)),
      REFUSED,
      () => ({}),
    ],
    ['opens nothing when it is empty', () => call(closed(), answering(OPENED)), REFUSED, () => ({})],
  ]

  test.each(cases)('%s', async (_, made, expected, connections) => {
    expect(await made()).toMatchObject(expected)
    expect(seen).toEqual(connections())
  })
})
