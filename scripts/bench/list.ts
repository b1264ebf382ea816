import { DEVICE, type Filled, filledDir } from './fill.ts'
import { requestBytes, runLoad, type Source } from './load.ts'
import { atMost, fixed, type Spread, type Spreads, shown, spreadOf, spreadsOf, table, whole } from './output.ts'
import { cpuMs, residentMb, type Server, startService } from './service.ts'

const SMALL_ROWS = 1000
const ROUNDS = 7
const STARTS = 5
const SETTLE_MS = 1000
const WARM_UP_SECONDS = 1

const AIMS = { ratio_maximum: 1.3 }

const ROUTES = {
  list: 'GET /v1/verifications?limit=20',
  get: 'GET /v1/verifications/{id}',
  status: 'GET /v1/verifications/{id}/status',
} as const

/** Reads of the dashboard, below the tenant. */
const PAGES = {
  overview: 'overview',
  all: 'verifications',
  completed: 'verifications?status=completed',
  failed: 'verifications?status=failed',
  expired: 'verifications?status=expired',
  template: 'verifications?template=country',
  key: 'verifications?key=key_bench1',
  device: `verifications?device=${DEVICE}`,
  // In the middle of the range: a list that began at the newest would read half of the sessions.
  time: `verifications?until=${new Date(Date.now() - 15 * 86_400_000).toISOString()}`,
  order: 'verifications?search=A-500',
  till: 'verifications?search=north+3',
  two: 'verifications?key=key_bench1&status=failed',
} as const

type Route = keyof typeof ROUTES | keyof typeof PAGES

const nameOf = (route: Route): string =>
  route in PAGES ? `dashboard ${PAGES[route as keyof typeof PAGES]}` : ROUTES[route as keyof typeof ROUTES]

type Pair<T> = { small: T; large: T }
type Latency = { p50_ms: number; p99_ms: number; cpu_us: number | null }
type RouteFigures = Pair<Spreads<Latency>> & { route: string; ratio_p50: Spread | null; ratio_cpu: Spread | null }

export type ListReport = {
  rows: Pair<number>
  rounds: number
  seconds: number
  aims: typeof AIMS
  fill_seconds: number
  routes: RouteFigures[]
  start_ms: Pair<Spread | null>
  idle_mb: Pair<Spread | null>
}

/** A small directory and a large one, each behind a server of its own, read by turns over one connection. */
export async function benchList(seconds: number, rows: number): Promise<ListReport> {
  const filled = { small: await filledDir(SMALL_ROWS), large: await filledDir(rows) }
  const starts: Pair<number>[] = []
  for (let i = 0; i < STARTS; i++) starts.push({ small: await timeStart(filled.small), large: await timeStart(filled.large) })
  const servers = { small: await startService(filled.small.dir), large: await startService(filled.large.dir) }
  await askHealth(servers.small)
  await askHealth(servers.large)
  await Bun.sleep(SETTLE_MS)
  const idle_mb = pairOf([{ small: residentMb(servers.small.pid) ?? null, large: residentMb(servers.large.pid) ?? null }])

  const cookies = { small: await logIn(servers.small), large: await logIn(servers.large) }
  const read = async (size: keyof Pair<unknown>, route: Route, duration: number) =>
    await latency(servers[size], sourceOf(route, filled[size], cookies[size]), duration)
  const routes: RouteFigures[] = []
  for (const route of [...Object.keys(ROUTES), ...Object.keys(PAGES)] as Route[]) {
    await read('small', route, WARM_UP_SECONDS)
    await read('large', route, WARM_UP_SECONDS)
    const rounds: Pair<Latency>[] = []
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({ small: await read('small', route, seconds), large: await read('large', route, seconds) })
    routes.push(compare(route, rounds))
  }
  await servers.small.stop()
  await servers.large.stop()
  const fill_seconds = filled.large.fillSeconds
  return {
    rows: { small: SMALL_ROWS, large: rows },
    rounds: ROUNDS,
    seconds,
    aims: AIMS,
    fill_seconds,
    routes,
    start_ms: pairOf(starts),
    idle_mb,
  }
}

const pairOf = (rounds: Pair<number | null>[]): Pair<Spread | null> => spreadsOf(rounds)

/** From the start of the process to its first 200. */
async function timeStart({ dir }: Filled): Promise<number> {
  const startedAt = performance.now()
  const server = await startService(dir)
  await askHealth(server)
  const ms = performance.now() - startedAt
  await server.stop()
  return ms
}

async function askHealth({ port }: Server): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${port}/healthz`)
  if (status !== 200) throw new Error(`/healthz answered ${status}`)
}

/** Sets the dashboard up, and gives the cookie of its owner. */
async function logIn({ setupUrl, port }: Server): Promise<string> {
  const token = setupUrl?.split('=').at(-1)
  const { origin } = new URL(setupUrl ?? '')
  const answer = await fetch(`http://localhost:${port}/dashboard/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ token, name: 'bench', password: 'orchard lantern 8 crisp' }),
  })
  if (answer.status !== 201) throw new Error(`the set-up answered ${answer.status}`)
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

function sourceOf(route: Route, { tenant, ids }: Filled, cookie: string): Source {
  const headers = { authorization: `Bearer ${tenant.key}` }
  const get = (path: string) => requestBytes({ method: 'GET', path, headers })
  if (route in PAGES) {
    const page = PAGES[route as keyof typeof PAGES]
    const path = `/dashboard/api/tenants/${tenant.id}/${page}${page.includes('?') ? '&' : '?'}environment=test`
    const bytes = requestBytes({ method: 'GET', path, headers: { cookie } })
    return () => bytes
  }
  if (route === 'list') {
    const bytes = get('/v1/verifications?limit=20')
    return () => bytes
  }
  const requests = shuffled(ids).map(id => get(`/v1/verifications/${id}${route === 'status' ? '/status' : ''}`))
  let next = 0
  return () => requests[next++ % requests.length]!
}

/** Neighbours in time lie in the same pages: readers seldom are so kind. */
function shuffled<T>(values: T[]): T[] {
  return values
    .map(value => ({ value, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value)
}

async function latency(endpoint: Server, source: Source, seconds: number): Promise<Latency> {
  const before = cpuMs(endpoint.pid)
  const { p50Ms, p99Ms, statuses, answered } = await runLoad({ endpoint, sources: [source], seconds })
  const after = cpuMs(endpoint.pid)
  const other = [...statuses.keys()].find(status => status !== 200)
  if (other !== undefined) throw new Error(`a read answered ${other}`)
  const cpu_us = before === undefined || after === undefined ? null : ((after - before) * 1000) / answered
  return { p50_ms: p50Ms, p99_ms: p99Ms, cpu_us }
}

function compare(route: Route, rounds: Pair<Latency>[]): RouteFigures {
  const ratio = (of: keyof Latency) => spreadOf(rounds.map(({ small, large }) => over(large[of], small[of])))
  return {
    route: nameOf(route),
    small: spreadsOf(rounds.map(({ small }) => small)),
    large: spreadsOf(rounds.map(({ large }) => large)),
    ratio_p50: ratio('p50_ms'),
    ratio_cpu: ratio('cpu_us'),
  }
}

const over = (value: number | null, base: number | null): number | null => (value === null || base === null ? null : value / base)

export function describeList({ rows, rounds, seconds, aims, fill_seconds, routes, start_ms, idle_mb }: ListReport): string {
  const reads = routes.map(({ route, small, large, ratio_p50, ratio_cpu }) => [
    route,
    ...[small.p50_ms, small.p99_ms, large.p50_ms, large.p99_ms].map(ms => shown(ms, 3)),
    shown(ratio_p50, 2),
    shown(ratio_cpu, 2),
    atMost(ratio_p50, aims.ratio_maximum),
  ])
  const [small, large] = [whole(rows.small), whole(rows.large)]
  const sizes = (name: string, { small, large }: Pair<Spread | null>) => [
    name,
    shown(small, 0),
    shown(large, 0),
    small && large ? fixed(large.median / small.median, 2) : 'n/a',
  ]
  return [
    `Reads over one connection, one after the other, at ${small} and at ${large} sessions: medians (and ranges) of ${rounds} rounds of ${seconds} s, by turns.`,
    '',
    table(['', `p50 ms at ${small}`, 'p99 ms', `p50 ms at ${large}`, 'p99 ms', 'p50 ratio', 'CPU ratio', 'aim for p50'], reads),
    '',
    table(
      ['', `at ${small}`, `at ${large}`, 'ratio'],
      [sizes(`start from source to first 200, ms (${STARTS} starts)`, start_ms), sizes('idle memory, MB', idle_mb)],
    ),
    '',
    `Filling ${large} sessions took ${fixed(fill_seconds, 1)} s.`,
  ].join('\n')
}
