// Everything in one table: each figure of the service beside the least that this machine needs for it, measured in the same run.
import { benchCreate, type CreateReport } from './create.ts'
import { benchExchange, type ExchangeReport } from './exchange.ts'
import { benchList, type ListReport } from './list.ts'
import { atLeast, atMost, fixed, shown, table, whole } from './output.ts'
import { benchPoll, type PollReport } from './poll.ts'
import { benchStart, type StartReport } from './start.ts'
import { benchWebhooks, type WebhooksReport } from './webhooks.ts'

export const POLL_CONNECTIONS = 10_000

type AllReport = {
  create: CreateReport
  exchange: ExchangeReport
  poll: PollReport
  list: ListReport
  webhooks: WebhooksReport
  start: StartReport
}

/** `seconds` of each round; by default those of each measurement. */
export async function benchAll(seconds: number | undefined, rows: number): Promise<AllReport> {
  const told = async <Report>(name: string, work: Promise<Report>): Promise<Report> => {
    console.error(`bench: ${name} …`)
    return await work
  }
  return {
    start: await told('start', benchStart()),
    create: await told('create', benchCreate(seconds ?? 5)),
    exchange: await told('exchange', benchExchange()),
    poll: await told('poll', benchPoll(seconds ?? 5, POLL_CONNECTIONS)),
    webhooks: await told('webhooks', benchWebhooks(10_000)),
    list: await told(`list, ${whole(rows)} sessions`, benchList(seconds ?? 1, rows)),
  }
}

export function describeAll({ create, exchange, poll, list, webhooks, start }: AllReport): string {
  const rows = [
    ...create.comparisons.map(({ request, floor, service, ratio }) => [
      `creations/s, ${request}`,
      shown(floor.requests_per_second, 0),
      shown(service.requests_per_second, 0),
      shown(ratio, 2),
      atLeast(ratio, create.aims[request]),
    ]),
    ...exchange.formats.map(({ format, curve_cpu_us, presentation_cpu_us, cpu_ratio }) => [
      `presentation judged, processor us, ${format} (beside its signatures)`,
      shown(curve_cpu_us, 0),
      shown(presentation_cpu_us, 0),
      shown(cpu_ratio, 2),
      atLeast(cpu_ratio, exchange.aims.judged_ratio_minimum),
    ]),
    ...exchange.formats.map(({ format, curve_cpu_us_per_cycle, server_cpu_us_per_cycle, curve_ratio }) => [
      `whole exchange, processor us, ${format} (beside its curves)`,
      shown(curve_cpu_us_per_cycle, 0),
      shown(server_cpu_us_per_cycle, 0),
      shown(curve_ratio, 2),
      `${atMost(server_cpu_us_per_cycle, exchange.aims.cycle_cpu_us_maximum)}; ${atLeast(curve_ratio, exchange.aims.curve_ratio_minimum)}`,
    ]),
    ...[
      ...exchange.formats.map(each => ({ name: each.format, ...each })),
      ...exchange.protocols.map(each => ({ name: each.protocol, ...each })),
    ].map(({ name, cycles_per_second }) => [`whole exchanges/s, ${name}`, '', shown(cycles_per_second, 0), '', '']),
    [
      `status polls/s, ${whole(poll.connections)} connections`,
      shown(poll.floor.requests_per_second, 0),
      shown(poll.service.requests_per_second, 0),
      shown(poll.ratio, 2),
      '',
    ],
    ['  p99, ms', shown(poll.floor.p99_ms, 0), shown(poll.service.p99_ms, 0), '', ''],
    ...list.routes.map(({ route, small, large, ratio_p50 }) => [
      `${route}, p50 ms at ${whole(list.rows.large)} (beside ${whole(list.rows.small)})`,
      shown(small.p50_ms, 3),
      shown(large.p50_ms, 3),
      shown(ratio_p50, 2),
      atMost(ratio_p50, list.aims.ratio_maximum),
    ]),
    [
      'webhooks/s, a backlog drained',
      shown(webhooks.bare_per_second, 0),
      shown(webhooks.drained.per_second, 0),
      shown(webhooks.drained.of_bare, 2),
      atLeast(webhooks.drained.per_second, webhooks.aim.per_second_minimum),
    ],
    [
      'start to first 200, ms',
      shown(start.floor.start_ms, 0),
      shown(start.service.start_ms, 0),
      '',
      atMost(start.service.start_ms, start.aims.start_ms_maximum, 'ms'),
    ],
    [
      'idle memory, MB',
      shown(start.floor.idle_mb, 0),
      shown(start.service.idle_mb, 0),
      '',
      atMost(start.service.idle_mb, start.aims.idle_mb_maximum, 'MB'),
    ],
    ['size of the program, MB', fixed(start.floor.size_mb, 0), fixed(start.service.size_mb, 0), '', ''],
  ]
  return `Medians, and the lowest and highest round in brackets.\n\n${table(['', 'floor', 'service', 'ratio', 'aim'], rows)}`
}
