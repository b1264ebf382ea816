import fc from 'fast-check'
import { type HolderPhone, phoneOf } from '../../../scripts/persona-phone.ts'
import type { PersonaId } from '../../../src/sandbox/personas.ts'
import { base64url, bytesOf } from '../../helpers/in-person.ts'
import { type CallerArgs, callerOf, command, sessionOf } from '../command.ts'
import { expectOk, foretell, isGranted, same } from '../expect.ts'
import { isHeld, isText, type Phone, type Session, verdictOn } from '../model.ts'
import { expectSeen, scan, takeAnswer } from '../model-in-person.ts'
import { call, learnResult, type Simulation } from '../simulation.ts'
import { holderFor } from '../world.ts'
import { anyone, some } from './arbitraries.ts'

const PERSONAS = ['adult', 'adult', 'adult', 'minor', 'declines', 'wrong_device_key'] as const

/** What the phone itself holds: its keys, and the answer it gave. */
type Held = { phone: HolderPhone; persona: PersonaId; answer?: string }
const held = new WeakMap<Phone, Held>()

/** `again`: the code that was scanned last. So often its answer is handed in at once. */
type Scan = { caller: CallerArgs; session: number; what: 'new' | 'again' | 'no code'; persona: PersonaId; handIns: number }

export const scanOne = command<Scan>({
  weight: 6,
  args: fc.record({
    caller: anyone,
    session: some,
    what: fc.constantFrom(
      'new' as const,
      'new' as const,
      'new' as const,
      'again' as const,
      'no code' as const,
      'no code' as const,
    ),
    persona: fc.constantFrom(...PERSONAS),
    handIns: fc.constantFrom(0, 0, 1, 2),
  }),
  can: ({ sessions }) => sessions.length > 0,
  async run(simulation, { caller: by, session: pick, what, persona, handIns }) {
    const { model } = simulation
    const caller = callerOf(model, by)
    const session = sessionOf(model, pick)!
    const known = what === 'again' ? session.phones.at(-1) : undefined
    const phone = what === 'no code' ? undefined : (known ?? (await newPhone(simulation, persona)))
    const expected = foretell(() => scan(model, caller, session, phone))
    const body = { engagement: phone?.code ?? 'mdoc:owBjMS4w' }
    const path = `/v1/verifications/${session.id}/in-person-request`
    const answer = await call<{ message: string }>(simulation, caller, 'POST', path, { body })
    if (!isGranted(answer, expected)) return
    const expiresAt = new Date(session.expiresAt).toISOString()
    expectOk(answer, 200, { message: phone!.message ?? isText, transports: Array.isArray, expires_at: expiresAt })
    phone!.message = answer.body.message
    for (let i = 0; i < handIns; i++) await handIn(simulation, by, session, 'phone')
  },
})

async function newPhone({ world, model }: Simulation, persona: PersonaId): Promise<Phone> {
  const phone = await phoneOf(await holderFor(world, persona, model.now))
  const made = { code: phone.code, declines: persona === 'declines', message: undefined }
  held.set(made, { phone, persona })
  return made
}

/** `older`: of a phone that another one replaced. */
type HandIn = { caller: CallerArgs; session: number; from: 'phone' | 'older' | 'nobody' }

export const handInOne = command<HandIn>({
  weight: 7,
  args: fc.record({
    caller: anyone,
    session: some,
    from: fc.constantFrom('phone' as const, 'phone' as const, 'phone' as const, 'older' as const, 'nobody' as const),
  }),
  can: ({ sessions }) => sessions.some(({ phones }) => phones.length > 0),
  async run(simulation, { caller, session: pick, from }) {
    const scanned = simulation.model.sessions.filter(({ phones }) => phones.length > 0)
    await handIn(simulation, caller, scanned.at(-1 - (pick % scanned.length))!, from)
  },
})

async function handIn(simulation: Simulation, by: CallerArgs, session: Session, from: HandIn['from']): Promise<void> {
  const { model, told } = simulation
  const caller = callerOf(model, by)
  const phone = from === 'nobody' ? undefined : session.phones.at(from === 'phone' ? -1 : -2)
  const verdict = verdictOn(session, phone ? held.get(phone)!.persona : '')
  const message = phone ? await answerOf(phone) : base64url(Uint8Array.of(0xa0))
  const expected = foretell(() => takeAnswer(model, caller, session, phone, verdict))
  const path = `/v1/verifications/${session.id}/in-person-response`
  const answer = await call(simulation, caller, 'POST', path, { body: { message } })
  if (!isGranted(answer, expected)) return
  if (phone!.declines) return expectOk(answer, 200, { status: 'pending', wallet_error: 'session_terminated' })
  expectOk(answer, 200, { status: session.outcome ?? 'pending', message: isText })
  if (isHeld(session)) return
  await learnResult(simulation, session, verdict)
  told({ fact: 'ended', id: session.id, status: session.outcome, webhook: session.receiver !== undefined })
}

/** The same bytes each time: a phone encrypts one answer. */
async function answerOf(phone: Phone): Promise<string> {
  const own = held.get(phone)!
  own.answer ??= base64url((await own.phone.receive(bytesOf(phone.message!)))!)
  return own.answer
}

export const reportFailure = command<{ caller: CallerArgs; session: number }>({
  weight: 2,
  args: fc.record({ caller: anyone, session: some }),
  can: ({ sessions }) => sessions.length > 0,
  async run(simulation, { caller: by, session: pick }) {
    const { model } = simulation
    const caller = callerOf(model, by)
    const session = sessionOf(model, pick)!
    const expected = foretell(() => expectSeen(model, caller, session))
    const path = `/v1/verifications/${session.id}/in-person-failure`
    const answer = await call(simulation, caller, 'POST', path, { body: { code: 'lost' } })
    if (isGranted(answer, expected)) same(answer.status, 204, 'status')
  },
})
