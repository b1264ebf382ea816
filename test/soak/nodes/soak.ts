import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { loadConfig } from '../../../src/config.ts'
import { createDeps } from '../../../src/deps.ts'
import { realWorld } from '../../../src/ground.ts'
import { makeHolder } from '../../../src/sandbox/issuer/issuer.ts'
import type { Holder } from '../../../src/sandbox/wallet/wallet.ts'
import { temporaryDir } from '../../helpers/app.ts'
import { vidimus } from '../../helpers/cli.ts'
import { type Cluster, newDatabase } from '../../helpers/cluster.ts'
import { seeded } from '../../helpers/seeded.ts'
import { checkInvariants } from '../../invariants/check.ts'
import { mirror } from '../../invariants/mirror.ts'
import { createClients, type Told } from '../kill/clients.ts'
import { receiveMessages } from '../kill/receiver.ts'
import { parseSoakArguments, percentilesOf, soakLine } from '../output.ts'
import { progress, type Soaked, serviceOn } from '../service.ts'
import { startBalancer } from './balancer.ts'

const CLIENTS = 16
const NODES = 2
const MINUTE_MS = 60_000
const DRAIN_MS = 60_000
const CHECK_EVERY_FAULTS = 5
const FAILURES_SHOWN = 5
const SHOWN_CHARS = 2000
const PUBLIC_URL = 'http://localhost:3999'
const SCOPES = 'verifications:create,verifications:read,verifications:delete,devices:manage'

type Node = { dir: string; server: Soaked }

export async function soakNodes(cluster: Cluster): Promise<number> {
  const { seed, minutes, only } = parseSoakArguments(process.argv.slice(2))
  const random = seeded(seed)
  const counts: Record<string, number> = {}
  const violations: string[] = []
  const readyMs: number[] = []
  let isFaulty = false
  let mayBeCut = false
  const told: Told = {
    acks: [],
    counts,
    violations,
    owed: new Set(),
    erasedAt: new Map(),
    mayRepeat: () => isFaulty,
    mayFail: () => mayBeCut,
  }
  const receiver = receiveMessages(told, random.below)
  const balancer = startBalancer(random.below)
  const url = await newDatabase(cluster, 'soak')
  const dirs = Array.from({ length: NODES }, () => temporaryDir())
  const environment = {
    VIDIMUS_DATABASE_URL: url,
    VIDIMUS_KEY_DIR: dirs[0]!,
    VIDIMUS_PUBLIC_URL: PUBLIC_URL,
    VIDIMUS_EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
    VIDIMUS_WEBHOOK_DELAYS: '0s,1s,1s,1s,1s,1s,1s,1s',
  }
  const { key, holder } = await prepare(dirs[0]!, environment)
  const startNode = async (dir: string): Promise<Node> => {
    const server = await serviceOn(dir, environment)
    logs.push(server.stderr)
    void server.endedAlone.then(code => {
      violations.push(`a node ended by itself with ${code}: ${server.stderr().slice(-SHOWN_CHARS)}`)
    })
    balancer.nodes.add(Number(new URL(server.url).port))
    return { dir, server }
  }
  const nodes: Node[] = []
  const logs: (() => string)[] = []
  for (const dir of dirs) nodes.push(await startNode(dir))
  const clients = createClients({ key, webhookUrl: receiver.url, holder }, random, told)

  const ready = async () => {
    const startedAt = performance.now()
    for (;;) {
      const statuses = await Promise.all(nodes.map(({ server }) => fetch(`${server.url}/readyz`).then(({ status }) => status)))
      if (statuses.every(status => status === 200)) break
      if (performance.now() - startedAt > DRAIN_MS) {
        violations.push(`not ready a minute after a fault: ${statuses}`)
        break
      }
      await Bun.sleep(50)
    }
    readyMs.push(performance.now() - startedAt)
  }

  const faults: Record<string, () => Promise<void>> = {
    async kill_node() {
      const i = random.below(nodes.length)
      const { dir, server } = nodes[i]!
      balancer.nodes.delete(Number(new URL(server.url).port))
      await server.kill()
      // The other one goes on alone for a while.
      await Bun.sleep(500 + random.below(5000))
      nodes[i] = await startNode(dir)
    },
    async freeze_node() {
      const { pid } = nodes[random.below(nodes.length)]!.server
      mayBeCut = true
      process.kill(pid, 'SIGSTOP')
      await Bun.sleep(500 + random.below(9000))
      process.kill(pid, 'SIGCONT')
    },
    async kill_database() {
      mayBeCut = true
      await cluster.stop('immediate')
      await Bun.sleep(random.below(2000))
      await cluster.start()
    },
    async cut_connections() {
      mayBeCut = true
      for (let i = 0; i < 3; i++) {
        await cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'soak' AND random() < 0.6")
        await Bun.sleep(random.below(300))
      }
    },
  }
  const names = Object.keys(faults).filter(name => only === undefined || name === only)
  const verify = async () => {
    const verified = await vidimus(dirs[0]!, ['audit', 'verify', '--json'], environment)
    if (verified.exitCode !== 0) violations.push(`I5 audit verify does not pass: ${verified.stderr}`)
  }
  const check = async () => {
    // Also links what a killed node left.
    await verify()
    const into = temporaryDir()
    await mirror(url, dirs, into)
    violations.push(...(await checkInvariants(into, { acks: told.acks })).violations)
    rmSync(into, { recursive: true })
  }

  const until = Date.now() + minutes * MINUTE_MS
  for (let round = 0; Date.now() < until && violations.length === 0; round++) {
    const name = names[random.below(names.length)]!
    let isStopped = false
    const working = Array.from({ length: CLIENTS }, () =>
      clients.work(
        balancer.url,
        () => isStopped,
        () => isFaulty,
      ),
    )
    await Bun.sleep(300 + random.below(500))
    isFaulty = true
    await faults[name]!()
    await Bun.sleep(random.below(500))
    isStopped = true
    await Promise.all(working)
    await ready()
    isFaulty = mayBeCut = false
    counts[name] = (counts[name] ?? 0) + 1
    counts.resolved = (counts.resolved ?? 0) + (await clients.resolve(balancer.url))
    if (round % CHECK_EVERY_FAULTS === CHECK_EVERY_FAULTS - 1) await check()
    progress(`${name}: ${told.acks.length} acks, ${violations.length} violations`)
    if (violations.length > 0) progress(logs.map(log => failuresIn(log())).join('\n'))
  }

  const missing = () => [...told.owed].filter(id => !receiver.seen.has(id))
  for (const end = Date.now() + DRAIN_MS; missing().length > 0 && Date.now() < end; ) await Bun.sleep(100)
  if (missing().length > 0) violations.push(`I4 ${missing().length} messages never arrived`)
  for (const { server } of nodes) await server.stop()
  await check()
  counts.acks = told.acks.length
  counts.messages = receiver.count()
  receiver.stop()
  balancer.stop()
  return soakLine({
    script: 'soak/nodes',
    seed,
    minutes,
    only,
    counts,
    percentiles: { ready: percentilesOf(readyMs) },
    violations,
  })
}

/** The last failures that a node logged. */
const failuresIn = (log: string): string =>
  log
    .split('\n')
    .filter(line => line.includes('.failed'))
    .slice(-FAILURES_SHOWN)
    .join('\n')

async function prepare(dir: string, environment: Record<string, string>): Promise<{ key: string; holder: Holder }> {
  const command = async <Answer>(...args: string[]): Promise<Answer> => {
    const { exitCode, stdout, stderr } = await vidimus(dir, [...args, '--json'], environment)
    if (exitCode !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  const { id } = await command<{ id: string }>('tenant', 'create', '--name', 'Soak', '--daily-quota', '10000000')
  const { key } = await command<{ key: string }>('key', 'create', '--tenant', id, '--env', 'test', '--scopes', SCOPES)
  const deps = await createDeps(loadConfig({ VIDIMUS_DATA_DIR: dir, ...environment }), realWorld(), 'command')
  try {
    const { issuer } = await deps.sandbox()
    return { key, holder: await makeHolder(issuer, 'adult', Date.now(), count => new Uint8Array(randomBytes(count))) }
  } finally {
    await deps.close()
  }
}
