import { createHmac } from 'node:crypto'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepHeld } from '../../src/verifications/end/release.ts'
import { sweepLogins } from '../../src/verifications/erasure/retain.ts'
import { duePayload } from '../../src/webhooks/queue.ts'
import type { Answer, Call } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { Disagreement, same } from './expect.ts'
import {
  attempted,
  type Caller,
  dueNow,
  type Environment,
  failOverdue,
  type Model,
  overdue,
  passTime,
  type Receiver,
  type Session,
  secretOf,
  signingSecrets,
  type Verdict,
  viewOf,
} from './model.ts'
import { forgetPast } from './model-logins.ts'
import type { World } from './world.ts'

/** Facts that clients were told, for the check of the directory afterwards. */
export type Fact = Record<string, unknown> & { fact: string }

/** One run: a tenant, and the model of it. */
export type Simulation = {
  world: World
  model: Model
  tenantId: string
  /** Name of this run, part of the paths of its receivers. */
  tag: string
  /** Keys that the commands do not know of: whatever becomes of theirs, the simulation itself can read. */
  readers: Record<Environment, string>
  told: (fact: Fact) => void
  /** How many were taken so far. */
  steps: number
}

export const call = <Body = unknown>(
  { world }: Simulation,
  caller: Caller,
  method: string,
  path: string,
  options: Call = {},
): Promise<Answer<Body>> => {
  const key = secretOf(caller)
  return world.app.call<Body>(method, path, { ...options, ...(key !== undefined && { key }) })
}

/** The service's clock follows the model's; that it does so by itself after a restart is checked there. */
export function moveClock({ world, model }: Simulation, stepMs: number): void {
  passTime(model, stepMs)
  world.app.clock.set(model.now)
  same(world.app.deps.now(), model.now, 'the time')
}

export const webhookUrl = ({ world, tag }: Simulation, place: number, receiver: Receiver): string => {
  const { port } = receiver === 'dead' ? { port: world.deadPort } : world.receiver
  return `http://shop-${place % 3}.example:${port}/${tag}/${place}/${receiver}`
}

type Result = { claims?: object; credentials?: object[]; error?: { code: string } }

/** What an answer came to, as it is read from now on. */
export async function learnResult(
  { world, readers }: Simulation,
  session: Session,
  { outcome, error: expected }: Verdict,
): Promise<void> {
  const { id, environment } = session
  const { body } = await world.app.call<Result>('GET', `/v1/verifications/${id}`, { key: readers[environment] })
  const { claims, credentials, error } = body
  same([error?.code, claims !== undefined], [expected, outcome === 'completed'], 'result')
  session.result = { claims, credentials, error }
}

type DeliveryRow = { id: string; receiver: string; status: string; attempts: number; due_at: number; lease_until: number | null }

/** Sends all due messages and compares each attempt with the model: message, signature, place in the log, next attempt. */
export async function settle(simulation: Simulation): Promise<void> {
  await failLate(simulation)
  await eraseLate(simulation)
  for (let due = dueNow(simulation.model); due.length > 0; due = dueNow(simulation.model)) {
    for (const session of due) poke(simulation, session)
    for (const session of due) await expectAttempt(simulation, session)
  }
}

/** The service looks for answers that were held for too long every ten seconds of the machine's: here as soon as one is due. */
async function failLate({ world, model }: Simulation): Promise<void> {
  const late = overdue(model)
  if (late.length === 0) return
  await sweepHeld(world.app.deps)
  for (const session of late) failOverdue(model, session)
}

/** So are log-ins that ended an hour ago, which it erases. */
async function eraseLate({ world, model, told }: Simulation): Promise<void> {
  const past = forgetPast(model)
  for (const { id } of past) told({ fact: 'erasing', id })
  if (past.length === 0) return
  await sweepExpired(world.app.deps)
  await sweepLogins(world.app.deps)
  for (const { id } of past) told({ fact: 'erased', id })
}

/** Wakes the sender: by itself it looks at the clock only a few times a second. */
function poke({ world, tenantId }: Simulation, session: Session): void {
  const row = rowOf(world, session)
  session.delivery!.id ||= row.id
  world.app.deps.publish('owed', duePayload({ receiver: row.receiver, tenantId, dueAt: row.due_at }))
}

async function expectAttempt(simulation: Simulation, session: Session): Promise<void> {
  const { model, world } = simulation
  const { delivery, receiver } = session
  if (!delivery || !receiver) throw new Error('only what is owed is sent')
  const logged = delivery.logged + 1
  await untilLogged(world, session, logged)
  expectMessage(simulation, session, delivery.attempts + 1, logged)
  const bounds = attempted(model, delivery, receiver)
  const row = rowOf(world, session)
  same([row.id, row.status, row.attempts], [delivery.id, delivery.status, delivery.attempts], 'delivery')
  if (!bounds) return
  if (row.due_at < bounds.least || row.due_at > bounds.most)
    throw new Disagreement(`the next attempt is due at ${row.due_at}, not in ${JSON.stringify(bounds)}`)
  delivery.dueAt = row.due_at
}

async function untilLogged(world: World, session: Session, logged: number): Promise<void> {
  for (let i = 0; i < 10_000; i++) {
    if (rowOf(world, session).lease_until === null && attemptsOf(world, session) >= logged) return
    await Bun.sleep(i < 20 ? 0 : 1)
  }
  throw new Disagreement('what is due is not sent')
}

function expectMessage({ world, model, tag }: Simulation, session: Session, attempt: number, logged: number): void {
  if (session.receiver === 'dead') return
  const place = `/${tag}/${model.sessions.indexOf(session)}/`
  const received = world.receiver.received.filter(({ path }) => path.startsWith(place))
  same(received.length, logged, 'messages that the receiver saw')
  const message = received.at(-1)!
  same(
    JSON.parse(message.body),
    {
      type: `verification.${session.outcome}`,
      verification: viewOf(model, session),
      sent_at: new Date(model.now).toISOString(),
    },
    'message',
  )
  const t = Math.floor(model.now / 1000)
  const secrets = signingSecrets(model, session.environment)
  const macs = secrets.map(secret => createHmac('sha256', secret).update(`${t}.${message.body}`).digest('hex'))
  same(message.headers['x-service-signature'], [`t=${t}`, ...macs.map(mac => `v1=${mac}`)].join(), 'signature')
  same(message.headers['x-service-attempt'], String(attempt), 'X-Service-Attempt')
  same(message.headers['webhook-id'], session.delivery!.id, 'webhook-id')
}

function rowOf(world: World, session: Session): DeliveryRow {
  const found = rows<DeliveryRow>(world, 'SELECT * FROM webhook_deliveries WHERE verification_id = ?', session.id)
  same(found.length, 1, 'messages that are owed')
  return found[0]!
}

const attemptsOf = (world: World, session: Session): number =>
  rows(world, 'SELECT 1 FROM webhook_attempts WHERE delivery_id = ?', session.delivery!.id).length

export const rows = <Row>({ app }: World, sql: string, ...values: string[]): Row[] => rowsOf<Row>(app, sql, ...values)
