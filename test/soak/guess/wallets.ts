// Anybody who has seen the code of a session may call both routes of wallets: each of them so often, and
// no more often, and nobody at the expense of the wallet whose session it is.
import { decline } from '../../../src/sandbox/wallet/wallet.ts'
import { createVerification, type TestApp } from '../../helpers/app.ts'
import { openSession, postTo } from '../../helpers/exchange.ts'
import { ATTACKER, guessFor, type Soak } from './guess.ts'
import { PLAN } from './plan.ts'
import { budgetOf } from './reference.ts'
import { answerFrom, fetchFrom } from './tries.ts'

const SESSIONS = 3
const TTL_SECONDS = 3600
/** As often as a session hears one client, so that its whole budget is used up. */
const PAUSE_MS = 11_000

export async function walletRequests(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  const once = { name: 'requests of a session', heard: 200, gapMs: 3000 }
  for (let i = 0; i < SESSIONS; i++) {
    const { id } = await createVerification(app, key, { ttl_seconds: TTL_SECONDS })
    const guess = (own: TestApp) => fetchFrom(own, ATTACKER, id, soak.random)
    await guessFor(app, 1 / 6, { ...once, guess, reference: budgetOf(PLAN['wallet-get']) }, soak)
  }
  const never = (own: TestApp) => fetchFrom(own, ATTACKER, `vs_${'0'.repeat(22)}`, soak.random)
  const unknown = { ...once, name: 'requests of no session', heard: 404, guess: never }
  await guessFor(app, 1 / 6, { ...unknown, reference: budgetOf(PLAN['wallet-get']) }, soak)
  await expectAnswer(app, key, soak)
}

export async function walletResponses(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  for (let i = 0; i < SESSIONS; i++) {
    const { id } = await createVerification(app, key, { ttl_seconds: TTL_SECONDS })
    const guess = (own: TestApp) => answerFrom(own, ATTACKER, id, soak.random)
    const target = { name: 'answers to a session', heard: 400, gapMs: 15_000, guess }
    await guessFor(app, 1 / 6, { ...target, reference: budgetOf(PLAN['wallet-post']) }, soak)
  }
  await expectAnswer(app, key, soak)
}

/** An honest wallet still fetches its request and answers, after any attack on its session. */
async function expectAnswer(app: TestApp, key: string, { random, violations }: Soak): Promise<void> {
  const session = await openSession({ app, key }, { ttl_seconds: TTL_SECONDS })
  const { id } = session.created
  for (let i = 0; i < PLAN['wallet-get'].total; i++) {
    await fetchFrom(app, ATTACKER, id, random)
    await answerFrom(app, ATTACKER, id, random)
    app.clock.advance(PAUSE_MS)
  }
  const { status } = await postTo(session, (await decline(session.request)).form)
  if (status !== 200) violations.push(`F29: an honest wallet is answered ${status} after what somebody else did to its session`)
}
