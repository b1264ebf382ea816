// F41: one shop names receivers in DNS zones that never answer, sixty at a time, while a second shop's wallets go through whole
// exchanges. The exchanges are measured in turns with and without that load, so that other work on the machine counts for both.
// All of it runs in a network namespace of its own, whose only name server is a silent socket; the namespace ends with the
// process.
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { within } from '../../src/base/time.ts'
import { loadConfig } from '../../src/config.ts'
import { createDeps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { makeHolder } from '../../src/sandbox/issuer/issuer.ts'
import { type Holder, present } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, cleanUp, temporaryDir } from '../helpers/app.ts'
import { checkInvariants } from '../invariants/check.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress, serviceOn, shopIn } from './service.ts'

const DEAD_CREATIONS = 60
/** At least as long as a dead look-up takes. */
const TURN_MS = 3000
const EXCHANGES_PER_SECOND = 20
const WARM_UP_EXCHANGES = 100
const P99_RATIO_MAX = 2
/** A service that stands still is not waited for any longer. */
const PATIENCE_MS = 10_000
/** A look-up that fails, and some time for a busy machine. */
const DEAD_CREATION_MS_MAX = 4000
const PUBLIC_URL = 'https://verify.example'

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
if (!process.env.SOAK_DNS_INSIDE) await goInside()

const violations: string[] = []
const counts = { turns: 0, dead_creations: 0, queries: 0, exchanges: 0 }
const samples = { quiet: [] as number[], loaded: [] as number[], dead_creation: [] as number[] }

const nameServer = createSocket('udp4', () => {
  counts.queries++
})
await new Promise<void>(resolve => nameServer.bind(53, '127.0.0.1', resolve))

const dir = temporaryDir()
const [victim, attacker] = [await shopIn(dir), await shopIn(dir)]
const holder = await makeSandboxHolder()
const service = await serviceOn(dir, { VIDIMUS_PUBLIC_URL: PUBLIC_URL })
const endsAt = performance.now() + minutes * 60_000

for (let i = 0; i < WARM_UP_EXCHANGES; i++) await exchange([])
while (performance.now() < endsAt) {
  await takeTurn(samples.quiet, [])
  await takeTurn(samples.loaded, [createDead()])
  counts.turns++
  progress(`${JSON.stringify(counts)}, p99 quiet ${p99Of('quiet')} ms, loaded ${p99Of('loaded')} ms`)
}
judge()
await service.stop()
violations.push(...(await checkInvariants(dir)).violations)
nameServer.close()
await cleanUp()
const percentiles = Object.fromEntries(Object.entries(samples).map(([name, each]) => [name, percentilesOf(each)]))
process.exit(soakLine({ script: 'soak/dns', seed, minutes, counts, percentiles, violations }))

/** Runs this script again in namespaces for network and mounts, with a resolv.conf of its own. */
async function goInside(): Promise<never> {
  const folder = mkdtempSync(join(tmpdir(), 'vidimus-dns-'))
  const resolvConf = join(folder, 'resolv.conf')
  writeFileSync(resolvConf, 'nameserver 127.0.0.1\n')
  const rights = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const setUp = 'ip link set lo up && mount --bind "$0" /etc/resolv.conf && touch "$1" && shift && exec "$@"'
  const ready = join(folder, 'ready')
  const self = [process.execPath, import.meta.path, '--seed', String(seed), '--minutes', String(minutes)]
  const child = Bun.spawn(['unshare', '--net', '--mount', ...rights, 'sh', '-c', setUp, resolvConf, ready, ...self], {
    env: { ...process.env, SOAK_DNS_INSIDE: '1' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const code = await child.exited
  const isReady = await Bun.file(ready).exists()
  rmSync(folder, { recursive: true, force: true })
  if (isReady) process.exit(code)
  progress('needs a network namespace of its own: run it as root on Linux with unshare, ip and mount, or allow user namespaces')
  process.exit(2)
}

async function makeSandboxHolder(): Promise<Holder> {
  const config = { ...loadConfig({ PORT: '0', VIDIMUS_DATA_DIR: dir }), publicUrl: PUBLIC_URL }
  const deps = await createDeps(config, realWorld(), 'command')
  const { issuer } = await deps.sandbox()
  const made = await makeHolder(issuer, 'adult', Date.now(), count => new Uint8Array(randomBytes(count)))
  await deps.close()
  return made
}

/** Exchanges at a steady pace, for so long and until the load is answered. */
async function takeTurn(latencies: number[], load: Promise<void>[]): Promise<void> {
  let isLoaded = load.length > 0
  const answered = Promise.all(load).then(() => {
    isLoaded = false
  })
  const underWay: Promise<void>[] = []
  const startedAt = performance.now()
  for (let n = 1; performance.now() - startedAt < TURN_MS || isLoaded; n++) {
    underWay.push(exchange(latencies))
    await Bun.sleep(Math.max(0, startedAt + n * (1000 / EXCHANGES_PER_SECOND) - performance.now()))
  }
  await Promise.all([answered, ...underWay])
}

async function exchange(latencies: number[]): Promise<void> {
  const begun = performance.now()
  const ended = await within(PATIENCE_MS, exchangeOnce(), () => 'not at all').catch(error => `with ${error.code ?? error}`)
  latencies.push(performance.now() - begun)
  counts.exchanges++
  if (ended !== 'completed' && violations.length < 20) violations.push(`an exchange ended ${ended}`)
}

/** From the creation to the result, as a shop and its customer's wallet see it. */
async function exchangeOnce(): Promise<string> {
  const { key } = victim!
  const created = await call<Verification>(service.url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
  await present(created.body.wallet_uri ?? '', holder, {
    fetch: (url, init) => fetch(url.replace(PUBLIC_URL, service.url), init),
    now: Date.now(),
  })
  const { body } = await call<Verification>(service.url, 'GET', `/v1/verifications/${created.body.id}`, { key })
  return body.status
}

async function createDead(): Promise<void> {
  await Promise.all(
    Array.from({ length: DEAD_CREATIONS }, async () => {
      const webhook_url = `https://shop${counts.dead_creations++}.dead${counts.turns}.example/hook`
      const begun = performance.now()
      const { key } = attacker!
      const body = { template: 'age_over_18', webhook_url }
      const created = call(service.url, 'POST', '/v1/verifications', { key, body }).then(({ status }) => status)
      const status = await within(PATIENCE_MS, created, () => 0).catch(() => 0)
      samples.dead_creation.push(performance.now() - begun)
      if (status !== 201 && violations.length < 20) violations.push(`a creation was answered ${status || 'not at all'}`)
    }),
  )
}

function p99Of(name: keyof typeof samples): number {
  return percentilesOf(samples[name]).p99
}

function judge(): void {
  if (p99Of('loaded') > P99_RATIO_MAX * p99Of('quiet'))
    violations.push(`exchanges waited for dead zones: p99 ${p99Of('loaded')} ms instead of ${p99Of('quiet')} ms`)
  if (p99Of('dead_creation') > DEAD_CREATION_MS_MAX) violations.push(`creations waited: p99 ${p99Of('dead_creation')} ms`)
  if (counts.queries === 0) violations.push('no query reached the name server: nothing was tried')
}
