// An outage is over: ten thousand messages are due at once. Counted at the receivers, which share the machine with what they measure, beside
// bare POSTs of the same size from one process with as many connections; then once more while somebody creates verifications.
import { callAt } from '../../src/egress/client.ts'
import { filledDir } from './fill.ts'
import { type Measured, requestBytes, runLoad } from './load.ts'
import { fixed, table, whole } from './output.ts'
import { cpuMs, type Server, startService } from './service.ts'

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
  barePerSecond: number
  drained: Drained
  drainedMeanwhile: Drained
  /** Creations, while the backlog is drained and afterwards. */
  api: { meanwhile: Measured; quiet: Measured }
}

type Drained = { seconds: number; perSecond: number; cpuMicrosEach: number | null }

export async function benchWebhooks(rows: number): Promise<WebhooksReport> {
  const receivers = Array.from({ length: RECEIVERS }, startReceiver)
  try {
    const barePerSecond = await bareRate(receivers)
    const drained = await withBacklog(rows, receivers, server => drain(server, receivers, rows))
    const both = await withBacklog(rows, receivers, async (server, key) => {
      const load = createVerifications(server, key)
      const drainedMeanwhile = await drain(server, receivers, rows)
      return { drainedMeanwhile, api: { meanwhile: await load, quiet: await createVerifications(server, key) } }
    })
    return { rows, barePerSecond, drained, ...both }
  } finally {
    for (const receiver of receivers) receiver.stop()
  }
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

async function drain({ pid }: Server, receivers: Receiver[], rows: number): Promise<Drained> {
  const cpuBefore = cpuMs(pid)
  while (receivers.reduce((sum, { seen }) => sum + seen.count, 0) < rows) await Bun.sleep(10)
  const cpuAfter = cpuMs(pid)
  const first = Math.min(...receivers.map(({ seen }) => seen.firstAt))
  const last = Math.max(...receivers.map(({ seen }) => seen.lastAt))
  const seconds = (last - first) / 1000
  const cpuMicrosEach = cpuBefore === undefined || cpuAfter === undefined ? null : ((cpuAfter - cpuBefore) * 1000) / rows
  return { seconds, perSecond: rows / seconds, cpuMicrosEach }
}

async function createVerifications(server: Server, key: string): Promise<Measured> {
  const request = requestBytes({
    method: 'POST',
    path: '/v1/verifications',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ template: 'age_over_18' }),
  })
  return await runLoad({
    endpoint: server,
    sources: Array.from({ length: API_CONNECTIONS }, () => () => request),
    seconds: API_SECONDS,
  })
}

export function describeWebhooks({ rows, barePerSecond, drained, drainedMeanwhile, api }: WebhooksReport): string {
  const deliveryRow = (name: string, { perSecond, seconds, cpuMicrosEach }: Drained) => [
    name,
    whole(perSecond),
    fixed(seconds, 1),
    fixed(perSecond / barePerSecond, 2),
    fixed(cpuMicrosEach, 0),
  ]
  const apiRow = (name: string, { requestsPerSecond, p50Ms, p99Ms }: Measured) => [
    name,
    whole(requestsPerSecond),
    fixed(p50Ms, 2),
    fixed(p99Ms, 2),
  ]
  return [
    table(
      ['deliveries', 'a second', 'seconds', 'of bare', 'CPU us each'],
      [
        ['bare POSTs, one thread', whole(barePerSecond), '', '1.00', ''],
        deliveryRow(`backlog of ${whole(rows)}`, drained),
        deliveryRow('the same under creations', drainedMeanwhile),
      ],
    ),
    '',
    table(
      [`creations, ${API_CONNECTIONS} connections`, 'a second', 'p50 ms', 'p99 ms'],
      [apiRow('while deliveries drain', api.meanwhile), apiRow('without deliveries', api.quiet)],
    ),
  ].join('\n')
}
