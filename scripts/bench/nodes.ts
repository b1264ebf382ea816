// Nodes beside half as many on the same PostgreSQL. All share this machine, so each node gets a fixed share of a core (a
// cgroup): then a node adds what another machine would, as long as the database has time left.
import { SQL } from 'bun'
import { UsageError } from '../../src/cli/output.ts'
import { loadConfig } from '../../src/config.ts'
import { createDeps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import type { Holder } from '../../src/sandbox/wallet/wallet.ts'
import { createControlGroup } from './control-group.ts'
import { createSources, type RequestKind } from './create.ts'
import { cycleRound, holderFor } from './exchange.ts'
import { runLoad } from './load.ts'
import { atLeast, type Spread, shown, spreadOf, table } from './output.ts'
import { environmentFor, makeTenant, type Server, startService, temporaryDir } from './service.ts'

const TENANTS = 8
const ROUNDS = 5
/** Share of a core that all nodes have together: the database and the clients need the rest. */
const SHARE_OF_ALL = 0.44
const WARM_UP_SECONDS = 6
const SESSIONS_A_ROUND = 400
const PERIOD_US = 20_000
const RATIO_AIM = 1.7
/** Aim of four over two, and so on: the one database has more to do. */
const RATIO_AIM_OF_MANY = 1.5
const PUBLIC_URL = 'http://localhost:3999'

type Work = RequestKind | 'exchange'
const WORKS: Work[] = ['plain', 'full', 'exchange']

type NodesReport = {
  nodes: number
  share_of_a_core: number
  tenants: number
  rounds: number
  seconds: number
  aim: { ratio_minimum: number }
  works: { work: Work; half_per_second: Spread | null; all_per_second: Spread | null; ratio: Spread | null }[]
}

export async function benchNodes(seconds: number, count: number): Promise<NodesReport> {
  const server = process.env.VIDIMUS_DATABASE_URL
  if (!server) throw new UsageError('set VIDIMUS_DATABASE_URL, for example to postgres://postgres@127.0.0.1/postgres')
  const { url, drop } = await freshDatabase(server)
  const dirs = Array.from({ length: count }, () => temporaryDir())
  const [first = ''] = dirs
  const share = SHARE_OF_ALL / count
  const env = { VIDIMUS_DATABASE_URL: url, VIDIMUS_KEY_DIR: first, VIDIMUS_PUBLIC_URL: PUBLIC_URL }
  const nodes: Server[] = []
  try {
    const keys: string[] = []
    for (let i = 0; i < TENANTS; i++) keys.push((await makeTenant(first, env)).key)
    for (const dir of dirs) nodes.push(await startService(dir, env))
    const holder = await makeHolder(first, env)
    for (const [i, { pid }] of nodes.entries()) createControlGroup(`vidimus-bench-${i}`, { share, periodUs: PERIOD_US }).take(pid)

    const measure = async (work: Work, taking: Server[], duration: number): Promise<number> => {
      if (work === 'exchange') return await exchangesPerSecond(taking, keys[0]!, holder)
      const runs = await Promise.all(
        taking.map(endpoint => runLoad({ endpoint, sources: createSources(work, ...keys), seconds: duration })),
      )
      return runs.reduce((sum, run) => sum + run.requestsPerSecond, 0)
    }
    for (const work of WORKS) await measure(work, nodes, WARM_UP_SECONDS)
    const rounds = Object.fromEntries(WORKS.map(work => [work, []])) as unknown as Record<Work, { half: number; all: number }[]>
    for (let round = 0; round < ROUNDS; round++) {
      for (const work of WORKS) {
        // Either half in turn.
        const half = await measure(work, round % 2 === 0 ? nodes.slice(0, count / 2) : nodes.slice(count / 2), seconds)
        rounds[work].push({ half, all: await measure(work, nodes, seconds) })
      }
    }
    return {
      nodes: count,
      share_of_a_core: share,
      tenants: TENANTS,
      rounds: ROUNDS,
      seconds,
      aim: { ratio_minimum: count === 2 ? RATIO_AIM : RATIO_AIM_OF_MANY },
      works: WORKS.map(work => ({
        work,
        half_per_second: spreadOf(rounds[work].map(({ half }) => half)),
        all_per_second: spreadOf(rounds[work].map(({ all }) => all)),
        ratio: spreadOf(rounds[work].map(({ half, all }) => all / half)),
      })),
    }
  } finally {
    for (const node of nodes) await node.stop()
    await drop()
  }
}

async function exchangesPerSecond(nodes: Server[], key: string, holder: Holder): Promise<number> {
  const { seconds } = await cycleRound(nodes, key, holder, SESSIONS_A_ROUND)
  return SESSIONS_A_ROUND / Object.values(seconds).reduce((sum, each) => sum + each, 0)
}

async function makeHolder(dir: string, env: Record<string, string>): Promise<Holder> {
  const deps = await createDeps(loadConfig({ ...environmentFor(dir), ...env }), realWorld(), 'command')
  try {
    return await holderFor(deps, 'dc+sd-jwt')
  } finally {
    await deps.close()
  }
}

async function freshDatabase(server: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `vidimus_bench_${Date.now()}`
  const admin = new SQL(server, { max: 1 })
  await admin.unsafe(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.close()
    },
  }
}

export function describeNodes({ nodes, share_of_a_core, tenants, rounds, seconds, aim, works }: NodesReport): string {
  const rows = works.map(({ work, half_per_second, all_per_second, ratio }) => [
    work,
    shown(half_per_second, 0),
    shown(all_per_second, 0),
    shown(ratio, 2),
    atLeast(ratio, aim.ratio_minimum),
  ])
  return `${nodes} nodes beside ${nodes / 2} on one PostgreSQL: each node has ${share_of_a_core} of a core, ${tenants} tenants, medians (and ranges) of ${rounds} rounds of ${seconds} s.

${table(['work', `${nodes / 2} /s`, `${nodes} /s`, 'ratio', 'aim'], rows)}`
}
