// Ten thousand shoppers keep their page open: the public status poll on that many connections, beside one look-up by key on the bare framework.
import { ratiosOf } from './create.ts'
import { filledDir } from './fill.ts'
import { type Measured, requestBytes, runLoad, type Source } from './load.ts'
import { type Spread, type Spreads, shown, spreadsOf, table, whole } from './output.ts'
import { cpuMs, residentMb, type Server, startFloor, startService, temporaryDir } from './service.ts'

const ROWS = 1000
const ROUNDS = 3
const WARM_UP_SECONDS = 2

type Figures = {
  requests_per_second: number
  p50_ms: number
  p99_ms: number
  cpu_us_per_request: number | null
  resident_mb: number | null
}

export type PollReport = {
  connections: number
  rounds: number
  seconds: number
  floor: Spreads<Figures>
  service: Spreads<Figures>
  /** Ratios of requests a second and of processor time. */
  ratio: Spread | null
  ratio_by_cpu: Spread | null
}

/** Every connection asks again as soon as it has its answer: far more than the once a second of a page. */
export async function benchPoll(seconds: number, connections: number): Promise<PollReport> {
  const { dir, ids } = await filledDir(ROWS)
  const service = await startService(dir)
  const floor = await startFloor(temporaryDir())
  const sources = Array.from({ length: connections }, (_, i) => pollOf(ids[i % ids.length] ?? ''))
  const rounds: { floor: Figures; service: Figures }[] = []
  for (const server of [floor, service]) await measure(server, sources, WARM_UP_SECONDS)
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ floor: await measure(floor, sources, seconds), service: await measure(service, sources, seconds) })
  }
  await service.stop()
  await floor.stop()
  const [below, own] = [spreadsOf(rounds.map(round => round.floor)), spreadsOf(rounds.map(round => round.service))]
  return { connections, rounds: ROUNDS, seconds, floor: below, service: own, ...ratiosOf(rounds) }
}

function pollOf(id: string): Source {
  const bytes = requestBytes({ method: 'GET', path: `/v1/verifications/${id}/status` })
  return () => bytes
}

async function measure(server: Server, sources: Source[], seconds: number): Promise<Figures> {
  const before = cpuMs(server.pid)
  const run = await runLoad({ endpoint: server, sources, seconds })
  const after = cpuMs(server.pid)
  refuseErrors(run)
  return {
    requests_per_second: run.requestsPerSecond,
    p50_ms: run.p50Ms,
    p99_ms: run.p99Ms,
    cpu_us_per_request: before === undefined || after === undefined ? null : ((after - before) * 1000) / run.answered,
    resident_mb: residentMb(server.pid) ?? null,
  }
}

function refuseErrors({ statuses, unanswered }: Measured): void {
  const other = [...statuses.keys()].find(status => status !== 200)
  if (other !== undefined || unanswered > 0) throw new Error(`a poll answered ${other ?? 'nothing'}`)
}

export function describePoll({ connections, rounds, seconds, floor, service, ratio, ratio_by_cpu }: PollReport): string {
  const cells = (figures: Spreads<Figures>) => [
    shown(figures.requests_per_second, 0),
    shown(figures.p50_ms, 1),
    shown(figures.p99_ms, 1),
    shown(figures.cpu_us_per_request, 0),
    shown(figures.resident_mb, 0),
  ]
  return [
    `Status polls on ${whole(connections)} connections, medians (and ranges) of ${rounds} rounds of ${seconds} s, floor and service by turns.`,
    '',
    table(
      ['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU us/request', 'memory MB', 'of floor', 'by CPU'],
      [
        ['floor', ...cells(floor), '', ''],
        ['service', ...cells(service), shown(ratio, 2), shown(ratio_by_cpu, 2)],
      ],
    ),
  ].join('\n')
}
