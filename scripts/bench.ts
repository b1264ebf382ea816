#!/usr/bin/env bun
import { parseCall, print, UsageError, wholeNumber } from '../src/cli/output.ts'
import { benchCreate, describeCreate } from './bench-create.ts'
import { benchExchange, describeExchange } from './bench-exchange.ts'
import { benchList, describeList } from './bench-list.ts'
import { benchWebhooks, describeWebhooks } from './bench-webhooks.ts'

const HELP = `usage: scripts/bun run bench create [--seconds N] [--json]
       scripts/bun run bench list [--rows N] [--seconds N] [--json]
       scripts/bun run bench exchange [--json]
       scripts/bun run bench webhooks [--rows N] [--json]

create  durable creations a second over HTTP, beside the least a durable insert over HTTP can cost on this machine
exchange  full cycles with a wallet, and presentations judged beside the elliptic-curve limit
webhooks  a backlog drained after an outage, beside the least a POST can cost, and the API's latency meanwhile
list    latency of reading at 1,000 and at a million sessions, time to start, and idle memory

--seconds N  how long each round lasts (5 for create, 3 for list)
--rows N     the size of the large table (1,000,000), or of the backlog (10,000)
--json       one JSON object instead of tables

The machine should have nothing else to do. Data goes to a temporary directory under node_modules/.cache and is removed afterwards.

example: scripts/bun run bench create --seconds 10`

const SECONDS_MAX = 3600
const ROWS_MAX = 100_000_000

async function run(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, { seconds: { type: 'string' }, rows: { type: 'string' } })
  if (values.help) return print(HELP)
  const seconds = values.seconds === undefined ? undefined : wholeNumber(values.seconds, '--seconds', SECONDS_MAX)
  const rows = values.rows === undefined ? undefined : wholeNumber(values.rows, '--rows', ROWS_MAX)
  if (seconds === 0 || rows === 0) throw new UsageError('--seconds and --rows are at least 1')
  const show = <Report>(report: Report, describe: (report: Report) => string) =>
    print(values.json ? JSON.stringify(report) : describe(report))

  switch (words.join(' ')) {
    case 'create': {
      const report = await benchCreate(seconds ?? 5)
      show(report, describeCreate)
      return report.check.ok ? 0 : 1
    }
    case 'exchange':
      return show(await benchExchange(), describeExchange)
    case 'list':
      return show(await benchList(seconds ?? 3, rows ?? 1_000_000), describeList)
    case 'webhooks':
      return show(await benchWebhooks(rows ?? 10_000), describeWebhooks)
    default:
      throw new UsageError('say create, list, exchange or webhooks')
  }
}

process.exitCode = await run(process.argv.slice(2)).catch(error => {
  if (!(error instanceof UsageError)) throw error
  console.error(`bench: ${error.message}\nhint: --help shows how to call it`)
  return 2
})
