import fc from 'fast-check'
import type { PersonaId } from '../../../src/sandbox/personas.ts'
import { decline, fetchRequest, answer as presentationOf } from '../../../src/sandbox/wallet/wallet.ts'
import type { Answer } from '../../helpers/app.ts'
import { FORM } from '../../helpers/exchange.ts'
import { fetchOf } from '../../helpers/wallet.ts'
import { command, sessionOf } from '../command.ts'
import { expectOk, foretell, isGranted, same } from '../expect.ts'
import { answer, answerGarbage, fetchRequest as fetchedBy, isHeld, type Session, verdictOn } from '../model.ts'
import { call, learnResult, type Simulation } from '../simulation.ts'
import { holderFor } from '../world.ts'
import { some } from './arbitraries.ts'

const NOBODY = { kind: 'nobody' } as const

/** Presentations cost a hundred times what other calls do: most wallets decline. */
const PERSONAS = [
  'declines',
  'declines',
  'declines',
  'declines',
  'adult',
  'adult',
  'minor',
  'expired',
  'wrong_device_key',
] as const

export const respond = command<{ session: number; persona: PersonaId }>({
  weight: 10,
  args: fc.record({ session: some, persona: fc.constantFrom(...PERSONAS) }),
  can: ({ sessions }) => sessions.length > 0,
  async run(simulation, { session: pick, persona }) {
    const { model, told } = simulation
    const session = sessionOf(model, pick)!
    const fetched = foretell(() => fetchedBy(model, session))
    // A request that cannot be fetched any more is still answered, with a made-up form.
    const raw = 'ok' in fetched ? await formOf(simulation, session, persona) : 'error=access_denied'
    const verdict = verdictOn(session, persona)
    const expected = foretell(() => answer(model, session, verdict))
    const answered = await post(simulation, session, raw)
    if (!isGranted(answered, expected)) return
    expectAnswered(session, answered)
    if (isHeld(session)) return
    await learnResult(simulation, session, verdict)
    told({ fact: 'ended', id: session.id, status: session.outcome, webhook: session.receiver !== undefined })
  },
})

async function formOf({ world, model }: Simulation, session: Session, persona: PersonaId): Promise<BodyInit> {
  const request = await fetchRequest(session.walletUri, fetchOf(world.app), { now: model.now })
  if (persona === 'declines') return (await decline(request)).form
  const holder = await holderFor(world, persona, model.now)
  return (await presentationOf(request, holder, { now: model.now })).form
}

const post = (simulation: Simulation, { id }: Session, raw: BodyInit): Promise<Answer<{ redirect_uri?: string }>> =>
  call(simulation, NOBODY, 'POST', `/wallet/response/${id}`, { raw, headers: FORM })

/** On a failure too: the shopper is never left hanging. */
function expectAnswered(session: Session, answered: Answer<{ redirect_uri?: string }>): void {
  const start = `${session.redirectUrl?.split('#')[0]}#response_code=`
  if (session.redirectUrl === undefined) {
    expectOk(answered, 200, {})
    return
  }
  expectOk(answered, 200, { redirect_uri: (uri: unknown) => String(uri).startsWith(start) })
  session.code!.secret = answered.body.redirect_uri!.slice(start.length)
}

export const fetchOnly = command<{ session: number }>({
  weight: 1,
  args: fc.record({ session: some }),
  can: ({ sessions }) => sessions.length > 0,
  async run(simulation, { session: pick }) {
    const session = sessionOf(simulation.model, pick)!
    const expected = foretell(() => fetchedBy(simulation.model, session))
    const answered = await call(simulation, NOBODY, 'GET', `/wallet/request/${session.id}`)
    if (isGranted(answered, expected))
      same(answered.headers.get('content-type'), 'application/oauth-authz-req+jwt', 'content type')
  },
})

/** Nothing that is not addressed to the session ends it. */
export const respondGarbage = command<{ session: number; form: string }>({
  weight: 1,
  args: fc.record({
    session: some,
    form: fc.constantFrom('', 'response=x.y', 'vp_token=%7B%7D&state=wrong', 'error=access_denied'),
  }),
  can: ({ sessions }) => sessions.length > 0,
  async run(simulation, { session: pick, form }) {
    const session = sessionOf(simulation.model, pick)!
    const expected = foretell(() => answerGarbage(simulation.model, session))
    const answered = await post(simulation, session, form)
    if (isGranted(answered, expected)) throw new Error('garbage is never an answer')
  },
})
