// An outage is over: ten thousand messages are due at once. Counted at the receivers, which share the machine with what they
// measure, beside bare POSTs of the same size from one process with as many connections; then once more while somebody creates
// verifications.
import { callAt } from '../../src/egress/client.ts'
import { filledDir } from './fill.ts'
import { requestBytes, runLoad } from './load.ts'
import { atLeast, type Spread, type Spreads, shown, spreadOf, spreadsOf, table, whole } from './output.ts'
import { cpuMs, type Server, startService } from './service.ts'

const ROUNDS = 3
const AIM_PER_SECOND = 3000
const RECEIVERS = 2
/** Under way at once for each receiver, as the service limits it. */
const PER_RECEIVER = 4
const BARE_SECONDS = 3
const API_SECONDS = 3
const API_CONNECTIONS = 8
const MESSAGE_BYTES = 900
const LIMITS = { resolveMs: 2000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }

export type WebhooksReport = {
  rows: number
  rounds: number
  aim: { per_second_minimum: number }
  bare_per_second: Spread | null
  drained: Spreads<Drained>
  drained_meanwhile: Spreads<Drained>
  /** Creations, while the backlog is drained and afterwards. */
  api: { meanwhile: Spreads<Creations>; quiet: Spreads<Creations> }
}

type Drained = { seconds: number; per_second: number; of_bare: number; cpu_us_each: number | null }
type Creations = { per_second: number; p50_ms: number; p99_ms: number }

export async function benchWebhooks(rows: number): Promise<WebhooksReport> {
  const receivers = Array.from({ length: RECEIVERS }, startReceiver)
  try {
    const rounds: Awaited<ReturnType<typeof oneRound>>[] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await oneRound(rows, receivers))
    return {
      rows,
      rounds: ROUNDS,
      aim: { per_second_minimum: AIM_PER_SECOND },
      bare_per_second: spreadOf(rounds.map(({ bare }) => bare)),
      drained: spreadsOf(rounds.map(({ drained }) => drained)),
      drained_meanwhile: spreadsOf(rounds.map(({ drainedMeanwhile }) => drainedMeanwhile)),
      api: {
        meanwhile: spreadsOf(rounds.map(({ meanwhile }) => meanwhile)),
        quiet: spreadsOf(rounds.map(({ quiet }) => quiet)),
      },
    }
  } finally {
    for (const receiver of receivers) receiver.stop()
  }
}

async function oneRound(rows: number, receivers: Receiver[]) {
  const bare = await bareRate(receivers)
  const drained = await withBacklog(rows, receivers, server => drain(server, receivers, rows, bare))
  const both = await withBacklog(rows, receivers, async (server, key) => {
    const load = createVerifications(server, key)
    const drainedMeanwhile = await drain(server, receivers, rows, bare)
    return { drainedMeanwhile, meanwhile: await load, quiet: await createVerifications(server, key) }
  })
  return { bare, drained, ...both }
}

type Receiver = ReturnType<typeof startReceiver>

function startReceiver() {
  const seen = { count: 0, firstAt: 0, lastAt: 0 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      await request.arrayBuffer()
      seen.lastAt = performance.now()
      if (seen.count++ === 0) seen.firstAt = seen.lastAt
      return new Response(null, { status: 204 })
    },
  })
  return {
    seen,
    url: `http://127.0.0.1:${server.port}/hook`,
    destination: `127.0.0.1:${server.port}`,
    stop: () => server.stop(true),
  }
}

/** The least one thread needs for a POST on a connection of its own. */
async function bareRate(receivers: Receiver[]): Promise<number> {
  const body = 'x'.repeat(MESSAGE_BYTES)
  const until = performance.now() + BARE_SECONDS * 1000
  let posted = 0
  const post = async ({ url }: Receiver) => {
    const call = { url, method: 'POST', headers: {}, body, limits: LIMITS, onLargeAnswer: 'cut' } as const
    for (; performance.now() < until; posted++) {
      const answer = await callAt('127.0.0.1', call)
      if (!answer.ok) throw new Error(`a bare POST failed: ${answer.failure}`)
    }
  }
  await Promise.all(receivers.flatMap(receiver => Array.from({ length: PER_RECEIVER }, () => post(receiver))))
  return posted / BARE_SECONDS
}

async function withBacklog<Result>(
  rows: number,
  receivers: Receiver[],
  act: (server: Server, key: string) => Promise<Result>,
): Promise<Result> {
  const { dir, tenant } = await filledDir(
    rows,
    receivers.map(({ url }) => url),
  )
  for (const { seen } of receivers) seen.count = 0
  const server = await startService(dir, { VIDIMUS_EGRESS_ALLOW: receivers.map(({ destination }) => destination).join(',') })
  try {
    return await act(server, tenant.key)
  } finally {
    await server.stop()
  }
}

async function drain({ pid }: Server, receivers: Receiver[], rows: number, bare: number): Promise<Drained> {
  const cpuBefore = cpuMs(pid)
  while (receivers.reduce((sum, { seen }) => sum + seen.count, 0) < rows) await Bun.sleep(10)
  const cpuAfter = cpuMs(pid)
  const first = Math.min(...receivers.map(({ seen }) => seen.firstAt))
  const last = Math.max(...receivers.map(({ seen }) => seen.lastAt))
  const seconds = (last - first) / 1000
  const cpu = cpuBefore === undefined || cpuAfter === undefined ? null : ((cpuAfter - cpuBefore) * 1000) / rows
  return { seconds, per_second: rows / seconds, of_bare: rows / seconds / bare, cpu_us_each: cpu }
}

async function createVerifications(server: Server, key: string): Promise<Creations> {
  const request = requestBytes({
    method: 'POST',
    path: '/v1/verifications',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ template: 'age_over_18' }),
  })
  const { requestsPerSecond, p50Ms, p99Ms } = await runLoad({
    endpoint: server,
    sources: Array.from({ length: API_CONNECTIONS }, () => () => request),
    seconds: API_SECONDS,
  })
  return { per_second: requestsPerSecond, p50_ms: p50Ms, p99_ms: p99Ms }
}

export function describeWebhooks({
  rows,
  rounds,
  aim,
  bare_per_second,
  drained,
  drained_meanwhile,
  api,
}: WebhooksReport): string {
  const deliveryRow = (name: string, { per_second, seconds, of_bare, cpu_us_each }: Spreads<Drained>, verdict: string) => [
    name,
    shown(per_second, 0),
    shown(seconds, 1),
    shown(of_bare, 2),
    shown(cpu_us_each, 0),
    verdict,
  ]
  const apiRow = (name: string, { per_second, p50_ms, p99_ms }: Spreads<Creations>) => [
    name,
    shown(per_second, 0),
    shown(p50_ms, 2),
    shown(p99_ms, 2),
  ]
  return [
    `A backlog drained: medians (and ranges) of ${rounds} rounds, bare POSTs and deliveries by turns.`,
    '',
    table(
      ['deliveries', 'a second', 'seconds', 'of bare', 'CPU us each', 'aim'],
      [
        ['bare POSTs, one thread', shown(bare_per_second, 0), '', '', '', ''],
        deliveryRow(`backlog of ${whole(rows)}`, drained, atLeast(drained.per_second, aim.per_second_minimum)),
        deliveryRow('the same under creations', drained_meanwhile, ''),
      ],
    ),
    '',
    table(
      [`creations, ${API_CONNECTIONS} connections`, 'a second', 'p50 ms', 'p99 ms'],
      [apiRow('while deliveries drain', api.meanwhile), apiRow('without deliveries', api.quiet)],
    ),
  ].join('\n')
}
