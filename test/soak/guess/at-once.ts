// All at once, a budget is no larger.

import { newSecret } from '../../../src/base/ids.ts'
import { REFRESH_PREFIX } from '../../../src/devices/tokens.ts'
import { type Answer, createVerification, type TestApp } from '../../helpers/app.ts'
import { openBrowser, setUpOwner } from '../../helpers/dashboard.ts'
import { ATTACKER, from, HOME, newAddress, type Soak } from './guess.ts'
import { WRONG_PASSWORD } from './logins.ts'
import { PLAN } from './plan.ts'
import { answered, answerFrom, enrollFrom, fetchFrom, redeem, refreshFrom } from './tries.ts'

const AT_ONCE = 90
const WRONG_CODES = 30
const CODE_TRIALS = 10
/** Before an account makes its next one wait. */
const FREE_PASSWORDS = 3
const OTHER_ATTACKER = '203.0.113.8'

type Burst = { name: string; heard: number; most: number; guess: () => Promise<Answer> }

export async function atOnce(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  await setUpOwner(app, 'olivia', HOME)
  const { id } = await createVerification(app, key)
  const { random } = soak
  const bursts: Burst[] = [
    { name: 'pairing codes', heard: 400, most: PLAN.enroll.burst, guess: () => enrollFrom(app, ATTACKER, 'VD-0000-0000') },
    { name: 'keys', heard: 401, most: PLAN.badauth.burst, guess: () => useKeyFrom(app, OTHER_ATTACKER) },
    { name: 'passwords', heard: 401, most: FREE_PASSWORDS, guess: () => logInFrom(app, newAddress(random)) },
    { name: 'requests', heard: 200, most: PLAN['wallet-get'].burst, guess: () => fetchFrom(app, '203.0.113.9', id, random) },
    {
      name: 'answers',
      heard: 400,
      most: PLAN['wallet-post'].burst,
      guess: () => answerFrom(app, '203.0.113.10', id, random),
    },
    { name: 'refresh tokens', heard: 400, most: PLAN.refresh.burst, guess: () => refreshFrom(app, ATTACKER, newToken(app)) },
  ]
  for (const { name, heard, most, guess } of bursts) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, guess))
    const found = answers.filter(({ status }) => status === heard).length
    soak.counts.guesses! += AT_ONCE
    if (Math.abs(found - most) > 1) soak.violations.push(`F29 ${name} at once: ${found} were looked at, and ${most} may be`)
  }
  await guessCodesAtOnce(app, key, soak)
}

const useKeyFrom = (app: TestApp, address: string): Promise<Answer> =>
  app.call('GET', '/v1/usage', { key: newSecret(app.deps.random, 'vk_test_'), headers: from(address) })

const logInFrom = (app: TestApp, address: string): Promise<Answer> =>
  openBrowser(app, { from: address }).logIn('olivia', WRONG_PASSWORD)

const newToken = (app: TestApp): string => newSecret(app.deps.random, REFRESH_PREFIX)

/** The right code comes behind more wrong ones than are looked at. Who is first on the way is not certain, so it may win now and then. */
async function guessCodesAtOnce(app: TestApp, key: string, { violations, counts }: Soak): Promise<void> {
  let won = 0
  for (let i = 0; i < CODE_TRIALS; i++) {
    const { id, code } = await answered(app, key)
    const wrong = Array.from({ length: WRONG_CODES }, () => redeem(app, key, id))
    const right = redeem(app, key, id, code)
    counts.guesses! += (await Promise.all(wrong)).length
    if ((await right).status === 200) won++
    app.clock.advance(60_000)
  }
  if (won > CODE_TRIALS / 5) violations.push(`F29 response codes at once: more are looked at than may be, ${won} times`)
}
