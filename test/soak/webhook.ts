// F10 and F13 to F18: shops that hang, trickle, reset, redirect, refuse and flood, names that lead elsewhere when they are
// called, and a sending thread that throws, runs in circles or is ended. Meanwhile one good shop gets its messages, and nobody
// calls where nobody may.
import { createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { checkDestination } from '../../src/egress/policy.ts'
import { cleanUp, startApp } from '../helpers/app.ts'
import { declined, receive } from '../helpers/receiver.ts'
import { seeded } from '../helpers/seeded.ts'
import { checkInvariants } from '../invariants/check.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress } from './service.ts'

const PUBLIC = '93.184.215.14'
const FORBIDDEN = '127.0.0.2'
/** Two seconds for the name, fifteen for the exchange, and one for timers that are late on a busy machine. */
const ATTEMPT_MS_MAX = 18_000
const GOOD_P99_MS_MAX = 5000
/** From a third of the time on: until then everything is used for the first time, receivers of this process included. */
const RESIDENT_GROWTH_MB_MAX = 64
const SPELLINGS_OF_A_ROUND = 500
/** Of what a flood holds back: its memory is that of this process, too. */
const UNSENT_BYTES_MAX = 100_000
const DRAIN_MS = 60_000
const THREAD_ENDS_EVERY_MS = 60_000
/** A message that breaks the thread does so several times, and takes along what is under way. */
const UNREST_MS = 30_000

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts = {
  good: 0,
  hostile: 0,
  rebound: 0,
  thread_ends: 0,
  threads_lost: 0,
  forbidden_calls: 0,
  spellings: 0,
  attempts: 0,
  resident_growth_mb: 0,
}
const begunAt = new Map<string, number>()
/** Begun while threads were being lost. */
const amidLosses = new Set<string>()
const endsAt = performance.now() + minutes * 60_000

/** When each arrived first; it may be before whoever answered the session knows that they did. */
const arrivedAt = new Map<string, number>()

const good = receive(({ body }) => {
  const id: string = JSON.parse(body).verification.id
  if (!arrivedAt.has(id)) arrivedAt.set(id, performance.now())
  // Kept messages would count as memory of the service.
  good.received.length = 0
  return new Response(null, { status: 204 })
})

const BOMB = gzipSync(Buffer.alloc(10_000_000))
const HOSTILE: ((socket: Socket) => void)[] = [
  () => {},
  socket => repeat(socket, 'HTTP/1.1 200 OK\r\n', 'x-more: and more\r\n', 200),
  socket => repeat(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n', 'x', 200),
  socket => socket.end(),
  socket => socket.resetAndDestroy(),
  ...[301, 302, 307, 308].map(
    status => (socket: Socket) => say(socket, `${status} Go`, `Location: http://${FORBIDDEN}:${forbiddenPort}/\r\n`),
  ),
  ...['500 No', '410 Gone', '503 Later', '404 No'].map(status => (socket: Socket) => say(socket, status)),
  ...['0', '5', '1000000000'].map(after => (socket: Socket) => say(socket, '429 Slow', `Retry-After: ${after}\r\n`)),
  socket => repeat(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n', 'x'.repeat(1_000_000), 1),
  socket =>
    socket.end(
      Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`), BOMB]),
    ),
  socket => repeat(socket, 'HTTP/1.1 200 OK\r\n', `x-big: ${'y'.repeat(100_000)}\r\n`, 1),
  socket => repeat(socket, '', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(100), 1),
  socket => socket.end('220 mail.example ESMTP\r\n'),
]
const REBOUND = [
  [FORBIDDEN],
  ['169.254.169.254'],
  ['::ffff:7f00:2'],
  ['64:ff9b::7f00:2'],
  ['127.0.0.2', PUBLIC],
  [PUBLIC, '0.0.0.0'],
  ['::'],
  [],
]

const hostile = await listen('127.0.0.1', 0, socket => socket.once('data', () => HOSTILE[random.below(HOSTILE.length)]!(socket)))
const forbiddenPort = await listen(FORBIDDEN, 0, () => {
  counts.forbidden_calls++
})

const asked = new Set<string>()
const threads: Worker[] = []
const app = await startApp({
  now: Date.now(),
  config: {
    egressAllow: [good.allow, { address: '127.0.0.1', prefix: 32, port: hostile }],
    webhookDelaysMs: [0, 500, 1000, 1000, 1000, 1000],
    log: 'warn',
  },
  // What is public when it is first asked for is anything after that.
  resolve: async host => {
    if (!host.startsWith('rebind')) return ['127.0.0.1']
    if (asked.has(host)) return REBOUND[random.below(REBOUND.length)]!
    asked.add(host)
    return [PUBLIC]
  },
  sending: {
    startThread: () => {
      const worker = new Worker(new URL('../webhooks/breakable-thread.ts', import.meta.url).href)
      threads.push(worker)
      return worker
    },
  },
})
const clock = setInterval(() => app.clock.set(Math.max(app.clock.now(), Date.now())), 10)
const shopOf = (name: string) => app.tenant({ name, dailyQuota: 10_000_000 })
const shops = await Promise.all(Array.from({ length: 8 }, (_, i) => shopOf(`Shop ${i}`)))
const goodShop = await shopOf('Good shop')

let nextEndAt = performance.now() + THREAD_ENDS_EVERY_MS / 4
let calmAt = 0
let residentWarm: number | undefined
const warmAt = performance.now() + minutes * 20_000
for (let round = 0; performance.now() < endsAt; round++) {
  await Promise.all([sendGood(), sendHostile(), sendRebound(), trySpellings()])
  if (performance.now() > nextEndAt) endThread()
  if (performance.now() > warmAt) residentWarm ??= resident()
  if (round % 100 === 99) progress(`${JSON.stringify(counts)}, good p99 ${percentilesOf(goodMs()).p99} ms`)
  await Bun.sleep(20)
}
for (const waitUntil = performance.now() + DRAIN_MS; missing().length > 0 && performance.now() < waitUntil; ) await Bun.sleep(100)
judge()
clearInterval(clock)
await app.stop()
violations.push(...(await checkInvariants(app.dir)).violations)
good.stop()
await cleanUp()
process.exit(
  soakLine({
    script: 'soak/webhook',
    seed,
    minutes,
    counts,
    percentiles: { good: percentilesOf(goodMs()), good_amid_losses: percentilesOf(goodMs(false)) },
    violations,
  }),
)

function missing(): string[] {
  return [...begunAt.keys()].filter(id => !arrivedAt.has(id))
}

function goodMs(isCalm = true): number[] {
  return [...begunAt].flatMap(([id, begun]) =>
    arrivedAt.has(id) && amidLosses.has(id) !== isCalm ? [arrivedAt.get(id)! - begun] : [],
  )
}

function listen(host: string, port: number, on: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer(socket => {
    socket.on('error', () => {})
    on(socket)
  })
  return new Promise(resolve => server.listen(port, host, () => resolve((server.address() as { port: number }).port)))
}

function say(socket: Socket, status: string, headers = ''): void {
  socket.end(`HTTP/1.1 ${status}\r\n${headers}Content-Length: 0\r\n\r\n`)
}

function repeat(socket: Socket, head: string, more: string, everyMs: number): void {
  socket.write(head)
  // No more than the other side takes: this process would hold the rest.
  const timer = setInterval(() => socket.writableLength < UNSENT_BYTES_MAX && socket.write(more), everyMs)
  socket.on('close', () => clearInterval(timer))
}

async function sendGood(): Promise<void> {
  const begun = performance.now()
  const id = await declined({ app, key: goodShop.key }, good.url('/good', 'good.example'))
  begunAt.set(id, begun)
  if (begun < calmAt || performance.now() > nextEndAt) amidLosses.add(id)
  counts.good++
}

async function sendHostile(): Promise<void> {
  const { key } = shops[random.below(shops.length)]!
  await declined({ app, key }, `http://shop${random.below(20)}.example:${hostile}/hook`)
  counts.hostile++
}

async function sendRebound(): Promise<void> {
  const { key } = shops[random.below(shops.length)]!
  await declined({ app, key }, `http://rebind${counts.rebound}.example:${forbiddenPort}/hook`)
  counts.rebound++
}

/** An inner address, in any notation: none of them may pass. */
async function trySpellings(): Promise<void> {
  const inner = [
    '127.0.0.1',
    '10.1.2.3',
    '192.168.0.9',
    '169.254.169.254',
    '172.16.5.5',
    '100.64.0.1',
    '0.0.0.0',
    '168.63.129.16',
  ]
  for (let i = 0; i < SPELLINGS_OF_A_ROUND; i++) {
    const parts = inner[random.below(inner.length)]!.split('.').map(Number)
    const whole = parts.reduce((sum, part) => sum * 256 + part, 0)
    const hex = (value: number) => value.toString(16)
    const notations = [
      parts.join('.'),
      String(whole),
      `0x${hex(whole)}`,
      parts.map(part => `0${part.toString(8)}`).join('.'),
      parts.map(part => `0x${hex(part)}`).join('.'),
      `${parts[0]}.${whole % 2 ** 24}`,
      `${parts[0]}.${parts[1]}.${whole % 65_536}`,
      `${parts.join('.')}.`,
      `[::ffff:${hex(Math.floor(whole / 65_536))}:${hex(whole % 65_536)}]`,
      `[64:ff9b::${hex(Math.floor(whole / 65_536))}:${hex(whole % 65_536)}]`,
      `[2002:${hex(Math.floor(whole / 65_536))}:${hex(whole % 65_536)}::]`,
    ]
    const url = `${random.below(2) === 0 ? 'http' : 'HTTPS'}://${notations[random.below(notations.length)]}${random.below(2) === 0 ? '' : ':8080'}/${hex(random.below(1e6))}`
    const verdict = await checkDestination({ allow: [], listener: { addresses: [], port: 1 } }, async () => [PUBLIC], url)
    counts.spellings++
    if (verdict.ok) violations.push(`${url} passed`)
  }
}

function resident(): number {
  Bun.gc(true)
  return Math.round(process.memoryUsage.rss() / 1024 / 1024)
}

/** From outside, or by a message that breaks it. */
function endThread(): void {
  counts.thread_ends++
  nextEndAt = performance.now() + THREAD_ENDS_EVERY_MS
  calmAt = performance.now() + UNREST_MS
  // Attempts that are under way are included.
  for (const id of missing()) amidLosses.add(id)
  const way = ['terminate', 'throw', 'loop', 'exit'][random.below(4)]!
  if (way === 'terminate') threads.at(-1)?.terminate()
  else void declined({ app, key: shops[0]!.key }, `http://broken.example:${hostile}/${way}`)
}

function judge(): void {
  const { $client } = app.deps.db as unknown as { $client: import('bun:sqlite').Database }
  const attempts = $client
    .query<{ n: number; longest: number }, []>('SELECT count(*) AS n, max(duration_ms) AS longest FROM webhook_attempts')
    .get()!
  counts.attempts = attempts.n
  counts.threads_lost = app.logs.filter(line => line.includes('webhooks.thread_lost')).length
  counts.resident_growth_mb = resident() - (residentWarm ?? resident())
  if (counts.forbidden_calls > 0) violations.push(`${counts.forbidden_calls} connections to an address that is refused`)
  if (missing().length > 0) violations.push(`${missing().length} messages never reached the good shop`)
  if (attempts.longest > ATTEMPT_MS_MAX) violations.push(`an attempt took ${attempts.longest} ms`)
  if (percentilesOf(goodMs()).p99 > GOOD_P99_MS_MAX)
    violations.push(`the good shop waited: p99 ${percentilesOf(goodMs()).p99} ms`)
  if (counts.resident_growth_mb > RESIDENT_GROWTH_MB_MAX) violations.push(`memory grew by ${counts.resident_growth_mb} MB`)
}
