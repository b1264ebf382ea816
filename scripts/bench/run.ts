#!/usr/bin/env bun
import { parseCall, print, UsageError, wholeNumber } from '../../src/cli/output.ts'
import { benchAll, describeAll, POLL_CONNECTIONS } from './all.ts'
import { benchAnchors, describeAnchors } from './anchors.ts'
import { benchCreate, describeCreate } from './create.ts'
import { benchDear, describeDear } from './dear.ts'
import { benchExchange, describeExchange } from './exchange.ts'
import { benchList, describeList } from './list.ts'
import { benchLogin, describeLogin } from './login.ts'
import { benchNodes, describeNodes } from './nodes.ts'
import { benchPoll, describePoll } from './poll.ts'
import { benchProfile, describeProfile, type ProfileKind } from './profile.ts'
import { benchSmall, describeSmall } from './small.ts'
import { benchStart, describeStart } from './start.ts'
import { benchWebhooks, describeWebhooks } from './webhooks.ts'

const HELP = `usage: scripts/bun run bench all [--seconds N] [--rows N] [--json]
       scripts/bun run bench create | poll [--seconds N] [--json]
       scripts/bun run bench exchange [--anchors] | login | start | dear [--json]
       scripts/bun run bench list [--rows N] [--seconds N] [--json]
       scripts/bun run bench webhooks [--rows N] [--json]
       scripts/bun run bench small [--seconds N] [--json]
       scripts/bun run bench nodes [--nodes N] [--seconds N] [--json]
       scripts/bun run bench profile [plain | full | exchange] [--seconds N] [--out DIR] [--json]

all       everything below in one table, medians with their ranges; takes about ten minutes
create    durable creations a second over HTTP, beside the least a durable insert over HTTP can cost on this machine
exchange  full cycles with a wallet, and presentations judged beside the elliptic-curve limit; with --anchors, presentations
          judged with 1,000 trusted issuers beside 10
login     log-ins by OpenID Connect, beside the exchange with a wallet that each contains
dear      another tenant's small requests beside the dearest legal ones: the worst delay, beside the bare framework's
poll      status polls on 10,000 connections, beside one look-up on the bare framework
list      latency of reading at 1,000 and at a million sessions, time to start, and idle memory
webhooks  a backlog drained after an outage, beside the least a POST can cost, and the API's latency meanwhile
nodes     nodes on one PostgreSQL beside half as many, each with a fixed share of a core: creations and whole
          exchanges; needs root and VIDIMUS_DATABASE_URL of a PostgreSQL server on which the user may create a database
small     the compiled program in a control group, a share of a core and 128 MB: exchanges a second that it keeps, the first one
          after a start, and what it answers beyond; needs root
start     the compiled program: size, start to the first answer, idle memory
profile   where the processor time of a creation, or of an exchange, goes by function

--seconds N  how long each round lasts (5 for create, poll and all, 1 for list, 10 for profile, 30 for small)
--rows N     the size of the large table (1,000,000), or of the backlog (10,000)
--nodes N    how many nodes, an even number (2)
--out DIR    where profiles are kept (node_modules/.cache/profiles)
--json       one JSON object instead of tables

The machine should have nothing else to do. Data goes to a temporary directory under node_modules/.cache and is removed afterwards.

example: scripts/bun run bench create --seconds 10`

const SECONDS_MAX = 3600
const ROWS_MAX = 100_000_000
const NODES_MAX = 8

async function run(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, {
    seconds: { type: 'string' },
    rows: { type: 'string' },
    nodes: { type: 'string' },
    out: { type: 'string' },
    anchors: { type: 'boolean' },
  })
  if (values.help) return print(HELP)
  const seconds = values.seconds === undefined ? undefined : wholeNumber(values.seconds, '--seconds', SECONDS_MAX)
  const rows = values.rows === undefined ? undefined : wholeNumber(values.rows, '--rows', ROWS_MAX)
  if (seconds === 0 || rows === 0) throw new UsageError('--seconds and --rows are at least 1')
  const nodes = values.nodes === undefined ? 2 : wholeNumber(values.nodes, '--nodes', NODES_MAX)
  if (nodes === 0 || nodes % 2 === 1) throw new UsageError('--nodes is 2, 4, 6 or 8')
  const show = <Report>(report: Report, describe: (report: Report) => string) =>
    print(values.json ? JSON.stringify(report) : describe(report))

  switch (words.join(' ')) {
    case 'all':
      return show(await benchAll(seconds, rows ?? 1_000_000), describeAll)
    case 'create': {
      const report = await benchCreate(seconds ?? 5)
      show(report, describeCreate)
      return report.check.ok ? 0 : 1
    }
    case 'dear':
      return show(await benchDear(({ name }) => void console.error(`bench: ${name}`)), describeDear)
    case 'exchange':
      return values.anchors ? show(await benchAnchors(), describeAnchors) : show(await benchExchange(), describeExchange)
    case 'login':
      return show(await benchLogin(), describeLogin)
    case 'nodes':
      return show(await benchNodes(seconds ?? 5, nodes), describeNodes)
    case 'poll':
      return show(await benchPoll(seconds ?? 5, POLL_CONNECTIONS), describePoll)
    case 'profile':
    case 'profile plain':
    case 'profile full':
    case 'profile exchange': {
      const kind = (words[1] ?? 'plain') as ProfileKind
      return show(await benchProfile(kind, seconds ?? 10, values.out ?? 'node_modules/.cache/profiles'), describeProfile)
    }
    case 'small':
      return show(await benchSmall(seconds ?? 30, box => void console.error(`bench: ${box}`)), describeSmall)
    case 'start':
      return show(await benchStart(), describeStart)
    case 'list':
      return show(await benchList(seconds ?? 1, rows ?? 1_000_000), describeList)
    case 'webhooks':
      return show(await benchWebhooks(rows ?? 10_000), describeWebhooks)
    default:
      throw new UsageError('say all, create, dear, exchange, login, nodes, poll, list, webhooks, small, start or profile')
  }
}

process.exitCode = await run(process.argv.slice(2)).catch(error => {
  if (!(error instanceof UsageError)) throw error
  console.error(`bench: ${error.message}\nhint: --help shows how to call it`)
  return 2
})
