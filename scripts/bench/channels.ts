// The exchange through a browser's wallet call, and with a phone in person: two calls beside creating and reading the session.

import { answerPage, type DcAnswer } from '../../src/sandbox/wallet/dc-wallet.ts'
import type { Holder } from '../../src/sandbox/wallet/wallet.ts'
import type { DcRequests } from '../../src/verifications/exchange/dc-schema.ts'
import type { InPersonRequest } from '../../src/verifications/exchange/in-person/schema.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { phoneOf } from '../persona-phone.ts'
import { inFlight, json } from './in-flight.ts'
import { atMost, type Spread, shown, spreadOf, table } from './output.ts'
import { cpuMs, type Server } from './service.ts'

export const PROTOCOLS = { 'openid4vp-v1-unsigned': 'dc+sd-jwt', 'org-iso-mdoc': 'mso_mdoc', in_person: 'mso_mdoc' } as const
export type Protocol = keyof typeof PROTOCOLS

/** Of the mdoc exchange by QR code. */
const IN_PERSON_MAXIMUM = 1.3
const PHASES = ['create', 'request', 'respond', 'read'] as const
type Phase = (typeof PHASES)[number]

type Rates<Phase extends string> = { cycles_per_second: Spread | null; phases_per_second: Record<Phase, Spread | null> }

export type ProtocolFigures = Rates<Phase> & {
  protocol: Protocol
  server_cpu_us_per_cycle: Spread | null
  /** Of what the exchange by QR code takes in the same round and format. */
  cpu_ratio: Spread | null
}

export type ChannelRound = Awaited<ReturnType<typeof channelRound>>

/** `redirects`: what the exchanges by QR code of the same rounds took, in microseconds. */
export function channelFigures(
  protocol: Protocol,
  rounds: readonly ChannelRound[],
  sessions: number,
  redirects: readonly (number | null)[],
): ProtocolFigures {
  const us = rounds.map(({ cpuMs }) => (cpuMs === undefined ? null : (cpuMs * 1000) / sessions))
  return {
    protocol,
    ...ratesOf(PHASES, rounds, sessions),
    server_cpu_us_per_cycle: spreadOf(us),
    cpu_ratio: spreadOf(us.map((own, round) => own && own / (redirects[round] ?? Number.NaN))),
  }
}

type ChannelOptions = { service: Server; key: string; holder: Holder; protocol: Protocol; sessions: number; inFlight: number }

/** A cycle takes as long as its phases. */
export function ratesOf<Phase extends string>(
  phases: readonly Phase[],
  rounds: readonly { seconds: Record<Phase, number> }[],
  sessions: number,
): Rates<Phase> {
  const perSecond = (...of: Phase[]) =>
    spreadOf(rounds.map(({ seconds }) => sessions / of.reduce((sum, phase) => sum + seconds[phase], 0)))
  return {
    cycles_per_second: perSecond(...phases),
    phases_per_second: Object.fromEntries(phases.map(phase => [phase, perSecond(phase)])) as Record<Phase, Spread | null>,
  }
}

export async function channelRound({ service, key, holder, protocol, sessions, inFlight: atOnce }: ChannelOptions) {
  const base = `http://127.0.0.1:${service.port}`
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
  // The service's own pages always may ask.
  const origin = `http://localhost:${service.port}`
  const meet = ({ id }: Verification): Promise<Customer> | Customer =>
    protocol === 'in_person'
      ? customerInPerson(holder, (step, body) => post(`/v1/verifications/${id}/in-person-${step}`, body, headers))
      : customerAtPage({ holder, protocol, origin }, (step, body) => post(`/wallet/dc/${step}/${id}`, body, { ...type, origin }))
  const customers = await inFlight(atOnce, created, async session => await meet(session))
  await phase('request', customers, customer => customer.ask())
  await inFlight(atOnce, customers, customer => customer.answer())
  await phase('respond', customers, customer => customer.tell())
  const read = await phase('read', created, ({ id }) => json<Verification>(`${base}/v1/verifications/${id}`, { headers }))
  const open = read.find(({ status }) => status !== 'completed')
  if (open) throw new Error(`a session ended ${open.status}: ${JSON.stringify(open.error)}`)
  return { seconds, cpuMs: cpuMs(process.pid) === undefined ? undefined : cpu }
}

/** The caller's two calls, and what the wallet does in between. */
type Customer = { ask: () => Promise<void>; answer: () => Promise<void>; tell: () => Promise<void> }
type Call = <Body>(step: 'request' | 'response', body: unknown) => Promise<Body>

function customerAtPage(
  { holder, protocol, origin }: { holder: Holder; protocol: string; origin: string },
  call: Call,
): Customer {
  let asked: DcRequests
  let answered: DcAnswer
  return {
    async ask() {
      asked = await call('request', { protocols: [protocol] })
    },
    async answer() {
      answered = await answerPage({ requests: asked.requests, origin }, holder, { now: Date.now() })
    },
    async tell() {
      await call('response', answered)
    },
  }
}

/** A phone that understands alternatives shows one document, as wallets do elsewhere. */
async function customerInPerson(holder: Holder, call: Call): Promise<Customer> {
  const phone = await phoneOf(holder, { version: '1.1' })
  let asked: InPersonRequest
  let answered: Uint8Array | undefined
  return {
    async ask() {
      asked = await call('request', { engagement: phone.code })
    },
    async answer() {
      answered = await phone.receive(new Uint8Array(Buffer.from(asked.message, 'base64url')))
    },
    async tell() {
      await call('response', { message: Buffer.from(answered!).toString('base64url') })
    },
  }
}

export const describeChannels = (protocols: readonly ProtocolFigures[]): string =>
  `The same through the browser's wallet call, and with a phone in person.

${table(
  ['protocol', 'cycles/s', ...PHASES.map(phase => `${phase}/s`), 'CPU us/cycle', 'of QR code', 'aim'],
  protocols.map(({ protocol, cycles_per_second, phases_per_second, server_cpu_us_per_cycle, cpu_ratio }) => [
    protocol,
    shown(cycles_per_second, 0),
    ...PHASES.map(phase => shown(phases_per_second[phase], 0)),
    shown(server_cpu_us_per_cycle, 0),
    shown(cpu_ratio, 2),
    protocol === 'in_person' ? atMost(cpu_ratio, IN_PERSON_MAXIMUM) : '',
  ]),
)}`
