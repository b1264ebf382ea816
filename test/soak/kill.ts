// Kills a real server with -9 amid a mixed load, again and again, starts it again and looks at its directory from outside: `bun
// test/soak/kill.ts [--seed N] [--minutes M]`. Now and then everything is let come to its end, and a new directory is begun.
import { randomBytes } from 'node:crypto'
import { loadConfig } from '../../src/config.ts'
import { createDeps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { makeHolder } from '../../src/sandbox/issuer/issuer.ts'
import type { Holder } from '../../src/sandbox/wallet/wallet.ts'
import { temporaryDir } from '../helpers/app.ts'
import { vidimusJson } from '../helpers/cli.ts'
import { freePort } from '../helpers/free-port.ts'
import { seeded } from '../helpers/seeded.ts'
import { checkInvariants } from '../invariants/check.ts'
import { createClients, type Told } from './kill/clients.ts'
import { createReadiness } from './kill/ready.ts'
import { receiveMessages } from './kill/receiver.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { shopIn } from './service.ts'

const CLIENTS = 24
const KILLS_PER_DIRECTORY = 100
const MINUTE_MS = 60_000
const DRAIN_MS = 30_000

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const counts: Record<string, number> = { directories: 0, kills: 0, acks: 0, resolved: 0, messages: 0 }
const violations: string[] = []
const readiness = await createReadiness()
const until = Date.now() + minutes * MINUTE_MS

while (Date.now() < until && violations.length === 0) await soakDirectory()
const { ready, bare } = readiness.samples
const percentiles = { ready: percentilesOf(ready), bare: percentilesOf(bare) }
process.exit(soakLine({ script: 'soak/kill', seed, minutes, counts, percentiles, violations }))

async function soakDirectory(): Promise<void> {
  const dir = temporaryDir()
  const port = await freePort()
  const told: Told = { acks: [], counts, violations, owed: new Set(), erasedAt: new Map() }
  const receiver = receiveMessages(told, random.below)
  const environment = {
    PORT: String(port),
    VIDIMUS_EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
    VIDIMUS_WEBHOOK_DELAYS: '0s,1s,1s,1s,1s,1s,1s,1s',
    VIDIMUS_BACKUPS: 'off',
  }
  const { key, holder } = await prepare(dir, port)
  const clients = createClients({ key, webhookUrl: receiver.url, holder }, random, told)
  counts.directories!++
  for (let kill = 0; kill < KILLS_PER_DIRECTORY && Date.now() < until && violations.length === 0; kill++) {
    const server = await startAndLook(dir, environment, told)
    const { url } = server
    counts.resolved! += await clients.resolve(url)
    let isStopped = false
    const working = Array.from({ length: CLIENTS }, () => clients.work(url, () => isStopped))
    await Bun.sleep(100 + random.below(300))
    isStopped = true
    await server.kill()
    await Promise.all(working)
    counts.kills!++
    if (kill % 10 === 9)
      process.stderr.write(`${counts.kills} kills, ${told.acks.length} acks here, ${violations.length} violations\n`)
  }
  await finish(dir, environment, clients, told, receiver.seen)
  counts.acks! += told.acks.length
  counts.messages! += receiver.count()
  receiver.stop()
}

/** Ready in time, and everything holds that must. */
async function startAndLook(dir: string, environment: Record<string, string>, { acks }: Told) {
  const { server, problems } = await readiness.startAgain(dir, environment)
  violations.push(...problems, ...(await checkInvariants(dir, { acks })).violations)
  return server
}

/** The last unknown outcomes, every message that is owed, and the chain by the service's own command. */
async function finish(
  dir: string,
  environment: Record<string, string>,
  clients: ReturnType<typeof createClients>,
  told: Told,
  seen: Set<string>,
): Promise<void> {
  const server = await startAndLook(dir, environment, told)
  counts.resolved! += await clients.resolve(server.url)
  const missing = () => [...told.owed].filter(id => !seen.has(id))
  for (const end = Date.now() + DRAIN_MS; missing().length > 0 && Date.now() < end; ) await Bun.sleep(100)
  await server.stop()
  violations.push(...(await checkInvariants(dir, { acks: told.acks })).violations)
  if (missing().length > 0) violations.push(`I4 ${missing().length} messages never arrived`)
  const { ok } = await vidimusJson<{ ok: boolean }>(dir, 'audit', 'verify')
  if (!ok) violations.push('I5 audit verify does not pass')
}

async function prepare(dir: string, port: number): Promise<{ key: string; holder: Holder }> {
  const { key } = await shopIn(dir)
  const config = { ...loadConfig({ VIDIMUS_DATA_DIR: dir }), publicUrl: `http://localhost:${port}` }
  const deps = await createDeps(config, realWorld(), 'command')
  try {
    const { issuer } = await deps.sandbox()
    return { key, holder: await makeHolder(issuer, 'adult', Date.now(), count => new Uint8Array(randomBytes(count))) }
  } finally {
    await deps.close()
  }
}
