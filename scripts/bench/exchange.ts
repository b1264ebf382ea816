// The wallet exchange beside the elliptic-curve work it cannot do without. The wallet's own work is done beforehand and not measured.
import { randomBytes, webcrypto } from 'node:crypto'
import { cpus } from 'node:os'
import { calculateJwkThumbprint } from 'jose'
import { loadConfig } from '../../src/config.ts'
import { createDeps, type Deps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { boundToRedirect } from '../../src/openid4vp/exchange/session-transcript.ts'
import { AnchorIndex } from '../../src/openid4vp/trust/anchor-index.ts'
import { makeHolder } from '../../src/sandbox/issuer/issuer.ts'
import { answer, fetchRequest, type Holder, type PresentationRequest, vpToken } from '../../src/sandbox/wallet/wallet.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import {
  type ChannelRound,
  channelFigures,
  channelRound,
  describeChannels,
  PROTOCOLS,
  type Protocol,
  type ProtocolFigures,
  ratesOf,
} from './channels.ts'
import { inFlight, json } from './in-flight.ts'
import { atLeast, atMost, type Spread, shown, spreadOf, table } from './output.ts'
import { COMPILER, cpuMs, environmentFor, makeTenant, type Server, startService, temporaryDir, threadsUs } from './service.ts'

export const FORMATS = ['dc+sd-jwt', 'mso_mdoc'] as const
export type Format = (typeof FORMATS)[number]

const ROUNDS = 3
const SESSIONS_A_ROUND = 2000
const IN_FLIGHT = 32
const PRESENTATIONS = 64
/** As many as keep both cores busy: with fewer, the threads that verify wait for this one whenever the system lets it wait for them. */
const JUDGED_AT_ONCE = 64
/** Half a second and more: a round of a tenth is decided by when the system changes threads. */
const JUDGED_A_ROUND = 4000
/** Until the runtime has compiled what is hot: a service is measured as it runs all day, and compiling takes processor time as well. */
export const TO_WARM_UP = 10_000
const TEMPLATE = 'age_over_18'
/** The issuer's signature and the holder's. */
const VERIFICATIONS_A_PRESENTATION = 2
const AIMS = { judged_ratio_minimum: 0.7, cycle_cpu_us_maximum: 700, curve_ratio_minimum: 0.45 }

type Phase = 'create' | 'fetch' | 'respond' | 'read'
const PHASES: Phase[] = ['create', 'fetch', 'respond', 'read']

type FormatFigures = {
  format: Format
  cycles_per_second: Spread | null
  phases_per_second: Record<Phase, Spread | null>
  server_cpu_us_per_cycle: Spread | null
  /** The share of the runtime's compiler. */
  compiler_cpu_us_per_cycle: Spread | null
  /** Processor time of the five curve operations that every exchange needs. */
  curve_cpu_us_per_cycle: Spread | null
  curve_ratio: Spread | null
  presentations_per_second: Spread | null
  presentation_cpu_us: Spread | null
  curve_limit_per_second: Spread | null
  curve_cpu_us: Spread | null
  /** Shares of the limit with all cores busy, and of the processor time. */
  ratio: Spread | null
  cpu_ratio: Spread | null
}

export type ExchangeReport = {
  cores: number
  sessions: number
  rounds: number
  aims: typeof AIMS
  formats: FormatFigures[]
  /** Through the browser's wallet call, and in person. */
  protocols: ProtocolFigures[]
}

export async function benchExchange(): Promise<ExchangeReport> {
  const dir = temporaryDir()
  const { key } = await makeTenant(dir)
  const service = await startService(dir)
  const publicUrl = `http://localhost:${service.port}`
  // Beside the running service, as the command line does: for the documents of its sandbox issuer, and to judge them in this process.
  const deps = await createDeps({ ...loadConfig(environmentFor(dir)), publicUrl }, realWorld(), 'command')
  const redirects = await eachOf(FORMATS, async format => {
    const holder = await holderFor(deps, format)
    const operate = await preparedExchange()
    return async () => ({ ...(await cycleRound([service], key, holder)), curve: await speedOf(JUDGED_A_ROUND, operate) })
  })
  const channels = await eachOf(Object.keys(PROTOCOLS) as Protocol[], async protocol => {
    const holder = await holderFor(deps, PROTOCOLS[protocol])
    return () => channelRound({ service, key, holder, protocol, sessions: SESSIONS_A_ROUND, inFlight: IN_FLIGHT })
  })
  for (let warmed = 0; warmed < TO_WARM_UP; warmed += SESSIONS_A_ROUND)
    for (const [, round] of [...redirects, ...channels]) await round()
  // By turns, because a machine is faster in one minute than in the next.
  const byFormat = new Map<Format, CycleRound[]>(FORMATS.map(format => [format, []]))
  const byProtocol = new Map<Protocol, ChannelRound[]>(channels.map(([protocol]) => [protocol, []]))
  for (let turn = 0; turn < ROUNDS; turn++) {
    for (const [format, round] of redirects) byFormat.get(format)!.push(await round())
    for (const [protocol, round] of channels) byProtocol.get(protocol)!.push(await round())
  }
  const formats: FormatFigures[] = []
  for (const [format, rounds] of byFormat)
    formats.push({ format, ...cyclesOf(rounds), ...(await measureJudgement(deps, service, key, format)) })
  const protocols = Array.from(byProtocol, ([protocol, rounds]) =>
    channelFigures(protocol, rounds, SESSIONS_A_ROUND, byFormat.get(PROTOCOLS[protocol])!.map(serverUs)),
  )
  await deps.close()
  await service.stop()
  return { cores: cpus().length, sessions: SESSIONS_A_ROUND, rounds: ROUNDS, aims: AIMS, formats, protocols }
}

/** As many whole exchanges as take about so long. Gives their number. */
export async function exchangeFor(service: Server, dir: string, key: string, seconds: number): Promise<number> {
  const publicUrl = `http://localhost:${service.port}`
  const deps = await createDeps({ ...loadConfig(environmentFor(dir)), publicUrl }, realWorld(), 'command')
  const holders = await Promise.all(FORMATS.map(format => holderFor(deps, format)))
  await deps.close()
  let exchanges = 0
  for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt; ) {
    for (const holder of holders) await cycleRound([service], key, holder)
    exchanges += holders.length * SESSIONS_A_ROUND
  }
  return exchanges
}

export async function holderFor(deps: Deps, format: Format): Promise<Holder> {
  const { issuer } = await deps.sandbox()
  const holder = await makeHolder(issuer, 'adult', Date.now(), count => new Uint8Array(randomBytes(count)))
  return { ...holder, credentials: holder.credentials.filter(credential => credential.format === format) }
}

type Cycles = Pick<
  FormatFigures,
  | 'cycles_per_second'
  | 'phases_per_second'
  | 'server_cpu_us_per_cycle'
  | 'compiler_cpu_us_per_cycle'
  | 'curve_cpu_us_per_cycle'
  | 'curve_ratio'
>

type CycleRound = Awaited<ReturnType<typeof cycleRound>> & { curve: Speed }

const serverUs = ({ cpuMs }: CycleRound) => (cpuMs === undefined ? null : (cpuMs * 1000) / SESSIONS_A_ROUND)

const cyclesOf = (rounds: readonly CycleRound[]): Cycles => ({
  ...ratesOf(PHASES, rounds, SESSIONS_A_ROUND),
  server_cpu_us_per_cycle: spreadOf(rounds.map(serverUs)),
  compiler_cpu_us_per_cycle: spreadOf(rounds.map(({ compilerUs }) => compilerUs && compilerUs / SESSIONS_A_ROUND)),
  curve_cpu_us_per_cycle: spreadOf(rounds.map(round => round.curve.cpuUs)),
  curve_ratio: spreadOf(rounds.map(round => round.curve.cpuUs / (serverUs(round) ?? Number.NaN))),
})

const eachOf = <Name, Act>(names: readonly Name[], prepare: (name: Name) => Promise<Act>) =>
  Promise.all(names.map(async name => [name, await prepare(name)] as const))

/**
 * Phase by phase, because the wallet's work lies in between: a cycle takes as long as its four phases. The nodes of one
 * installation take turns, whatever a session began on; each has its own customers.
 */
export async function cycleRound(nodes: Server[], key: string, holder: Holder, sessions = SESSIONS_A_ROUND) {
  let turn = 0
  const next = () => `http://127.0.0.1:${nodes[turn++ % nodes.length]!.port}`
  const usedMs = () => nodes.reduce((sum, { pid }) => sum + (cpuMs(pid) ?? 0), 0)
  const compiledUs = () => nodes.reduce((sum, { pid }) => sum + (threadsUs(pid).get(COMPILER) ?? 0), 0)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const seconds = {} as Record<Phase, number>
  let cpu = 0
  let compiled = 0
  const phase = async <In, Out>(name: Phase, inputs: In[], act: (input: In) => Promise<Out>): Promise<Out[]> => {
    const [cpuBefore, compiledBefore, startedAt] = [usedMs(), compiledUs(), performance.now()]
    const outputs = await inFlight(IN_FLIGHT * nodes.length, inputs, act)
    seconds[name] = (performance.now() - startedAt) / 1000
    cpu += usedMs() - cpuBefore
    compiled += compiledUs() - compiledBefore
    return outputs
  }

  const numbers = Array.from({ length: sessions }, (_, i) => i)
  const created = await phase('create', numbers, () =>
    json<Verification>(`${next()}/v1/verifications`, { method: 'POST', headers, body: JSON.stringify({ template: TEMPLATE }) }),
  )
  const fetched = await phase('fetch', created, async ({ id }) => (await fetch(`${next()}/wallet/request/${id}`)).text())
  const texts = new Map(created.map(({ id }, i) => [id, fetched[i] ?? '']))
  const answers = await inFlight(IN_FLIGHT, created, async ({ id, wallet_uri }) => {
    const served = async () => new Response(texts.get(id), { headers: { 'content-type': 'application/oauth-authz-req+jwt' } })
    const request = await fetchRequest(wallet_uri ?? '', served, { now: Date.now() })
    return { id, form: (await answer(request, holder, { now: Date.now() })).form.toString() }
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  await phase('respond', answers, ({ id, form: body }) =>
    json(`${next()}/wallet/response/${id}`, { method: 'POST', headers: form, body }),
  )
  const read = await phase('read', created, ({ id }) => json<Verification>(`${next()}/v1/verifications/${id}`, { headers }))
  const open = read.find(({ status }) => status !== 'completed')
  if (open) throw new Error(`a session ended ${open.status}: ${JSON.stringify(open.error)}`)
  const isCounted = cpuMs(process.pid) !== undefined
  return { seconds, cpuMs: isCounted ? cpu : undefined, compilerUs: isCounted ? compiled : null }
}

type Judged = Pick<
  FormatFigures,
  'presentations_per_second' | 'presentation_cpu_us' | 'curve_limit_per_second' | 'curve_cpu_us' | 'ratio' | 'cpu_ratio'
>

/** Judging presentations in this process, by turns with nothing but the signatures they hold. */
async function measureJudgement(deps: Deps, service: Server, key: string, format: Format): Promise<Judged> {
  const judge = (await preparedJudgements(deps, service, key, format))(new AnchorIndex([(await deps.sandbox()).anchor]))
  const verify = await preparedSignatures()
  await speedOf(TO_WARM_UP, judge)
  await speedOf(TO_WARM_UP, verify)
  const rounds: { judged: Speed; limit: Speed }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { perSecond, cpuUs } = await speedOf(JUDGED_A_ROUND * VERIFICATIONS_A_PRESENTATION, verify)
    const limit = { perSecond: perSecond / VERIFICATIONS_A_PRESENTATION, cpuUs: cpuUs * VERIFICATIONS_A_PRESENTATION }
    rounds.push({ judged: await speedOf(JUDGED_A_ROUND, judge), limit })
  }
  const over = (of: (round: (typeof rounds)[number]) => number) => spreadOf(rounds.map(of))
  return {
    presentations_per_second: over(({ judged }) => judged.perSecond),
    presentation_cpu_us: over(({ judged }) => judged.cpuUs),
    curve_limit_per_second: over(({ limit }) => limit.perSecond),
    curve_cpu_us: over(({ limit }) => limit.cpuUs),
    ratio: over(({ judged, limit }) => judged.perSecond / limit.perSecond),
    cpu_ratio: over(({ judged, limit }) => limit.cpuUs / judged.cpuUs),
  }
}

/** Presentations of the sandbox wallet, to be judged with any anchors. */
export async function preparedJudgements(
  deps: Deps,
  service: Server,
  key: string,
  format: Format,
): Promise<(anchors: AnchorIndex) => (i: number) => Promise<void>> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const query = BUILTIN_TEMPLATES.get(TEMPLATE)?.query
  if (!query) throw new Error(`${TEMPLATE} is built in`)
  const prepared = await inFlight(IN_FLIGHT, Array.from({ length: PRESENTATIONS }), async () => {
    const body = JSON.stringify({ template: TEMPLATE })
    const created = await json<Verification>(`http://127.0.0.1:${service.port}/v1/verifications`, {
      method: 'POST',
      headers,
      body,
    })
    const request = await fetchRequest(created.wallet_uri ?? '', fetch, { now: Date.now() })
    // Everyone has a key of their own, so nothing that is remembered of one holder may help with the next.
    const holder = await holderFor(deps, format)
    const [[id, texts] = ['', []]] = Object.entries(await vpToken(request, holder, { now: Date.now() }))
    const asked = query.credentials.find(credential => credential.id === id)
    if (!asked) throw new Error('the wallet answers what was asked')
    return { expected: await expectedOf(request, created), presentations: [{ query: asked, presentation: texts[0] ?? '' }] }
  })
  return anchors => async i => {
    const one = prepared[i % prepared.length]
    if (!one) return
    const verdict = await deps.verifier.verify({
      ...one,
      expected: { ...one.expected, now: Date.now() },
      query,
      anchors,
      environment: 'test',
      status: deps.status,
      crls: deps.crls,
      now: Date.now,
      rules: [{ claim: 'age_over_18', is: true }],
      ageOver: 18,
    })
    if (verdict.status !== 'completed') throw new Error(`judged ${JSON.stringify(verdict)}`)
  }
}

async function expectedOf({ nonce, clientId, responseUri, encryption }: PresentationRequest, created: Verification) {
  const thumbprint = encryption && Buffer.from(await calculateJwkThumbprint(encryption.key), 'base64url')
  const createdAt = Date.parse(created.created_at)
  const request = { nonce, clientId, responseUri, encryptionKeyThumbprint: thumbprint ?? null }
  return { now: Date.now(), createdAt, ...boundToRedirect(request) }
}

/** ES256 with a ready key: the least a verification can cost. */
async function preparedSignatures(): Promise<() => Promise<void>> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const { privateKey, publicKey } = await webcrypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])
  const data = randomBytes(1000)
  const signature = await webcrypto.subtle.sign(algorithm, privateKey, data)
  return async () => {
    if (!(await webcrypto.subtle.verify(algorithm, publicKey, signature, data))) throw new Error('a good signature verifies')
  }
}

/**
 * The curve operations of one exchange: a key pair for the answer, the signature of the request, the agreed secret, and the
 * signatures of issuer and holder.
 */
async function preparedExchange(): Promise<() => Promise<void>> {
  const agreement = { name: 'ECDH', namedCurve: 'P-256' }
  const { privateKey, publicKey } = await webcrypto.subtle.generateKey(agreement, false, ['deriveBits'])
  const signing = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const signer = await webcrypto.subtle.generateKey(signing, false, ['sign', 'verify'])
  const verify = await preparedSignatures()
  const data = randomBytes(1000)
  return async () => {
    await webcrypto.subtle.generateKey(agreement, true, ['deriveBits'])
    await webcrypto.subtle.sign(signing, signer.privateKey, data)
    await webcrypto.subtle.deriveBits({ name: 'ECDH', public: publicKey }, privateKey, 256)
    for (let i = 0; i < VERIFICATIONS_A_PRESENTATION; i++) await verify()
  }
}

type Speed = { perSecond: number; cpuUs: number }

export async function speedOf(count: number, act: (i: number) => Promise<void>): Promise<Speed> {
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const numbers = Array.from({ length: count }, (_, i) => i)
  await inFlight(JUDGED_AT_ONCE, numbers, act)
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  return { perSecond: count / seconds, cpuUs: (user + system) / count }
}

export function describeExchange({ cores, sessions, rounds, aims, formats, protocols }: ExchangeReport): string {
  const cycles = formats.map(({ format, cycles_per_second, phases_per_second, server_cpu_us_per_cycle: us, ...rest }) => [
    format,
    shown(cycles_per_second, 0),
    ...PHASES.map(phase => shown(phases_per_second[phase], 0)),
    shown(us, 0),
    atMost(us, aims.cycle_cpu_us_maximum),
    shown(rest.compiler_cpu_us_per_cycle, 0),
    shown(rest.curve_cpu_us_per_cycle, 0),
    shown(rest.curve_ratio, 2),
    atLeast(rest.curve_ratio, aims.curve_ratio_minimum),
  ])
  const judged = formats.map(each => [
    each.format,
    shown(each.presentations_per_second, 0),
    shown(each.curve_limit_per_second, 0),
    shown(each.ratio, 2),
    shown(each.presentation_cpu_us, 0),
    shown(each.curve_cpu_us, 0),
    shown(each.cpu_ratio, 2),
    atLeast(each.cpu_ratio, aims.judged_ratio_minimum),
  ])
  return `Exchanges over HTTP: ${sessions} sessions a round, medians (and ranges) of ${rounds} rounds, ${cores} cores. The processor time is the server's.

${table(['format', 'cycles/s', ...PHASES.map(phase => `${phase}/s`), 'CPU us/cycle', 'aim', 'of it compiler', 'of it curves', 'ratio', 'aim'], cycles)}

${describeChannels(protocols)}

Presentations judged in one process, beside nothing but the ${VERIFICATIONS_A_PRESENTATION} signatures each holds.

${table(['format', 'judged/s', 'limit/s', 'of limit', 'CPU us', 'limit CPU us', 'of CPU', 'aim'], judged)}`
}
