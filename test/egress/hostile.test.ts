// Hostile receivers: every call ends within its time, keeps little, closes its connection and needs little memory.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { callAt, callOut, type EgressAnswer, type EgressCall } from '../../src/egress/client.ts'
import { until } from '../helpers/app.ts'
import { anyText, webPath } from '../helpers/texts.ts'

const GROWTH_MB_MAX = 32
const SENT_BYTES_MAX = 64_000_000
/** Time of a call that must run into it. Every other call ends by itself, also on a slow machine. */
const SHORT_MS = 1500
const LONG_MS = 30_000

type Receiver = { port: number; sentBytes: () => number; open: () => number; close: () => void }

const receivers: Receiver[] = []
afterAll(() => {
  for (const { close } of receivers) close()
})

async function receiver(onConnection: (socket: Socket, count: (bytes: number) => void) => void): Promise<Receiver> {
  let sent = 0
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    // Read, so that the end of the connection is seen.
    socket.resume()
    onConnection(socket, bytes => {
      sent += bytes
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const made = {
    port: portOf(server),
    sentBytes: () => sent,
    open: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  receivers.push(made)
  return made
}

const portOf = (server: Server) => (server.address() as { port: number }).port

type Behaviour = (socket: Socket, count: (bytes: number) => void) => void

/** As fast as the other side reads, up to a gigabyte. */
const flood =
  (start: string, chunk: string | Buffer): Behaviour =>
  (socket, count) => {
    let left = 1_000_000_000
    const write = () => {
      while (left > 0 && !socket.destroyed) {
        left -= chunk.length
        count(chunk.length)
        if (!socket.write(chunk)) return socket.once('drain', write)
      }
      return socket.end()
    }
    socket.write(start)
    write()
  }

const saying =
  (text: string | Buffer, then: (socket: Socket) => void = () => {}): Behaviour =>
  socket => {
    socket.write(text)
    then(socket)
  }

/** Byte by byte, without an end. */
const trickle =
  (start: string, piece: string): Behaviour =>
  socket => {
    socket.write(start)
    const timer = setInterval(() => socket.write(piece), 10)
    socket.on('close', () => clearInterval(timer))
  }

const OK = 'HTTP/1.1 200 OK\r\n'
const BLOCK = Buffer.alloc(65_536, 'x')
const bomb = Buffer.from(Bun.gzipSync(Buffer.alloc(200_000_000)))

type Expected = { said: string; status?: number; bodyBytes?: number }
const cut = { said: 'ok', status: 200, bodyBytes: 4096 }

const ABUSES: [string, Behaviour, Expected][] = [
  ['a body of 1 GB', flood(`${OK}Content-Length: 1000000000\r\n\r\n`, BLOCK), cut],
  ['a body without a length', flood(`${OK}\r\n`, BLOCK), cut],
  ['a body in chunks of one byte', flood(`${OK}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n'.repeat(5000)), cut],
  [
    'a gzip bomb',
    saying(Buffer.concat([Buffer.from(`${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`), bomb])),
    cut,
  ],
  ['a gzip bomb in chunks', flood(`${OK}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n`, bomb), cut],
  ['headers of 16 MB and more', flood(OK, `X-A: ${'y'.repeat(60_000)}\r\n`), { said: 'connection_failed' }],
  ['a million small headers', flood(OK, 'X-A: b\r\n'.repeat(8000)), { said: 'connection_failed' }],
  ['one header without an end', flood(`${OK}X-A: `, BLOCK), { said: 'connection_failed' }],
  ['a header of blanks', saying(`${OK}X-A:${' '.repeat(16_000)}\x01\r\n\r\n`), { said: 'connection_failed' }],
  ['a status line without an end', flood('HTTP/1.1 200 ', BLOCK), { said: 'connection_failed' }],
  ['bytes that are not HTTP', flood('', BLOCK), { said: 'connection_failed' }],
  [
    'trailers without an end',
    flood(`${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`, 'X-A: b\r\n'.repeat(8000)),
    { said: 'connection_failed', status: 200 },
  ],
  [
    'a chunk extension without an end',
    flood(`${OK}Transfer-Encoding: chunked\r\n\r\n5;`, BLOCK),
    { said: 'connection_failed', status: 200 },
  ],
  [
    'a chunk size without an end',
    flood(`${OK}Transfer-Encoding: chunked\r\n\r\n`, Buffer.alloc(65_536, '0')),
    { said: 'too_large', status: 200 },
  ],
  ['line ends before the answer', flood('', '\r\n'.repeat(30_000)), { said: 'too_large' }],
  [
    '10,000 interim answers',
    saying(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10_000)}${OK}Content-Length: 0\r\n\r\n`),
    { said: 'too_large' },
  ],
  [
    'interim answers without an end',
    flood('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1000)),
    { said: 'too_large' },
  ],
  ['"continue" without an end', flood('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)), { said: 'too_large' }],
  [
    'another protocol',
    flood('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', BLOCK),
    { said: 'connection_failed' },
  ],
  ['rubbish behind a whole answer', flood(`${OK}Content-Length: 2\r\n\r\nok`, BLOCK), { said: 'ok', status: 200, bodyBytes: 2 }],
  ['silence', saying(''), { said: 'timeout' }],
  ['headers that never end', saying(`${OK}X-A: b\r\n`), { said: 'timeout' }],
  ['headers that trickle', trickle(OK, 'X-A: b\r\n'), { said: 'timeout' }],
  ['interim answers that trickle', trickle('', 'HTTP/1.1 103 Early Hints\r\n\r\n'), { said: 'too_large' }],
  ['a body that trickles', trickle(`${OK}Content-Length: 100000\r\n\r\n`, 'x'), { said: 'timeout', status: 200 }],
  ['a body that stops', saying(`${OK}Content-Length: 10\r\n\r\nabc`), { said: 'timeout', status: 200 }],
  ['a close at once', saying('', socket => socket.end()), { said: 'connection_failed' }],
  ['a close inside the headers', saying(OK, socket => socket.end()), { said: 'connection_failed' }],
  [
    'a close inside the body',
    saying(`${OK}Content-Length: 10\r\n\r\nabc`, socket => socket.end()),
    { said: 'connection_failed', status: 200 },
  ],
  [
    'a close inside a chunk',
    saying(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nabc`, socket => socket.end()),
    { said: 'connection_failed', status: 200 },
  ],
  ['two lengths', saying(`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc`), { said: 'connection_failed' }],
]

describe('a call to a hostile receiver ends, its connection is closed, and memory stays small', () => {
  let quiet: Receiver
  beforeAll(async () => {
    quiet = await receiver(saying(`${OK}Content-Length: 0\r\n\r\n`, socket => socket.end()))
  })

  test.each(ABUSES)('%s', async (_, behaviour, expected) => {
    const hostile = await receiver(behaviour)
    const totalMs = expected.said === 'timeout' ? SHORT_MS : LONG_MS
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'measured-call.ts'), ...[hostile.port, quiet.port, totalMs].map(String)],
      { stdout: 'pipe', stderr: 'inherit' },
    )
    const { grownMb, ...answer } = JSON.parse(await new Response(child.stdout).text())
    expect(answer).toEqual({ bodyBytes: 0, ...expected })
    expect(grownMb).toBeLessThanOrEqual(GROWTH_MB_MAX)
    expect(hostile.sentBytes()).toBeLessThan(SENT_BYTES_MAX)
  })
})

const limits = { resolveMs: 5000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }
const to = (port: number, changes: Partial<EgressCall> = {}): Promise<EgressAnswer> =>
  callOut(
    { allow: [{ address: '127.0.0.1', prefix: 32, port }], listener: { addresses: [], port: 1 } },
    async () => ['127.0.0.1'],
    {
      url: `http://hooks.shop.example:${port}/`,
      method: 'POST',
      headers: {},
      body: '{}',
      limits,
      onLargeAnswer: 'cut',
      ...changes,
    },
  )

test('a connection is closed as soon as the answer is known, also when the receiver would keep it', async () => {
  for (const text of [`${OK}Content-Length: 0\r\n\r\n`, 'HTTP/1.1 204 No Content\r\n\r\n', `${OK}\r\n${'x'.repeat(5000)}`]) {
    const keeping = await receiver(saying(text))
    expect(await to(keeping.port)).toMatchObject({ ok: true })
    await until(async () => keeping.open() === 0)
  }
})

test('a reset inside the body is a failure that knows the status', async () => {
  const resetting = await receiver(socket => {
    socket.write(`${OK}Content-Length: 1000\r\n\r\nabc`, () => setTimeout(() => socket.resetAndDestroy(), 50))
  })
  expect(await to(resetting.port)).toMatchObject({ ok: false, failure: 'connection_failed', status: 200 })
})

test.each([
  ['more bytes than its length says', `${OK}Content-Length: 2\r\n\r\nokay`, 200, 'ok'],
  ['a body under 204', 'HTTP/1.1 204 No Content\r\n\r\nokay', 204, ''],
  ['a line end too many', `${OK}Content-Length: 2\r\n\r\nok\r\n`, 200, 'ok'],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nok', 200, 'ok'],
  ['no reason', 'HTTP/1.1 202\r\nContent-Length: 2\r\n\r\nok', 202, 'ok'],
  ['a few interim answers', `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(16)}${OK}Content-Length: 2\r\n\r\nok`, 200, 'ok'],
])('a clumsy receiver is understood: %s', async (_, text, status, body) => {
  const clumsy = await receiver(saying(text, socket => socket.end()))
  const answer = await to(clumsy.port)
  expect(answer).toMatchObject({ ok: true, status })
  expect(answer.ok && Buffer.from(answer.body).toString()).toBe(body)
})

test('an answer may take longer than the connection may', async () => {
  const slow = await receiver(socket => {
    setTimeout(() => socket.end(`${OK}Content-Length: 0\r\n\r\n`), 1000)
  })
  expect(await to(slow.port, { limits: { ...limits, connectMs: 500 } })).toMatchObject({ ok: true, status: 200 })
})

test('a TLS handshake that never ends is a timeout of the connection', async () => {
  const mute = await receiver(saying(''))
  const url = `https://hooks.shop.example:${mute.port}/`
  expect(await to(mute.port, { url, limits: { ...limits, connectMs: 200 } })).toMatchObject({
    ok: false,
    failure: 'timeout',
    detail: 'The connection took too long.',
  })
  await until(async () => mute.open() === 0)
})

test('a large answer is kept to the byte, in one piece or in many', async () => {
  for (const pieces of [1, 3, 4097]) {
    const text = 'x'.repeat(Math.ceil(4097 / pieces))
    const large = await receiver(socket => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`)
      for (let i = 0; i < pieces; i++) socket.write(`${text.length.toString(16)}\r\n${text}\r\n`)
      socket.end('0\r\n\r\n')
    })
    const answer = await to(large.port)
    expect(answer.ok && answer.body.length).toBe(4096)
    expect(await to(large.port, { onLargeAnswer: 'fail' })).toMatchObject({ ok: false, failure: 'too_large', status: 200 })
  }
})

test('a cancelled call closes its connection, and one cancelled before its start opens none', async () => {
  let connections = 0
  const mute = await receiver(socket => {
    connections += 1
    if (connections > 1) socket.end(`${OK}Content-Length: 0\r\n\r\n`)
  })
  const call: EgressCall = {
    url: `http://hooks.shop.example:${mute.port}/`,
    method: 'POST',
    headers: {},
    limits,
    onLargeAnswer: 'cut',
  }
  const controller = new AbortController()
  const pending = callAt('127.0.0.1', call, { signal: controller.signal })
  await until(async () => mute.open() === 1)
  controller.abort()
  expect(await pending).toMatchObject({ ok: false, failure: 'cancelled' })
  await until(async () => mute.open() === 0)
  expect(await callAt('127.0.0.1', call, { signal: controller.signal })).toMatchObject({ ok: false, failure: 'cancelled' })
  expect(await callAt('127.0.0.1', call)).toMatchObject({ ok: true })
  expect(connections).toBe(2)
})

test('a URL with any path and query is called or refused, and nothing is thrown', async () => {
  const answering = await receiver(saying(`${OK}Content-Length: 0\r\n\r\n`, socket => socket.end()))
  const rest = fc.oneof(anyText(), fc.string({ unit: 'grapheme' }), webPath())
  let answered = 0
  await fc.assert(
    fc.asyncProperty(rest, async text => {
      const { ok, failure } = {
        failure: '',
        ...(await to(answering.port, { url: `http://hooks.shop.example:${answering.port}/${text}` })),
      }
      if (ok) answered += 1
      else expect(failure).toBe('refused_address')
    }),
    { numRuns: 300 },
  )
  expect(answered).toBeGreaterThan(0)
})
