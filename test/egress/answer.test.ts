// Answers as bytes: what could be read in two ways is refused, also where the parser of node:http lets it pass.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import fc from 'fast-check'
import { callAt } from '../../src/egress/client.ts'
import { FRESH_SEED } from '../helpers/fresh-seed.ts'

const BODY_BYTES_MAX = 64
const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`

let server: Server
let port = 0
let say: (socket: Socket) => void
beforeAll(async () => {
  server = createServer({ noDelay: true }, socket => {
    socket.on('error', () => {})
    socket.once('data', () => say(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as { port: number }).port
})
afterAll(() => void server.close())

async function read(...pieces: (string | Buffer)[]) {
  say = socket => sayNext(socket, pieces)
  const limits = { resolveMs: 30_000, connectMs: 30_000, totalMs: 30_000, answerBytes: BODY_BYTES_MAX }
  const url = `http://hooks.shop.example:${port}/`
  const answer = await callAt('127.0.0.1', { url, method: 'GET', headers: {}, limits, onLargeAnswer: 'cut' })
  if (!answer.ok) return answer.failure
  return { status: answer.status, headers: answer.headers, body: Buffer.from(answer.body).toString('latin1') }
}

/** Each piece is a packet of its own. */
function sayNext(socket: Socket, [piece, ...rest]: (string | Buffer)[]): void {
  if (piece === undefined || socket.destroyed) return void socket.end()
  socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece, () => setImmediate(sayNext, socket, rest))
}

test.each([
  ['a line that ends with a line feed only', 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n'],
  ['a header that ends with a line feed only', `${OK}X-A: b\nContent-Length: 0\r\n\r\n`],
  ['a carriage return inside a header', `${OK}X-A: b\rc\r\n\r\n`],
  ['a folded header', `${OK}X-A: b\r\n folded\r\n\r\n`],
  ['a blank before the colon', `${OK}Content-Length : 2\r\n\r\nok`],
  ['a header without a name', `${OK}: b\r\n\r\n`],
  ['a control character in a header', `${OK}X-A: \x01\r\n\r\n`],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['a version before 1.0', 'HTTP/0.9 200 OK\r\n\r\n'],
  ['another protocol', 'ICY 200 OK\r\n\r\n'],
  ['a switch to another protocol', 'HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 x\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['two lengths', `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc`],
  ['one length twice', `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`],
  ['a list of lengths', `${OK}Content-Length: 2, 2\r\n\r\nok`],
  ['a length with a sign', `${OK}Content-Length: +2\r\n\r\nok`],
  ['a length in other digits', `${OK}Content-Length: 0x2\r\n\r\nok`],
  ['an empty length', `${OK}Content-Length:\r\n\r\nok`],
  ['a length beyond all numbers', `${OK}Content-Length: 99999999999999999999\r\n\r\nok`],
  ['a length longer than the body', `${OK}Content-Length: 3\r\n\r\nok`],
  ['a length beside chunks', `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunks beside a length', `${OK}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`],
  ['chunks under HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['chunks twice', `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['packed chunks', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['another coding', `${OK}Transfer-Encoding: identity\r\n\r\nok`],
  ['a coding like chunked', `${OK}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['an empty coding', `${OK}Transfer-Encoding:\r\n\r\nok`],
  ['a chunk that is cut', `${CHUNKED}3\r\nab`],
  ['chunks without the last one', `${CHUNKED}3\r\nabc\r\n`],
  ['the last chunk without the empty line', `${CHUNKED}0\r\n`],
  ['a chunk longer than its size', `${CHUNKED}3\r\nabcd\r\n0\r\n\r\n`],
  ['a size with a sign', `${CHUNKED}-3\r\nabc\r\n0\r\n\r\n`],
  ['a size with a prefix', `${CHUNKED}0x3\r\nabc\r\n0\r\n\r\n`],
  ['a size that is none', `${CHUNKED}g\r\n\r\n0\r\n\r\n`],
  ['a size beyond all numbers', `${CHUNKED}fffffffffffffffff\r\nabc`],
  ['a size that ends with a line feed only', `${CHUNKED}3\nabc\r\n0\r\n\r\n`],
  ['a chunk that ends with a line feed only', `${CHUNKED}3\r\nabc\n0\r\n\r\n`],
  ['a folded trailer', `${CHUNKED}0\r\n folded\r\n\r\n`],
  ['headers that are cut', `${OK}X-A: b\r\n`],
])('an answer with %s is refused', async (_, bytes) => {
  expect(await read(bytes)).toBe('connection_failed')
})

test.each([
  ['an extension of a chunk and a trailer', `${CHUNKED}3;a=b\r\nabc\r\n0\r\nX-T: u\r\n\r\n`, 'abc'],
  ['chunks in capitals', `${OK}transfer-encoding: CHUNKED\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n`, '0123456789'],
  ['a body to the end of the connection', `${OK}\r\na\r\nb`, 'a\r\nb'],
  ['a second answer behind it', `${OK}Content-Length: 2\r\n\r\nok${OK}Content-Length: 3\r\n\r\nbad`, 'ok'],
  ['a second answer behind its chunks', `${CHUNKED}2\r\nok\r\n0\r\n\r\n${OK}Content-Length: 3\r\n\r\nbad`, 'ok'],
])('an answer with %s is read to its end and no further', async (_, bytes, body) => {
  expect(await read(bytes)).toMatchObject({ status: 200, body })
})

const header = fc.constantFrom(
  'X-A: b',
  'ETag: \t "ä" \t',
  'Content-Length: 7',
  'Transfer-Encoding: chunked',
  'X-A : b',
  ' folded',
)
const body = fc.constantFrom(
  '3\r\nabc\r\n0\r\n\r\n',
  '3;x\r\nabc\r\n2\r\nde\r\n0\r\nX-T: u\r\n\r\n',
  '3\r\nabc',
  'more than seven',
  '',
)
const anAnswer = fc
  .tuple(fc.constantFrom('', '\r\n', 'HTTP/1.1 100 Continue\r\n\r\n'), fc.array(header, { maxLength: 3 }), body)
  .map(([first, headers, rest]) =>
    Buffer.from(`${first}${OK}${headers.map(line => `${line}\r\n`).join('')}\r\n${rest}`, 'latin1'),
  )

test('an answer is read alike, however it is cut into pieces', async () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(anAnswer, lengths, async (bytes, cuts) => {
      const ends = cuts.map((_, index) => cuts.slice(0, index + 1).reduce((sum, length) => sum + length))
      const pieces = [0, ...ends].map((from, index) => bytes.subarray(from, ends[index]))
      expect(await read(...pieces.filter(({ length }) => length > 0))).toEqual(await read(bytes))
    }),
    { numRuns: 200, seed: FRESH_SEED },
  )
})

test('an answer with too long lines, too many headers or too many interim answers is refused', async () => {
  const withHeaders = (lines: string[]) => `HTTP/1.1 204 No Content\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`
  const named = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}: y`)
  expect(await read(withHeaders(named(256)))).toMatchObject({ status: 204 })
  expect(await read(withHeaders(named(257)))).toBe('connection_failed')
  expect(await read(withHeaders([`x: ${'y'.repeat(16_000)}`]))).toMatchObject({ status: 204 })
  expect(await read(withHeaders([`x: ${'y'.repeat(16_384)}`]))).toBe('connection_failed')
  const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'
  expect(await read(interim.repeat(16) + withHeaders([]))).toMatchObject({ status: 204 })
  expect(await read(interim.repeat(17) + withHeaders([]))).toBe('too_large')
})

test('a header behind more headers than are kept says nothing of the body', async () => {
  const many = 'a:\r\n'.repeat(1500)
  expect(await read(`${OK}${many}Transfer-Encoding: gzip\r\n\r\nok`)).toBe('connection_failed')
})

test('an answer that is mostly framing is too large', async () => {
  const chunk = `1;${'x'.repeat(15_000)}\r\nx\r\n`
  expect(await read(CHUNKED, ...Array<string>(8).fill(chunk), '0\r\n\r\n')).toMatchObject({ status: 200 })
  expect(await read(CHUNKED, ...Array<string>(10).fill(chunk), '0\r\n\r\n')).toBe('too_large')
})

test('a repeated header is joined, except one with a single value, of which the first counts', async () => {
  const lines = ['Retry-After: 120', 'retry-after: 7', 'ETag: "a"', 'ETag: "a"', 'Via: x', 'Via: y']
  expect(await read(`HTTP/1.1 204 No Content\r\n${lines.join('\r\n')}\r\n\r\n`)).toMatchObject({
    headers: { 'retry-after': '120', etag: '"a"', via: 'x, y' },
  })
})
