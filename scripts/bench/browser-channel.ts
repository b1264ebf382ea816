// The exchange through a browser's wallet call: the page's two calls beside creating and reading the session.
import { answerPage } from '../../src/sandbox/wallet/dc-wallet.ts'
import type { Holder } from '../../src/sandbox/wallet/wallet.ts'
import type { DcRequests } from '../../src/verifications/exchange/dc-schema.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { inFlight, json } from './in-flight.ts'
import { type Spread, shown, spreadOf, table } from './output.ts'
import { cpuMs, type Server } from './service.ts'

export const PROTOCOLS = { 'openid4vp-v1-unsigned': 'dc+sd-jwt', 'org-iso-mdoc': 'mso_mdoc' } as const
export type Protocol = keyof typeof PROTOCOLS

const PHASES = ['create', 'request', 'respond', 'read'] as const
type Phase = (typeof PHASES)[number]

type Rates<Phase extends string> = { cycles_per_second: Spread | null; phases_per_second: Record<Phase, Spread | null> }

export type ProtocolFigures = Rates<Phase> & { protocol: Protocol; server_cpu_us_per_cycle: Spread | null }

type ChannelOptions = {
  service: Server
  key: string
  holder: Holder
  protocol: Protocol
  sessions: number
  rounds: number
  toWarmUp: number
  inFlight: number
}

export async function measureBrowser(wanted: ChannelOptions): Promise<ProtocolFigures> {
  for (let warmed = 0; warmed < wanted.toWarmUp; warmed += wanted.sessions) await browserRound(wanted)
  const rounds: Awaited<ReturnType<typeof browserRound>>[] = []
  for (let round = 0; round < wanted.rounds; round++) rounds.push(await browserRound(wanted))
  return {
    protocol: wanted.protocol,
    ...ratesOf(PHASES, rounds, wanted.sessions),
    server_cpu_us_per_cycle: spreadOf(rounds.map(({ cpuMs }) => (cpuMs === undefined ? null : (cpuMs * 1000) / wanted.sessions))),
  }
}

/** A cycle takes as long as its phases. */
export function ratesOf<Phase extends string>(
  phases: readonly Phase[],
  rounds: { seconds: Record<Phase, number> }[],
  sessions: number,
): Rates<Phase> {
  const perSecond = (...of: Phase[]) =>
    spreadOf(rounds.map(({ seconds }) => sessions / of.reduce((sum, phase) => sum + seconds[phase], 0)))
  return {
    cycles_per_second: perSecond(...phases),
    phases_per_second: Object.fromEntries(phases.map(phase => [phase, perSecond(phase)])) as Record<Phase, Spread | null>,
  }
}

async function browserRound({ service, key, holder, protocol, sessions, inFlight: atOnce }: ChannelOptions) {
  const base = `http://127.0.0.1:${service.port}`
  // The service's own pages always may ask.
  const origin = `http://localhost:${service.port}`
  const type = { 'content-type': 'application/json' }
  const headers = { ...type, authorization: `Bearer ${key}` }
  const seconds = {} as Record<Phase, number>
  let cpu = 0
  const phase = async <In, Out>(name: Phase, inputs: In[], act: (input: In) => Promise<Out>): Promise<Out[]> => {
    const [cpuBefore, startedAt] = [cpuMs(service.pid) ?? 0, performance.now()]
    const outputs = await inFlight(atOnce, inputs, act)
    seconds[name] = (performance.now() - startedAt) / 1000
    cpu += (cpuMs(service.pid) ?? 0) - cpuBefore
    return outputs
  }
  const post = <Body>(path: string, body: unknown, own: Record<string, string>) =>
    json<Body>(`${base}${path}`, { method: 'POST', headers: own, body: JSON.stringify(body) })

  const created = await phase('create', Array.from({ length: sessions }), () =>
    post<Verification>('/v1/verifications', { template: 'age_over_18' }, headers),
  )
  const page = { ...type, origin }
  const asked = await phase('request', created, ({ id }) =>
    post<DcRequests>(`/wallet/dc/request/${id}`, { protocols: [protocol] }, page),
  )
  const answers = await inFlight(atOnce, asked, ({ requests }) => answerPage({ requests, origin }, holder, { now: Date.now() }))
  const sent = created.map(({ id }, i) => ({ id, answer: answers[i] }))
  await phase('respond', sent, ({ id, answer }) => post(`/wallet/dc/response/${id}`, answer, page))
  const read = await phase('read', created, ({ id }) => json<Verification>(`${base}/v1/verifications/${id}`, { headers }))
  const open = read.find(({ status }) => status !== 'completed')
  if (open) throw new Error(`a session ended ${open.status}: ${JSON.stringify(open.error)}`)
  return { seconds, cpuMs: cpuMs(process.pid) === undefined ? undefined : cpu }
}

export const describeBrowser = (protocols: readonly ProtocolFigures[]): string =>
  `The same through the browser's wallet call.

${table(
  ['protocol', 'cycles/s', ...PHASES.map(phase => `${phase}/s`), 'CPU us/cycle'],
  protocols.map(({ protocol, cycles_per_second, phases_per_second, server_cpu_us_per_cycle }) => [
    protocol,
    shown(cycles_per_second, 0),
    ...PHASES.map(phase => shown(phases_per_second[phase], 0)),
    shown(server_cpu_us_per_cycle, 0),
  ]),
)}`
