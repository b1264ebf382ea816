// Anybody who has seen the code of a session may call both routes of wallets: so often, and no more often, from wherever they come.
import { decline } from '../../src/sandbox/wallet.ts'
import { createVerification, type TestApp } from '../../test/helpers/app.ts'
import { openSession, postTo } from '../../test/helpers/exchange.ts'
import { guessFor, newAddress, type Soak } from './guess.ts'
import { PLAN } from './plan.ts'
import { budgetOf } from './reference.ts'
import { answerFrom, fetchFrom } from './tries.ts'

const SESSIONS = 3
const TTL_SECONDS = 3600

export async function walletRequests(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  const once = { name: 'requests of a session', heard: 200, gapMs: 3000 }
  for (let i = 0; i < SESSIONS; i++) {
    const { id } = await createVerification(app, key, { ttl_seconds: TTL_SECONDS })
    const guess = (own: TestApp) => fetchFrom(own, newAddress(soak.random), id, soak.random)
    await guessFor(app, 1 / 6, { ...once, guess, reference: budgetOf(PLAN['wallet-get']) }, soak)
  }
  const never = (own: TestApp) => fetchFrom(own, newAddress(soak.random), `vs_${'0'.repeat(22)}`, soak.random)
  const unknown = { ...once, name: 'requests of no session', heard: 404, guess: never }
  await guessFor(app, 1 / 6, { ...unknown, reference: budgetOf(PLAN['wallet-get']) }, soak)
  await expectAnswer(app, key, soak, 0)
}

export async function walletResponses(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  for (let i = 0; i < SESSIONS; i++) {
    const { id } = await createVerification(app, key, { ttl_seconds: TTL_SECONDS })
    const guess = (own: TestApp) => answerFrom(own, newAddress(soak.random), id, soak.random)
    const target = { name: 'answers to a session', heard: 400, gapMs: 15_000, guess }
    await guessFor(app, 1 / 6, { ...target, reference: budgetOf(PLAN['wallet-post']) }, soak)
  }
  await expectAnswer(app, key, soak, PLAN['wallet-post'].burst - 1)
}

/** What was done to other sessions, and fewer wrong answers than the budget, are no hindrance to an honest wallet. */
async function expectAnswer(app: TestApp, key: string, { random, violations }: Soak, wrongAnswers: number): Promise<void> {
  const session = await openSession({ app, key }, {})
  for (let i = 0; i < wrongAnswers; i++) await answerFrom(app, newAddress(random), session.created.id, random)
  const { status } = await postTo(session, (await decline(session.request)).form)
  if (status !== 200) violations.push(`F29: an honest wallet is answered ${status} after ${wrongAnswers} wrong answers`)
}
