import { randomBytes, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, temporaryDir } from '../../helpers/app.ts'
import { vidimus } from '../../helpers/cli.ts'
import { type Cluster, newDatabase } from '../../helpers/cluster.ts'
import { freePort } from '../../helpers/free-port.ts'
import { parseSoakArguments, percentilesOf, soakLine } from '../output.ts'
import { progress, type Soaked, serviceOn } from '../service.ts'
import { startNginx } from './nginx.ts'

const CLIENTS = 4
const MINUTE_MS = 60_000
/** Creations between two events. */
const BETWEEN = 40
const AFTER_REFUSAL_MS = 50
/** Answers of the proxy or of a node that a client repeats with the same Idempotency-Key. */
const REPEATED = [409, 500, 502]

type Node = { dir: string; port: number; server: Soaked }

export async function soakUpgrade(cluster: Cluster): Promise<number> {
  const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
  const counts: Record<string, number> = { created: 0, kills: 0, replaced: 0 }
  const violations: string[] = []
  const waits: number[] = []
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1
  }

  const url = await newDatabase(cluster, 'upgrade')
  const shared = temporaryDir()
  const masterKey = join(shared, 'master.key')
  writeFileSync(masterKey, randomBytes(32), { mode: 0o400 })
  const environment = {
    VIDIMUS_DATABASE_URL: url,
    VIDIMUS_KEY_DIR: shared,
    VIDIMUS_MASTER_KEY_FILE: masterKey,
    VIDIMUS_PUBLIC_URL: 'http://localhost:3999',
    VIDIMUS_TRUSTED_PROXIES: '127.0.0.1',
  }
  const startNode = async (dir: string, port: number): Promise<Node> => ({
    dir,
    port,
    server: await serviceOn(dir, { ...environment, PORT: String(port) }),
  })
  const nodes = [await startNode(temporaryDir(), await freePort()), await startNode(temporaryDir(), await freePort())]
  const proxy = await startNginx(nodes.map(({ port }) => port))
  const { id: tenantId, key } = await prepare(nodes[0]!.dir, environment)

  const acknowledged = new Map<string, string>()
  let isOver = false
  const client = async () => {
    while (!isOver) {
      const idempotencyKey = randomUUID()
      const startedAt = performance.now()
      for (;;) {
        const answer = await call<{ id: string }>(proxy.url, 'POST', '/v1/verifications', {
          key,
          body: { template: 'age_over_18', metadata: { order: idempotencyKey } },
          headers: { 'idempotency-key': idempotencyKey },
        }).catch(() => undefined)
        if (answer?.status === 201) {
          acknowledged.set(idempotencyKey, answer.body.id)
          break
        }
        count(answer ? `answers_${answer.status}` : 'connections_lost')
        if (answer && !REPEATED.includes(answer.status))
          return void violations.push(`${answer.status} ${answer.text.slice(0, 200)}`)
        await Bun.sleep(AFTER_REFUSAL_MS)
      }
      waits.push(performance.now() - startedAt)
      count('created')
    }
  }
  const someCreations = async () => {
    for (const wanted = counts.created! + BETWEEN; counts.created! < wanted && violations.length === 0; ) await Bun.sleep(10)
  }
  const ready = async ({ server }: Node) => {
    while ((await fetch(`${server.url}/readyz`).catch(() => undefined))?.status !== 200) await Bun.sleep(20)
  }

  const working = Array.from({ length: CLIENTS }, client)
  const until = Date.now() + minutes * MINUTE_MS
  for (let round = seed; Date.now() < until && violations.length === 0; round++) {
    const i = Math.abs(round) % 2
    const { dir, port, server } = nodes[i]!
    await someCreations()
    await server.kill()
    count('kills')
    await someCreations()
    nodes[i] = await startNode(dir, port)
    await ready(nodes[i]!)
    await someCreations()
    for (const [place, node] of nodes.entries()) {
      await node.server.stop()
      const errors = node.server
        .stderr()
        .split('\n')
        .filter(line => line.includes('"level":"error"'))
      if (errors.length > 0) violations.push(`a node that was stopped logged ${errors[0]}`)
      nodes[place] = await startNode(node.dir, node.port)
      await ready(nodes[place]!)
      count('replaced')
      await someCreations()
    }
    progress(`${JSON.stringify(counts)}, ${violations.length} violations`)
  }
  isOver = true
  await Promise.all(working)

  const [row] = await cluster.query<Record<'sessions' | 'charged' | 'keys', string>>(
    `SELECT (SELECT count(*) FROM verification_sessions) AS sessions,
       (SELECT sum(verifications_created) FROM usage_days WHERE tenant_id = '${tenantId}') AS charged,
       (SELECT count(*) FROM idempotency_keys) AS keys`,
    'upgrade',
  )
  counts.sessions = Number(row!.sessions)
  for (const [name, found] of Object.entries(row!))
    if (Number(found) !== acknowledged.size) violations.push(`${acknowledged.size} creations, but ${found} ${name}`)
  const known = new Set(
    (await cluster.query<{ id: string }>('SELECT id FROM verification_sessions', 'upgrade')).map(({ id }) => id),
  )
  const lost = [...acknowledged.values()].filter(id => !known.has(id))
  if (lost.length > 0) violations.push(`${lost.length} acknowledged creations are lost`)
  for (const { server } of nodes) await server.stop()
  await proxy.stop()
  const verified = await vidimus(nodes[0]!.dir, ['audit', 'verify', '--json'], environment)
  if (verified.exitCode !== 0) violations.push(`audit verify does not pass: ${verified.stderr}`)
  return soakLine({ script: 'soak/upgrade', seed, minutes, counts, percentiles: { created: percentilesOf(waits) }, violations })
}

async function prepare(dir: string, environment: Record<string, string>): Promise<{ id: string; key: string }> {
  const command = async <Answer>(...args: string[]): Promise<Answer> => {
    const { exitCode, stdout, stderr } = await vidimus(dir, [...args, '--json'], environment)
    if (exitCode !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  const { id } = await command<{ id: string }>('tenant', 'create', '--name', 'Shop', '--daily-quota', '10000000')
  const scopes = 'verifications:create,verifications:read'
  const { key } = await command<{ key: string }>('key', 'create', '--tenant', id, '--env', 'test', '--scopes', scopes)
  return { id, key }
}
