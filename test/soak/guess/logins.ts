// Passwords: of one account from everywhere, of many accounts from one address, and of many from everywhere. The owner gets in at home all the while.
import type { Answer, TestApp } from '../../helpers/app.ts'
import { openBrowser, PASSWORD, setUpOwner } from '../../helpers/dashboard.ts'
import { ATTACKER, guessFor, HOME, limited, newAddress, type Soak } from './guess.ts'
import { PLAN } from './plan.ts'
import { accountFromElsewhere, budgetOf } from './reference.ts'

export const WRONG_PASSWORD = 'not the right one at all'
const FULL_AGAIN_MS = 60_000
/** Two are compared at a time and twenty wait; one more would be turned away for that. */
const WAVE = 20

export async function account(app: TestApp, soak: Soak): Promise<TestApp> {
  await setUpOwner(app, 'olivia', HOME)
  const guess = async (own: TestApp) => {
    if (soak.random.below(20) === 0) await expectOwnerIn(own, soak)
    return await openBrowser(own, { from: newAddress(soak.random) }).logIn('olivia', WRONG_PASSWORD)
  }
  const target = { name: 'passwords of an account', heard: 401, guess, reference: accountFromElsewhere(), gapMs: 20_000 }
  return await guessFor(app, 1, { ...target, isRestarted: true }, soak)
}

async function expectOwnerIn(app: TestApp, { violations, counts }: Soak): Promise<void> {
  const { status } = await openBrowser(app, { from: HOME }).logIn('olivia', PASSWORD)
  if (status !== 200) violations.push(`F29: the owner at home is answered ${status}`)
  counts.owner_logins!++
}

export async function address(app: TestApp, soak: Soak): Promise<void> {
  await setUpOwner(app, 'olivia', HOME)
  let n = 0
  const guess = (own: TestApp) => openBrowser(own, { from: ATTACKER }).logIn(`somebody${n++}`, WRONG_PASSWORD)
  const target = { name: 'passwords from an address', heard: 401, guess, reference: budgetOf(PLAN.login), gapMs: 60_000 }
  await guessFor(app, 4, target, soak)
  await expectOwnerIn(app, soak)
}

/** Everybody's budget is spent by strangers: another stranger is not heard even with the right password, and the owner is, over a restart too. */
export async function everybodysLogins(app: TestApp, soak: Soak): Promise<TestApp> {
  await setUpOwner(app, 'olivia', HOME)
  const guess = (own: TestApp) => logInAsSomebody(own, soak)
  const target = { name: 'passwords of everybody', heard: 401, guess, reference: budgetOf(PLAN['login-all']), gapMs: 400 }
  const last = await guessFor(app, 1 / 30, target, soak)
  await spendOn(last, soak)
  await last.stop()
  const again = await limited(app.dir, last.clock.now())
  soak.counts.restarts!++
  await spendOn(again, soak)
  return again
}

/** In waves, as many at once as may wait for their turn. */
async function spendOn(app: TestApp, soak: Soak): Promise<void> {
  app.clock.advance(FULL_AGAIN_MS)
  const { burst } = PLAN['login-all']
  let heard = 0
  for (let sent = 0; sent < 1.5 * burst; sent += WAVE) {
    const answers = await Promise.all(Array.from({ length: WAVE }, () => logInAsSomebody(app, soak)))
    heard += answers.filter(({ status }) => status === 401).length
    soak.counts.guesses! += WAVE
  }
  if (Math.abs(heard - burst) > 1)
    soak.violations.push(`F29 passwords of everybody at once: ${heard} were looked at, and ${burst} may be`)
  const { status } = await openBrowser(app, { from: ATTACKER }).logIn('olivia', PASSWORD)
  if (status !== 429) soak.violations.push(`F29: a stranger is answered ${status} beyond everybody's budget of passwords`)
  await expectOwnerIn(app, soak)
}

/** Another account from another address each time. */
const logInAsSomebody = (app: TestApp, { random }: Soak): Promise<Answer> =>
  openBrowser(app, { from: newAddress(random) }).logIn(`somebody${random.below(2 ** 31)}`, WRONG_PASSWORD)
