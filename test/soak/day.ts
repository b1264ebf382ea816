// F39: a steady day. Twenty creations a second, of which most are polled and half are declined by a wallet and announced to a
// shop; one in a hundred meets a fault: a client that goes away, a body that is none, a shop that hangs or fails. Watched are
// memory, open files and the log.
import { connect } from 'node:net'
import { decline, fetchRequest } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, cleanUp, temporaryDir } from '../helpers/app.ts'
import { seeded } from '../helpers/seeded.ts'
import type { Ack } from '../invariants/acks.ts'
import { checkInvariants } from '../invariants/check.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { logBytes, openFiles, progress, residentMb, serviceOn, shopIn } from './service.ts'

const PER_SECOND = 20
const SAMPLE_EVERY_MS = 5000
const LOG_BYTES_MAX = 64 * 1024 * 1024
const RESIDENT_MB_PER_HOUR_MAX = 1
/** Shorter runs say nothing about a slope: the memory of a start is still being returned. */
const SLOPE_MINUTES_MIN = 60
const FILES_GROWTH_MAX = 50

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts: Record<string, number> = { created: 0, polled: 0, declined: 0, faults: 0, received: 0, unexpected: 0 }
const latencies = { create: [] as number[], poll: [] as number[] }
const acks: Ack[] = []
const samples: { hours: number; residentMb: number; files: number; logBytes: number }[] = []

const shopFloor = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 60,
  async fetch(request) {
    await request.arrayBuffer()
    counts.received!++
    if (random.below(100) > 0) return new Response(null, { status: 204 })
    if (random.below(2) === 0) await Bun.sleep(20_000)
    return new Response('no', { status: 500 })
  },
})

const dir = temporaryDir()
const { key } = await shopIn(dir)
const service = await serviceOn(dir, {
  VIDIMUS_EGRESS_ALLOW: `127.0.0.1:${shopFloor.port}`,
  VIDIMUS_PUBLIC_URL: 'https://verify.example',
  VIDIMUS_WEBHOOK_DELAYS: '0s,1s,5s,20s,30s,30s',
})
const startedAt = performance.now()
const endsAt = startedAt + minutes * 60_000
const underWay = new Set<Promise<void>>()
const sampler = setInterval(sample, SAMPLE_EVERY_MS)
for (let n = 0; performance.now() < endsAt; n++) {
  const visit = visitOnce().catch(error => {
    counts.unexpected!++
    if (violations.length < 20) violations.push(`a visit failed: ${error}`)
  })
  underWay.add(visit)
  void visit.finally(() => underWay.delete(visit))
  await Bun.sleep(Math.max(0, startedAt + (n + 1) * (1000 / PER_SECOND) - performance.now()))
}
await Promise.all(underWay)
clearInterval(sampler)
sample()
judge()
await service.stop()
violations.push(...(await checkInvariants(dir, { acks })).violations)
void shopFloor.stop(true)
await cleanUp()
process.exit(
  soakLine({
    script: 'soak/day',
    seed,
    minutes,
    counts,
    percentiles: { create: percentilesOf(latencies.create), poll: percentilesOf(latencies.poll) },
    violations,
  }),
)

async function visitOnce(): Promise<void> {
  if (random.below(100) === 0) return await meetFault()
  const isAnnounced = random.below(2) === 0
  const body = {
    template: 'age_over_18',
    metadata: { order: `o-${counts.created}` },
    ...(isAnnounced && { webhook_url: `http://127.0.0.1:${shopFloor.port}/hook` }),
  }
  const created = await timed('create', () => call<Verification>(service.url, 'POST', '/v1/verifications', { key, body }))
  if (created.status !== 201) throw new Error(`creation answered ${created.status}`)
  counts.created!++
  const { id, created_at, expires_at, template } = created.body
  acks.push({ fact: 'created', id, created_at, expires_at, template })
  const { status } = await timed('poll', () => call(service.url, 'GET', `/v1/verifications/${id}/status`))
  if (status !== 200) throw new Error(`a poll answered ${status}`)
  counts.polled!++
  if (!isAnnounced) return
  const request = await fetchRequest(
    created.body.wallet_uri ?? '',
    (url, init) => fetch(url.replace('https://verify.example', service.url), init),
    { now: Date.now() },
  )
  const { form } = await decline(request)
  const answer = await call(service.url, 'POST', `/wallet/response/${id}`, { raw: form })
  if (answer.status !== 200) throw new Error(`a wallet was answered ${answer.status}`)
  counts.declined!++
  acks.push({ fact: 'ended', id, status: 'failed', webhook: true })
}

async function timed<Answer>(name: keyof typeof latencies, act: () => Promise<Answer>): Promise<Answer> {
  const begun = performance.now()
  const answer = await act()
  latencies[name].push(performance.now() - begun)
  return answer
}

async function meetFault(): Promise<void> {
  counts.faults!++
  if (random.below(2) === 0) {
    const { status } = await call(service.url, 'POST', '/v1/verifications', {
      key,
      raw: '{"template":',
      headers: { 'content-type': 'application/json' },
    })
    if (status !== 400) throw new Error(`a broken body was answered ${status}`)
    return
  }
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('POST /v1/devices/enroll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{')
  await Bun.sleep(random.below(1000))
  socket.resetAndDestroy()
}

function sample(): void {
  const hours = (performance.now() - startedAt) / 3_600_000
  samples.push({ hours, residentMb: residentMb(service.pid), files: openFiles(service.pid), logBytes: logBytes(dir) })
  const last = samples.at(-1)!
  if (samples.length % 6 === 0)
    progress(
      `${counts.created} created, ${last.residentMb.toFixed(0)} MB, ${last.files} files, log ${(last.logBytes / 1024).toFixed(0)} KiB`,
    )
}

function judge(): void {
  // Memory that a start needs is not growth.
  const steady = samples.slice(Math.floor(samples.length / 5))
  const slope = slopeOf(steady.map(({ hours, residentMb }) => [hours, residentMb]))
  const files = steady.map(({ files }) => files)
  const growth = meanOf(files.slice(-5)) - meanOf(files.slice(0, 5))
  const largestLog = Math.max(...samples.map(({ logBytes }) => logBytes))
  Object.assign(counts, {
    resident_mb: Math.round(samples.at(-1)!.residentMb),
    resident_mb_per_hour: Math.round(slope * 10) / 10,
    open_files: files.at(-1) ?? 0,
    log_bytes_max: largestLog,
  })
  if (minutes >= SLOPE_MINUTES_MIN && slope > RESIDENT_MB_PER_HOUR_MAX)
    violations.push(`memory grows by ${slope.toFixed(1)} MB an hour`)
  if (growth > FILES_GROWTH_MAX) violations.push(`${growth.toFixed(0)} more open files at the end than at the beginning`)
  if (largestLog > LOG_BYTES_MAX) violations.push(`the log had ${largestLog} bytes`)
}

function meanOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

/** Least squares. */
function slopeOf(points: [x: number, y: number][]): number {
  const [meanX, meanY] = [meanOf(points.map(([x]) => x)), meanOf(points.map(([, y]) => y))]
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  return below === 0 ? 0 : above / below
}
