// Compares our reader of answers with the one of node:http. Both read a usual answer alike. Ours refuses some strange answers
// that node:http accepts, for the reasons in STRICTER, and never the other way round.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type IncomingMessage, request } from 'node:http'
import { createServer, type Server } from 'node:net'
import fc from 'fast-check'
import { BadAnswer, createAnswerReader } from '../../src/egress/answer.ts'
import { callAt } from '../../src/egress/client.ts'
import { FRESH_SEED } from '../helpers/fresh-seed.ts'

const BODY_BYTES_MAX = 64
const limits = { resolveMs: 30_000, connectMs: 30_000, totalMs: 30_000, answerBytes: BODY_BYTES_MAX }

let server: Server
let port = 0
let said = Buffer.alloc(0)
beforeAll(async () => {
  server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(said))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as { port: number }).port
})
afterAll(() => void server.close())

type Read = { status: number; headers: Record<string, string>; body: string } | 'refused'

async function ours(): Promise<Read> {
  const url = `http://hooks.shop.example:${port}/`
  const answer = await callAt('127.0.0.1', { url, method: 'GET', headers: {}, limits, onLargeAnswer: 'cut' })
  if (!answer.ok) return 'refused'
  return { status: answer.status, headers: answer.headers, body: Buffer.from(answer.body).toString('latin1') }
}

const theirs = () =>
  new Promise<Read>(resolve => {
    let answer: IncomingMessage | undefined
    const call = request({ host: '127.0.0.1', port, agent: false }, response => {
      answer = response
      const body: Buffer[] = []
      response.on('data', (bytes: Buffer) => body.push(bytes))
      response.on('error', () => resolve('refused'))
      response.on('end', () => {
        const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
        resolve({
          status: response.statusCode ?? 0,
          headers,
          body: Buffer.concat(body).toString('latin1').slice(0, BODY_BYTES_MAX),
        })
      })
    })
    call.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve('refused')
    })
    call.on('error', () => {
      if (!answer?.complete) resolve('refused')
    })
    call.end()
  })

const lineEnd = fc.oneof({ weight: 40, arbitrary: fc.constant('\r\n') }, fc.constantFrom('\n', '\r', '\r\r\n', '\n\r\n'))
const statusLine = fc.oneof(
  { weight: 6, arbitrary: fc.constant('HTTP/1.1 200 OK') },
  fc.constantFrom('HTTP/1.1 204 No Content', 'HTTP/1.1 304 Not Modified', 'HTTP/1.0 200 OK', 'HTTP/1.1 202', 'HTTP/1.1 503 '),
  fc.constantFrom(
    'HTTP/2.0 200 OK',
    'http/1.1 200 OK',
    'HTTP/1.1  200 OK',
    ' HTTP/1.1 200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000',
  ),
  fc.constantFrom(
    'HTTP/1.1 101 Go',
    'HTTP/1.1 200\tOK',
    'HTTP/1.1 200 O\x00K',
    'ICY 200 OK',
    'HTTP/0.9 200 OK',
    'HTTP/1.1 099 x',
    '',
  ),
)
const headerLine = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('X-A: b', 'Location: /a', 'Content-Type:text/plain', 'X-Empty:', 'ETag: \t "ä" \t', 'X-A: c'),
  },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 12 }).map(length => `Content-Length: ${length}`) },
  { weight: 2, arbitrary: fc.constantFrom('Transfer-Encoding: chunked', 'transfer-encoding: CHUNKED', 'Connection: close') },
  fc.constantFrom(
    'Content-Length: +5',
    'Content-Length: -5',
    'Content-Length: 5, 5',
    'Content-Length: 0x5',
    'Content-Length: 5 5',
  ),
  fc.constantFrom('Content-Length:', 'Content-Length: 99999999999999999999', 'Content-Length : 5', 'Content-Length\t: 5'),
  fc.constantFrom('Transfer-Encoding: identity', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, gzip'),
  fc.constantFrom('Transfer-Encoding: xchunked', 'Transfer-Encoding:', 'Transfer-Encoding: chunked, chunked', 'Upgrade: x'),
  fc.constantFrom(' folded', '\tfolded', ': no name', 'no colon', 'X A: b', 'X-A: \x01', 'X-A: \x7f', 'X-ä: b', '__proto__: x'),
)
const text = fc.string({ unit: fc.constantFrom('a', 'b', '0', '\r', '\n'), maxLength: 12 })
const chunk = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({ minLength: 1, maxLength: 20 }).map(piece => `${piece.length.toString(16)}\r\n${piece}\r\n`),
  },
  fc.constantFrom('3;a=b\r\nabc\r\n', '3 ;a\r\nabc\r\n', '003\r\nabc\r\n', 'A\r\n0123456789\r\n', '2\r\n\r\n\r\n'),
  fc.constantFrom(
    '3 \r\nabc\r\n',
    '0x3\r\nabc\r\n',
    '-3\r\nabc\r\n',
    '3\nabc\r\n',
    '3\r\nabc\n',
    '3\r\nabcd\r\n',
    'g\r\n',
    '\r\n',
    '3;\x01\r\nabc\r\n',
  ),
  fc.constantFrom('fffffffffffffffff\r\nabc', '3\r\nabc', '3\r\na'),
)
const lastChunk = fc.oneof(
  { weight: 6, arbitrary: fc.constant('0\r\n\r\n') },
  fc.constantFrom(
    '0\r\nX-T: u\r\n\r\n',
    '0\r\n folded\r\n\r\n',
    '0\r\nX T: u\r\n\r\n',
    '0\r\n',
    '0\r\n\r',
    '',
    '0;e\r\n\r\nmore',
  ),
)
const body = fc.oneof(
  text,
  fc.tuple(fc.array(chunk, { maxLength: 4 }), lastChunk).map(([chunks, last]) => chunks.join('') + last),
)
const interim = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  fc.constantFrom(
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
    '\r\n',
    'HTTP/1.1 102 \r\n\r\n'.repeat(3),
  ),
)
const anyAnswer = fc
  .tuple(interim, statusLine, lineEnd, fc.array(fc.tuple(headerLine, lineEnd), { maxLength: 4 }), lineEnd, body)
  .map(([first, status, end, headers, empty, rest]) =>
    Buffer.from([first, status, end, ...headers.flat(), empty, rest].join(''), 'latin1'),
  )
const chunkedAnswer = fc
  .tuple(fc.array(chunk, { maxLength: 3 }), lastChunk)
  .map(([chunks, last]) =>
    Buffer.from(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}${last}`, 'latin1'),
  )
const anAnswer = fc.oneof(anyAnswer, chunkedAnswer)

/** Answers that ours refuses and node:http accepts. */
const STRICTER = [
  /^HTTP\/(?!1\.[01] )/m,
  /^HTTP\/1\.1 (?:0|101)/m,
  /^HTTP\/1\.1 .*\0/m,
  /^transfer-encoding:(?! chunked\r)/im,
  /^transfer-encoding:[\s\S]*^transfer-encoding:/im,
  /^HTTP\/1\.0 [\s\S]*^transfer-encoding:/im,
]

test('an answer is read as node:http reads it, or is refused for a listed reason', async () => {
  const seen = { agreed: 0, bothRefused: 0, stricter: 0 }
  await fc.assert(
    fc.asyncProperty(anAnswer, async bytes => {
      said = bytes
      const [mine, other] = await Promise.all([ours(), theirs()])
      if (mine === 'refused') {
        seen[other === 'refused' ? 'bothRefused' : 'stricter'] += 1
        expect(other === 'refused' || STRICTER.some(reason => reason.test(bytes.toString('latin1')))).toBe(true)
        return
      }
      seen.agreed += 1
      expect(other).toEqual(mine)
    }),
    // A fixed seed: STRICTER lists the differences that these draws showed, and others may show more.
    { numRuns: 1500, seed: 20261117 },
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20)
})

/** Reads the bytes in pieces of these lengths, then the rest, then the end of the connection. */
function readIn(bytes: Buffer, lengths: number[]): unknown {
  const reader = createAnswerReader(BODY_BYTES_MAX)
  try {
    let from = 0
    for (const length of [...lengths, bytes.length]) {
      const answer = reader.read(bytes.subarray(from, from + length))
      if (answer) return answer
      from = Math.min(from + length, bytes.length)
    }
    return reader.end()
  } catch (error) {
    if (error instanceof BadAnswer) return error.failure
    throw error
  }
}

test('an answer is read alike, however it is cut into pieces', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 })
  fc.assert(
    fc.property(anAnswer, lengths, (bytes, cuts) => {
      expect(readIn(bytes, cuts)).toEqual(readIn(bytes, []))
    }),
    { numRuns: 3000, seed: FRESH_SEED },
  )
})

test('an answer with too long lines, too many headers or too many interim answers is refused', () => {
  const read = (text: string) => readIn(Buffer.from(text, 'latin1'), [])
  const withHeaders = (lines: string[]) => `HTTP/1.1 204 No Content\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`
  const named = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}: y`)
  expect(read(withHeaders(named(256)))).toMatchObject({ status: 204 })
  expect(read(withHeaders(named(257)))).toBe('connection_failed')
  expect(read(withHeaders([`x: ${'y'.repeat(16_000)}`]))).toMatchObject({ status: 204 })
  expect(read(withHeaders([`x: ${'y'.repeat(16_384)}`]))).toBe('connection_failed')
  const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'
  expect(read('\r\n'.repeat(16) + withHeaders([]))).toMatchObject({ status: 204 })
  expect(read('\r\n'.repeat(17) + withHeaders([]))).toBe('too_large')
  expect(read(interim.repeat(16) + withHeaders([]))).toMatchObject({ status: 204 })
  expect(read(interim.repeat(17) + withHeaders([]))).toBe('too_large')
})

test('an answer in chunks of one byte is too large once it is mostly framing', () => {
  const reader = createAnswerReader(1_000_000)
  expect(reader.read(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'))).toBeUndefined()
  const chunks = (count: number) => Buffer.from('1\r\nx\r\n'.repeat(count))
  expect(reader.read(chunks(32_000))).toBeUndefined()
  expect(() => reader.read(chunks(1000))).toThrow(BadAnswer)
})

test('a repeated header is joined, except one with a single value, of which the first counts', () => {
  const lines = ['Retry-After: 120', 'retry-after: 7', 'ETag: "a"', 'ETag: "a"', 'Via: x', 'Via: y']
  const answer = readIn(Buffer.from(`HTTP/1.1 204 No Content\r\n${lines.join('\r\n')}\r\n\r\n`), [])
  expect(answer).toMatchObject({ headers: { 'retry-after': '120', etag: '"a"', via: 'x, y' } })
})
