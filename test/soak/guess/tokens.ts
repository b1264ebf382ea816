// Refresh tokens: made up, from one address; and one that was spent, from everywhere.

import { newSecret } from '../../../src/base/ids.ts'
import { REFRESH_PREFIX } from '../../../src/devices/tokens.ts'
import type { TestApp } from '../../helpers/app.ts'
import { pair } from '../../helpers/devices.ts'
import { ATTACKER, guessFor, HOME, newAddress, type Soak } from './guess.ts'
import { PLAN } from './plan.ts'
import { budgetOf } from './reference.ts'
import { refreshFrom } from './tries.ts'

export async function refreshes(app: TestApp, soak: Soak): Promise<void> {
  const { refresh_token } = await pair(app, (await app.tenant()).key)
  const guess = (own: TestApp) => refreshFrom(own, ATTACKER, newSecret(own.deps.random, REFRESH_PREFIX))
  const target = { name: 'refresh tokens', heard: 400, guess, reference: budgetOf(PLAN.refresh), gapMs: 1500 }
  await guessFor(app, 1 / 6, target, soak)
  const { status } = await refreshFrom(app, HOME, refresh_token)
  if (status !== 200) soak.violations.push(`F29: the right refresh token from elsewhere is answered ${status}`)
}

/** A spent token revokes its device, and its holder causes no more work than the budget of the device allows. */
export async function reuse(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  const [stolen, other] = [await pair(app, key), await pair(app, key)]
  const reference = budgetOf(PLAN['refresh-device'])
  const guess = (own: TestApp) => refreshFrom(own, newAddress(soak.random), stolen.refresh_token)
  const first = await guess(app)
  if (first.status !== 200 || !reference.mayGuess(app.clock.now())) soak.violations.push('F29: a till cannot refresh')
  await guessFor(app, 1 / 2, { name: 'a spent refresh token', heard: 400, guess, reference, gapMs: 15_000 }, soak)
  const { status } = await refreshFrom(app, HOME, other.refresh_token)
  if (status !== 200) soak.violations.push(`F29: another till of the tenant is answered ${status}`)
}
