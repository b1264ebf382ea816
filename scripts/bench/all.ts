// Everything in one table: each figure of the service beside the least that this machine needs for it, measured in the same run.
import { benchCreate, type CreateReport } from './create.ts'
import { benchExchange, type ExchangeReport } from './exchange.ts'
import { benchList, type ListReport } from './list.ts'
import { fixed, table, whole } from './output.ts'
import { benchPoll, type PollReport } from './poll.ts'
import { benchStart, type StartReport } from './start.ts'
import { benchWebhooks, type WebhooksReport } from './webhooks.ts'

export const POLL_CONNECTIONS = 10_000

export type AllReport = {
  create: CreateReport
  exchange: ExchangeReport
  poll: PollReport
  list: ListReport
  webhooks: WebhooksReport
  start: StartReport
}

export async function benchAll(seconds: number, rows: number): Promise<AllReport> {
  const told = async <Report>(name: string, work: Promise<Report>): Promise<Report> => {
    console.error(`bench: ${name} …`)
    return await work
  }
  return {
    start: await told('start', benchStart()),
    create: await told('create', benchCreate(seconds)),
    exchange: await told('exchange', benchExchange()),
    poll: await told('poll', benchPoll(seconds, POLL_CONNECTIONS)),
    webhooks: await told('webhooks', benchWebhooks(10_000)),
    list: await told(`list, ${whole(rows)} sessions`, benchList(seconds, rows)),
  }
}

export function describeAll({ create, exchange, poll, list, webhooks, start }: AllReport): string {
  const aim = (value: number, ratio: number) => `at least ${ratio}: ${value >= ratio ? 'met' : 'missed'}`
  const below = (value: number | null, maximum: number) => `at most ${maximum}: ${(value ?? 0) <= maximum ? 'met' : 'missed'}`
  const rows = [
    ...create.comparisons.map(({ request, floor, service, ratio }) => [
      `creations/s, ${request}`,
      whole(floor.requests_per_second),
      whole(service.requests_per_second),
      fixed(ratio, 2),
      aim(ratio, create.aim.ratio_minimum),
    ]),
    ...exchange.formats.map(({ format, curve_limit_per_second, presentations_per_second, ratio }) => [
      `presentations judged/s, ${format}`,
      whole(curve_limit_per_second),
      whole(presentations_per_second),
      fixed(ratio, 2),
      aim(ratio, exchange.aim.ratio_minimum),
    ]),
    ...exchange.formats.map(({ format, cycles_per_second }) => [
      `whole exchanges/s, ${format}`,
      '',
      whole(cycles_per_second),
      '',
      '',
    ]),
    ...exchange.formats.map(({ format, curve_cpu_us_per_cycle: curves, server_cpu_us_per_cycle: all }) => [
      `  processor time of one, us, ${format} (beside that of its curves)`,
      fixed(curves, 0),
      fixed(all, 0),
      fixed(all === null ? null : curves / all, 2),
      '',
    ]),
    [
      `status polls/s, ${whole(poll.connections)} connections`,
      whole(poll.floor.requests_per_second),
      whole(poll.service.requests_per_second),
      fixed(poll.ratio, 2),
      '',
    ],
    ['  p99, ms', fixed(poll.floor.p99_ms, 0), fixed(poll.service.p99_ms, 0), '', ''],
    ...list.routes.map(({ route, small, large, ratio_p50 }) => [
      `${route}, p50 ms at ${whole(list.rows.large)} (beside ${whole(list.rows.small)})`,
      fixed(small.p50_ms, 3),
      fixed(large.p50_ms, 3),
      fixed(ratio_p50, 2),
      below(ratio_p50, list.aims.ratio_maximum),
    ]),
    [
      'webhooks/s, a backlog drained',
      whole(webhooks.barePerSecond),
      whole(webhooks.drained.perSecond),
      fixed(webhooks.drained.perSecond / webhooks.barePerSecond, 2),
      '',
    ],
    [
      'start to first 200, ms',
      fixed(start.floor.start_ms, 0),
      fixed(start.service.start_ms, 0),
      '',
      below(start.service.start_ms, start.aims.start_ms_maximum),
    ],
    [
      'idle memory, MB',
      fixed(start.floor.idle_mb, 0),
      fixed(start.service.idle_mb, 0),
      '',
      below(start.service.idle_mb, start.aims.idle_mb_maximum),
    ],
    ['size of the program, MB', fixed(start.floor.size_mb, 0), fixed(start.service.size_mb, 0), '', ''],
  ]
  return table(['', 'floor', 'service', 'ratio', 'aim'], rows)
}
