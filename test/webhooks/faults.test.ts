// Receivers that fail, over real connections. The limits are shorter than the product's own 15 seconds.
import { afterAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { readDeliveries } from '../../src/webhooks/browse.ts'
import { OUTCOMES, type Outcome } from '../../src/webhooks/schema.ts'
import { cleanUp, NOON, type TestApp, until } from '../helpers/app.ts'
import { openSession, postTo } from '../helpers/exchange.ts'
import { filesContaining } from '../helpers/files.ts'
import {
  declined,
  type Line,
  logOf,
  receive,
  receiveRaw,
  receiveWithTls,
  startTenantFor,
  untilAttempted,
} from '../helpers/receiver.ts'

afterAll(cleanUp)

/** Only for tests that shall run into a limit: a busy machine is slow. */
const IMPATIENT = { resolveMs: 300, connectMs: 300, totalMs: 400, answerBytes: 4096 }
const SECOND = 1000

/** One attempt at a message to this URL, as the log has it. */
async function attemptAt(shop: { app: TestApp; key: string }, url: string) {
  // Before, so that it is due at once, and the clock stands still from its attempt to the look at it.
  shop.app.clock.advance(10)
  const id = await declined(shop, url)
  await untilAttempted(shop.app, id, 1)
  const { delivery, attempts } = logOf(shop.app, id)
  return { id, delivery: delivery!, attempt: attempts[0]!, wait: delivery!.due_at - shop.app.clock.now() }
}

/** Sends something again and again until the other side has had enough. */
function keepWriting({ socket }: Line, text: string): void {
  const timer = setInterval(() => socket.write(text), 20)
  socket.on('close', () => clearInterval(timer))
}

describe('a receiver that', () => {
  const WAYS: Record<string, [reply: (line: Line) => void, outcome: Outcome, status: number | null]> = {
    'never answers': [() => {}, 'timeout', null],
    'trickles its headers': [
      line => {
        line.socket.write('HTTP/1.1 200 OK\r\n')
        keepWriting(line, 'x-more: and more\r\n')
      },
      'timeout',
      null,
    ],
    'trickles its body': [
      line => {
        line.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
        keepWriting(line, 'x')
      },
      'timeout',
      200,
    ],
    'resets the connection': [({ socket }) => socket.resetAndDestroy(), 'connection_failed', null],
    'closes without an answer': [({ socket }) => socket.end(), 'connection_failed', null],
    'does not speak HTTP': [({ socket }) => socket.end('220 mail.example ESMTP\r\n'), 'connection_failed', null],
    'answers 500': [({ socket }) => socket.end('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n'), 'http_status', 500],
    'answers 400': [({ socket }) => socket.end('HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n'), 'http_status', 400],
    'changes the protocol': [
      ({ socket }) => socket.end('HTTP/1.1 101 Go on\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n'),
      'connection_failed',
      null,
    ],
  }
  for (const [way, [reply, outcome, status]] of Object.entries(WAYS)) {
    test(`${way} is tried again after the second delay, its connection is closed, and the log says ${outcome}`, async () => {
      const receiver = await receiveRaw(reply)
      const shop = await startTenantFor([receiver], outcome === 'timeout' ? { sending: { limits: IMPATIENT } } : {})
      const { delivery, attempt, wait } = await attemptAt(shop, receiver.url())
      expect([attempt.outcome, attempt.http_status]).toEqual([outcome, status])
      expect([delivery.status, delivery.attempts]).toEqual(['pending', 1])
      expect(wait).toBeGreaterThanOrEqual(4 * SECOND)
      expect(wait).toBeLessThanOrEqual(6 * SECOND)
      await until(async () => receiver.lines.every(({ closedAt }) => closedAt !== undefined))
      expect(receiver.lines).toHaveLength(1)
    })
  }

  test('redirects is not followed: the target is never connected to', async () => {
    const forbidden = await receiveRaw()
    const receiver = receive(({ path }) => {
      const location = `http://127.0.0.1:${forbidden.port}/inside`
      return new Response('elsewhere', { status: Number(path.slice(1)), headers: { location } })
    })
    const shop = await startTenantFor([receiver])
    for (const status of [300, 301, 302, 303, 307, 308, 399]) {
      const { attempt, delivery } = await attemptAt(shop, receiver.url(`/${status}`))
      expect([attempt.outcome, attempt.http_status, delivery.status]).toEqual(['redirect', status, 'pending'])
    }
    expect(forbidden.lines).toEqual([])
    expect(receiver.received).toHaveLength(7)
  })

  test('answers 410 is not called again', async () => {
    const receiver = receive(() => new Response(null, { status: 410 }))
    const shop = await startTenantFor([receiver])
    const { id, delivery, attempt } = await attemptAt(shop, receiver.url())
    expect([attempt.outcome, attempt.http_status, delivery.status, delivery.attempts]).toEqual(['gone', 410, 'failed', 1])
    shop.app.clock.advance(100 * 3600 * SECOND)
    await attemptAt(shop, receiver.url('/another'))
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/another'])
    expect(logOf(shop.app, id).attempts).toHaveLength(1)
  })
})

const after = (ms: number) => new Date(NOON + ms).toUTCString()
// The second delay is 5 s: less is not granted, and not more than twice as much.
const ASKED: [status: number, header: string | undefined, least: number, most: number][] = [
  [429, '0', 5, 5],
  [429, '5', 5, 5],
  [429, '8', 8, 8],
  [429, '1000000000', 10, 10],
  [429, after(8 * SECOND), 7, 8],
  [429, after(1e9 * SECOND), 10, 10],
  [429, 'soon', 4, 6],
  [429, undefined, 4, 6],
  [503, '0', 5, 5],
  [503, '9', 9, 9],
  [503, '1000000000', 10, 10],
  // Nobody but 429 and 503 is asked.
  [500, '1000000000', 4, 6],
  [404, '1000000000', 4, 6],
  [301, '1000000000', 4, 6],
]
test('Retry-After of 429 and 503 counts between the delay and twice the delay; of any other status it does not', async () => {
  const receiver = receive(({ path }) => {
    const [, i] = path.split('/')
    const [status, header] = ASKED[Number(i)]!
    return new Response(null, { status, headers: header === undefined ? {} : { 'retry-after': header } })
  })
  const shop = await startTenantFor([receiver])
  for (const [i, [status, header, least, most]] of ASKED.entries()) {
    const { wait } = await attemptAt(shop, receiver.url(`/${i}`))
    const isGranted = wait >= least * SECOND && wait <= most * SECOND
    expect({ status, header, wait, isGranted }).toMatchObject({ isGranted: true })
  }
})

describe('the log of an answer', () => {
  const keptOf = async ({ app, id }: { app: TestApp; id: string }) =>
    new Map((await readDeliveries(app.deps, id)).map(delivery => [delivery.verification_id, delivery.attempts[0]?.answer]))

  test('the first 4,096 bytes are kept, to the byte', async () => {
    const receiver = receive(({ path }) => new Response('x'.repeat(Number(path.slice(1)))))
    const shop = await startTenantFor([receiver])
    for (const size of [0, 1, 4095, 4096, 4097, 100_000]) {
      const { id, attempt } = await attemptAt(shop, receiver.url(`/${size}`))
      expect(attempt.outcome).toBe('delivered')
      expect([size, (await keptOf(shop)).get(id)]).toEqual([size, 'x'.repeat(Math.min(size, 4096))])
    }
  })

  test('the kept beginning is sealed: it is in no file in clear', async () => {
    const canary = 'the receiver said something it should not have'
    const receiver = receive(() => new Response(canary, { status: 500 }))
    const shop = await startTenantFor([receiver])
    const { id } = await attemptAt(shop, receiver.url('/the-path-of-a-shop'))
    expect((await keptOf(shop)).get(id)).toBe(canary)
    for (const text of [canary, 'the-path-of-a-shop', 'shop.example', '"address":"127.0.0.1"'])
      expect([text, filesContaining(shop.app.dir, text)]).toEqual([text, []])
    for (const text of [canary, 'the-path-of-a-shop', 'shop.example', id]) expect(shop.app.logs.join()).not.toContain(text)
  })

  test('a gzip bomb is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024))
    const headers = { 'content-encoding': 'gzip', 'content-type': 'text/plain' }
    const receiver = receive(() => new Response(bomb, { headers }))
    const shop = await startTenantFor([receiver])
    const { id, attempt } = await attemptAt(shop, receiver.url())
    expect(attempt.outcome).toBe('delivered')
    expect((await keptOf(shop)).get(id)).toBe(bomb.subarray(0, 4096).toString('utf8'))
    expect(receiver.received[0]?.headers['accept-encoding']).toBe('identity')
  })

  test('a gigabyte is cut near its beginning, and so are endless headers and interim answers', async () => {
    let written = 0
    const flood = (head: string, part: string) => (line: Line) => {
      line.socket.write(head)
      const chunk = part.repeat(Math.ceil(65_536 / part.length))
      const pour = () => {
        while (line.closedAt === undefined && written < 2 ** 30) {
          written += chunk.length
          if (!line.socket.write(chunk)) return line.socket.once('drain', pour)
        }
      }
      pour()
    }
    const FLOODS = {
      body: [flood('HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n', 'x'), 'delivered'],
      headers: [flood('HTTP/1.1 200 OK\r\n', 'x-more: and more\r\n'), 'connection_failed'],
      interim: [flood('', 'HTTP/1.1 103 Early Hints\r\n\r\n'), 'connection_failed'],
    } as const
    for (const [name, [reply, outcome]] of Object.entries(FLOODS)) {
      written = 0
      const receiver = await receiveRaw(reply)
      const shop = await startTenantFor([receiver])
      const before = process.memoryUsage.rss()
      const { id, attempt } = await attemptAt(shop, receiver.url())
      expect([name, attempt.outcome]).toEqual([name, outcome])
      expect(written).toBeLessThan(2 ** 26)
      expect(process.memoryUsage.rss() - before).toBeLessThan(2 ** 26)
      const kept = (await keptOf(shop)).get(id)
      expect([name, kept?.length ?? 0]).toEqual([name, outcome === 'delivered' ? 4096 : 0])
      receiver.stop()
    }
  })
})

test('every outcome can be reached and is counted under its name', async () => {
  const receiver = receive(({ path }) =>
    path === '/hold' ? new Promise<Response>(() => {}) : new Response(null, { status: Number(path.slice(1)) }),
  )
  const dropping = await receiveRaw(({ socket }) => socket.destroy())
  const secure = receiveWithTls()
  let insideIs = ''
  const resolve = async (host: string) => {
    if (host === 'nowhere.example') throw new Error('ENOTFOUND')
    return [host === 'inside.example' ? insideIs : '127.0.0.1']
  }
  const startThread = () => new Worker(new URL('./breakable-thread.ts', import.meta.url).href)
  const sending = { startThread, limits: { ...IMPATIENT, resolveMs: 2000, connectMs: 2000, totalMs: 2000 } }
  const shop = await startTenantFor([receiver, dropping, secure], { resolve, sending })
  const urls: Record<Outcome, string> = {
    delivered: receiver.url('/200'),
    http_status: receiver.url('/500'),
    redirect: receiver.url('/302'),
    gone: receiver.url('/410'),
    timeout: receiver.url('/hold'),
    dns_failed: 'https://nowhere.example/',
    refused_address: 'https://inside.example/',
    tls_failed: secure.url(),
    connection_failed: dropping.url(),
    cancelled: receiver.url('/hold'),
    interrupted: receiver.url('/throw'),
  }
  expect(Object.keys(urls).sort()).toEqual([...OUTCOMES].sort())
  const counted = async () => {
    const { text } = await shop.app.call('GET', '/metrics')
    return [...text.matchAll(/^vidimus_webhook_attempts_total\{outcome="(\w+)"\} 1$/gm)].map(([, outcome]) => outcome)
  }
  for (const [i, [outcome, url]] of Object.entries(urls).entries()) {
    insideIs = '93.184.215.14'
    const session = await openSession(shop, { webhook_url: url })
    insideIs = '10.0.0.1'
    await postTo(session, (await decline(session.request)).form)
    shop.app.clock.advance(10)
    if (outcome === 'cancelled') {
      await until(async () => receiver.received.filter(({ path }) => path === '/hold').length === 2)
      await shop.app.call('DELETE', `/v1/verifications/${session.created.id}`, { key: shop.key })
    }
    await until(async () => (await counted()).length === i + 1)
    expect(await counted()).toContain(outcome)
    // An erasure leaves nothing in the log.
    const { delivery, attempts } = logOf(shop.app, session.created.id)
    expect(attempts.map(attempt => attempt.outcome)).toEqual(outcome === 'cancelled' ? [] : [outcome])
    const ends: Record<string, string | undefined> = { delivered: 'delivered', gone: 'failed', cancelled: undefined }
    expect([outcome, delivery?.status]).toEqual([outcome, outcome in ends ? ends[outcome] : 'pending'])
  }
})
