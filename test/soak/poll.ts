// F11 and F12: ten thousand clients behind a proxy poll once a second, fifty verifications a second are created, and slow clients
// that never finish come again and again. Limits are on. The clients run in a process of their own machine's share: figures are
// those of a shared machine.
import { connect, type Socket } from 'node:net'
import { call, cleanUp, temporaryDir } from '../helpers/app.ts'
import { seeded } from '../helpers/seeded.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { limited, progress, residentMb, type Shop, serviceOn, shopIn } from './service.ts'

const POLLERS = 10_000
const CREATIONS_PER_SECOND = 50
const SLOW = 1000
const SLOW_MS_MAX = 20_000
const STATUS_P99_MS_MAX = 250
const CREATE_P99_MS_MAX = 200
const RESIDENT_MB_MAX = 256
/** Two requests a second are a session's budget: nobody shares one. */
const SESSIONS = POLLERS
const TICK_MS = 10
const FILES_NEEDED = POLLERS + SLOW + 1000

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
if (openFilesMax() < FILES_NEEDED) await again()

const random = seeded(seed)
const violations: string[] = []
const counts = {
  polls: 0,
  limited: 0,
  errors: 0,
  lost: 0,
  created: 0,
  create_limited: 0,
  slow: 0,
  slow_cut: 0,
  resident_mb_max: 0,
}
const statusMs: number[] = []
const createMs: number[] = []
let slowestMs = 0

const dir = temporaryDir()
const shops = [await shopIn(dir, 'live'), await shopIn(dir, 'live')]
const ids = await makeSessions(shops)
const service = await serviceOn(dir, { VIDIMUS_RATE_LIMIT_SCALE: '1', VIDIMUS_TRUSTED_PROXIES: '127.0.0.1' })
const { port } = new URL(service.url)
const endsAt = performance.now() + minutes * 60_000
let isOver = false
const watch = setInterval(look, 2000)
progress(`${ids.length} sessions; connecting ${POLLERS} pollers`)
await Promise.all([pollAll(), createAll(), slowAll()])
clearInterval(watch)
judge()
await service.stop()
await cleanUp()
const percentiles = { status: percentilesOf(statusMs), create: percentilesOf(createMs) }
process.exit(soakLine({ script: 'soak/poll', seed, minutes, counts, percentiles, violations }))

function openFilesMax(): number {
  const { stdout } = Bun.spawnSync(['sh', '-c', 'ulimit -n'])
  const text = stdout.toString().trim()
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text)
}

/** In a process that may have more files open; where that is not allowed, says how. */
async function again(): Promise<never> {
  if (process.env.SOAK_POLL_AGAIN) {
    progress(`needs ${FILES_NEEDED} open files; raise the hard limit (ulimit -Hn) and run it again`)
    process.exit(2)
  }
  const child = Bun.spawn(limited([process.execPath, import.meta.path, '--seed', String(seed), '--minutes', String(minutes)]), {
    env: { ...process.env, SOAK_POLL_AGAIN: '1' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  process.exit(await child.exited)
}

async function makeSessions([shop]: Shop[]): Promise<string[]> {
  const open = await serviceOn(dir)
  const made: string[] = []
  const body = { template: 'age_over_18', ttl_seconds: 3600 }
  const client = async () => {
    while (made.length < SESSIONS) {
      const answer = await call<{ id: string }>(open.url, 'POST', '/v1/verifications', { key: shop!.key, body })
      if (answer.status !== 201) throw new Error(`a session was answered ${answer.status}`)
      made.push(answer.body.id)
    }
  }
  await Promise.all(Array.from({ length: 32 }, client))
  await open.stop()
  return made
}

type Poller = { request: Buffer; sentAt: number; isWaiting: boolean; received: string }

/** A thousandth of a second apart, each once a second. */
async function pollAll(): Promise<void> {
  const sockets = new Array<Bun.Socket<Poller> | undefined>(POLLERS)
  const open = async (i: number) => {
    const address = `203.${i >> 14}.${(i >> 7) & 127}.${1 + (i & 127)}`
    const request = Buffer.from(
      `GET /v1/verifications/${ids[i % ids.length]}/status HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n\r\n`,
    )
    const forget = () => {
      sockets[i] = undefined
    }
    sockets[i] = await Bun.connect<Poller>({
      hostname: '127.0.0.1',
      port: Number(port),
      data: { request, sentAt: 0, isWaiting: false, received: '' },
      socket: { data: answered, close: forget, error: forget },
    }).catch(() => undefined)
  }
  for (let i = 0; i < POLLERS; i += 200) await Promise.all(Array.from({ length: 200 }, (_, k) => open(i + k)))
  progress(`connected, ${residentMb(service.pid).toFixed(0)} MB`)
  const perTick = POLLERS / (1000 / TICK_MS)
  let next = 0
  let dueAt = performance.now()
  while (performance.now() < endsAt) {
    for (let n = 0; n < perTick; n++, next = (next + 1) % POLLERS) {
      const socket = sockets[next]
      if (!socket) {
        counts.lost++
        void open(next)
      } else if (!socket.data.isWaiting) {
        socket.data.isWaiting = true
        socket.data.sentAt = performance.now()
        socket.write(socket.data.request)
      }
    }
    dueAt += TICK_MS
    await Bun.sleep(Math.max(0, dueAt - performance.now()))
  }
  isOver = true
  await Bun.sleep(2000)
  for (const socket of sockets) socket?.end()
}

function answered(socket: Bun.Socket<Poller>, chunk: Buffer): void {
  const poller = socket.data
  poller.received += chunk.toString('latin1')
  const head = poller.received.indexOf('\r\n\r\n')
  if (head < 0) return
  const length = Number(/^content-length: (\d+)/im.exec(poller.received.slice(0, head))?.[1] ?? 0)
  if (poller.received.length < head + 4 + length) return
  const status = poller.received.slice(9, 12)
  poller.received = ''
  poller.isWaiting = false
  counts.polls++
  statusMs.push(performance.now() - poller.sentAt)
  if (status === '429') counts.limited++
  else if (status !== '200') counts.errors++
}

async function createAll(): Promise<void> {
  const underWay: Promise<void>[] = []
  let dueAt = performance.now()
  for (let i = 0; performance.now() < endsAt; i++) {
    underWay.push(create(shops[i % shops.length]!))
    dueAt += 1000 / CREATIONS_PER_SECOND
    await Bun.sleep(Math.max(0, dueAt - performance.now()))
  }
  await Promise.all(underWay)
}

async function create({ key }: Shop): Promise<void> {
  const begun = performance.now()
  const answer = await call(service.url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } }).catch(
    () => undefined,
  )
  createMs.push(performance.now() - begun)
  if (answer?.status === 201) counts.created++
  else if (answer?.status === 429) counts.create_limited++
  else counts.errors++
}

/** Each comes again when it is cut off. */
async function slowAll(): Promise<void> {
  const kinds: ((socket: Socket) => void)[] = [
    () => {},
    socket => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nx-begun: '),
    socket =>
      socket.write(
        'POST /v1/devices/enroll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{',
      ),
    socket => socket.end('GET /healthz HTTP/1.1\r\nHost: x\r\n'),
  ]
  const open = new Set<Socket>()
  const one = async () => {
    while (!isOver && performance.now() < endsAt) {
      const begun = performance.now()
      const kind = random.below(kinds.length)
      const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
      open.add(socket)
      counts.slow++
      socket.on('connect', () => kinds[kind]!(socket)).resume()
      const drip = setInterval(() => kind === 1 && socket.write('x'), 1000)
      await new Promise<void>(resolve =>
        socket
          .on('error', () => resolve())
          .on('end', () => resolve())
          .on('close', () => resolve()),
      )
      clearInterval(drip)
      socket.destroy()
      open.delete(socket)
      if (isOver) return
      counts.slow_cut++
      slowestMs = Math.max(slowestMs, performance.now() - begun)
    }
  }
  const all = Array.from({ length: SLOW }, one)
  while (!isOver) await Bun.sleep(100)
  for (const socket of open) socket.destroy()
  await Promise.all(all)
}

function look(): void {
  counts.resident_mb_max = Math.max(counts.resident_mb_max, Math.round(residentMb(service.pid)))
  progress(
    `${counts.polls} polls, ${counts.limited} limited, ${counts.created} created, ${counts.slow_cut} cut, ${counts.resident_mb_max} MB`,
  )
}

function judge(): void {
  const [status, create] = [percentilesOf(statusMs), percentilesOf(createMs)]
  if (counts.errors > 0) violations.push(`${counts.errors} answers that are neither the right one nor 429`)
  if (counts.lost > 0) violations.push(`${counts.lost} times a poller had no connection`)
  if (status.p99 > STATUS_P99_MS_MAX) violations.push(`status p99 ${status.p99} ms`)
  if (create.p99 > CREATE_P99_MS_MAX) violations.push(`create p99 ${create.p99} ms`)
  if (counts.resident_mb_max > RESIDENT_MB_MAX) violations.push(`${counts.resident_mb_max} MB resident`)
  if (slowestMs > SLOW_MS_MAX) violations.push(`a slow client was cut off after ${Math.round(slowestMs)} ms`)
}
