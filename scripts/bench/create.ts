import { type Measured, requestBytes, runLoad, type Source } from './load.ts'
import { atLeast, type Spread, type Spreads, shown, spreadOf, spreadsOf, table, whole } from './output.ts'
import { cpuMs, makeTenant, type Server, startFloor, startService, temporaryDir } from './service.ts'

const CONNECTIONS = 64
const ROUNDS = 3
/** For each kind of request and each server: the runtime compiles what is hot only after a few thousand calls. */
const WARM_UP_SECONDS = 3

const AIMS = { plain: 0.5, full: 0.35 }

type Figures = { requests_per_second: number; p50_ms: number; p99_ms: number; cpu_us_per_request: number | null }

type Comparison = {
  request: RequestKind
  floor: Spreads<Figures>
  service: Spreads<Figures>
  ratio: Spread | null
  /** The floor's processor time over the service's: what the ratio would be on a machine with nothing else to do. */
  ratio_by_cpu: Spread | null
}

export type CreateReport = {
  connections: number
  rounds: number
  seconds: number
  aims: typeof AIMS
  comparisons: Comparison[]
  check: { answers: Record<string, number>; created: number; unanswered: number; counted: number; ok: boolean }
}

const REQUEST_KINDS = { plain: 'a template', full: 'with metadata, purpose, redirect, idempotency key' } as const
export type RequestKind = keyof typeof REQUEST_KINDS
const kinds = Object.keys(REQUEST_KINDS) as RequestKind[]

/** The service beside the floor, by turns: what else runs on the machine then slows both. */
export async function benchCreate(seconds: number): Promise<CreateReport> {
  const dataDir = temporaryDir()
  const { key } = await makeTenant(dataDir)
  const service = await startService(dataDir)
  const floor = await startFloor(temporaryDir())
  const serviceRuns: Measured[] = []
  const rounds = Object.fromEntries(kinds.map(kind => [kind, []])) as unknown as Record<RequestKind, Round[]>

  const loadService = async (kind: RequestKind, duration: number): Promise<Figures> => {
    const { run, figures } = await measure(service, createSources(kind, key), duration)
    serviceRuns.push(run)
    return figures
  }
  const loadFloor = async (kind: RequestKind, duration: number): Promise<Figures> => {
    const { run, figures } = await measure(floor, createSources(kind, key), duration)
    if (!isAll(run.statuses, 201)) throw new Error('the floor answered something else than 201')
    return figures
  }

  for (const kind of kinds) {
    await loadFloor(kind, WARM_UP_SECONDS)
    await loadService(kind, WARM_UP_SECONDS)
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of kinds) {
      const below = await loadFloor(kind, seconds)
      rounds[kind].push({ floor: below, service: await loadService(kind, seconds) })
    }
  }
  const counted = await usageCount(service, key)
  await service.stop()
  await floor.stop()
  return {
    connections: CONNECTIONS,
    rounds: ROUNDS,
    seconds,
    aims: AIMS,
    comparisons: kinds.map(kind => compare(kind, rounds[kind])),
    check: checkCount(serviceRuns, counted),
  }
}

type Round = { floor: Figures; service: Figures }

async function measure(server: Server, sources: Source[], seconds: number): Promise<{ run: Measured; figures: Figures }> {
  const before = cpuMs(server.pid)
  const run = await runLoad({ endpoint: server, sources, seconds })
  const after = cpuMs(server.pid)
  const figures = {
    requests_per_second: run.requestsPerSecond,
    p50_ms: run.p50Ms,
    p99_ms: run.p99Ms,
    cpu_us_per_request: before === undefined || after === undefined ? null : ((after - before) * 1000) / run.answered,
  }
  return { run, figures }
}

const METADATA = { order_id: 'A-2026-000417', till: 'north entrance 3', cashier: 'c0ffee17', cart: '3 items, 41.90 EUR' }
const FULL_BODY = {
  template: 'age_over_18',
  metadata: METADATA,
  purpose: 'To check that you are old enough to buy this',
  redirect_url: 'https://shop.example/checkout/done?cart=6f1c2a',
}

/** One for each connection. */
export const createSources = (kind: RequestKind, ...keys: string[]): Source[] =>
  Array.from({ length: CONNECTIONS }, (_, i) => keys[i % keys.length]!).map(kind === 'plain' ? plainSource : fullSource)

function plainSource(key: string): Source {
  const headers = { authorization: `Bearer ${key}` }
  const body = JSON.stringify({ template: 'age_over_18' })
  const bytes = requestBytes({ method: 'POST', path: '/v1/verifications', headers, body })
  return () => bytes
}

const COUNTER_DIGITS = 12
let keysUsed = 0

/** Each request needs a key of its own: its digits are written into the bytes that are sent. */
function fullSource(key: string): Source {
  const placeholder = '#'.repeat(COUNTER_DIGITS)
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': `5f0c9d2e-7a41-4b8e-9c3d-${placeholder}` }
  const bytes = requestBytes({ method: 'POST', path: '/v1/verifications', headers, body: JSON.stringify(FULL_BODY) })
  const lastDigit = bytes.indexOf(placeholder) + COUNTER_DIGITS - 1
  return () => {
    let rest = ++keysUsed
    for (let i = 0; i < COUNTER_DIGITS; i++) {
      bytes[lastDigit - i] = 0x30 + (rest % 10)
      rest = Math.floor(rest / 10)
    }
    return bytes
  }
}

const compare = (request: RequestKind, rounds: Round[]): Comparison => ({
  request,
  floor: spreadsOf(rounds.map(round => round.floor)),
  service: spreadsOf(rounds.map(round => round.service)),
  ...ratiosOf(rounds),
})

/** Within each round. */
export const ratiosOf = (rounds: { floor: Figures; service: Figures }[]): Pick<Comparison, 'ratio' | 'ratio_by_cpu'> => ({
  ratio: spreadOf(rounds.map(({ floor, service }) => service.requests_per_second / floor.requests_per_second)),
  ratio_by_cpu: spreadOf(
    rounds.map(
      ({ floor, service }) =>
        floor.cpu_us_per_request && service.cpu_us_per_request && floor.cpu_us_per_request / service.cpu_us_per_request,
    ),
  ),
})

async function usageCount({ port }: Server, key: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })
  const { recent } = (await response.json()) as { recent: { verifications_created: number }[] }
  // All days: the run may cross midnight.
  return recent.reduce((sum, day) => sum + day.verifications_created, 0)
}

/** Every 201 was counted, and nothing else but at most the requests whose answers were lost. */
function checkCount(runs: Measured[], counted: number): CreateReport['check'] {
  const answers: Record<string, number> = {}
  for (const { statuses } of runs) {
    for (const [status, count] of statuses) answers[status] = (answers[status] ?? 0) + count
  }
  const created = answers[201] ?? 0
  const unanswered = runs.reduce((sum, run) => sum + run.unanswered, 0)
  const allCreated = runs.every(({ statuses }) => isAll(statuses, 201))
  return { answers, created, unanswered, counted, ok: allCreated && counted >= created && counted <= created + unanswered }
}

const isAll = (statuses: Map<number, number>, wanted: number): boolean => [...statuses.keys()].every(status => status === wanted)

export function describeCreate({ connections, rounds, seconds, aims, comparisons, check }: CreateReport): string {
  const rows = comparisons.flatMap(({ request, floor, service, ratio, ratio_by_cpu }) => [
    [request, 'floor', ...cells(floor), '', '', ''],
    ['', 'service', ...cells(service), shown(ratio, 2), shown(ratio_by_cpu, 2), atLeast(ratio, aims[request])],
  ])
  const headings = ['request', '', 'requests/s', 'p50 ms', 'p99 ms', 'CPU us/request', 'of floor', 'by CPU', 'aim']
  const answers = Object.entries(check.answers).map(([status, count]) => `${whole(count)} with ${status}`)
  return [
    `Creations over HTTP, durable: ${connections} connections, medians (and ranges) of ${rounds} rounds of ${seconds} s, floor and service by turns.`,
    ...kinds.map(kind => `  ${kind}: ${REQUEST_KINDS[kind]}`),
    '',
    table(headings, rows),
    '',
    `Answers of the service: ${answers.join(', ')}. Unanswered: ${check.unanswered}. Counted by /v1/usage: ${whole(check.counted)}.`,
    check.ok ? 'Every creation was answered with 201 and counted once.' : 'WRONG: answers and count do not agree.',
  ].join('\n')
}

const cells = ({ requests_per_second, p50_ms, p99_ms, cpu_us_per_request }: Spreads<Figures>): string[] => [
  shown(requests_per_second, 0),
  shown(p50_ms, 2),
  shown(p99_ms, 2),
  shown(cpu_us_per_request, 0),
]
