// Budgets against guessing. They count for the whole installation: if each of its processes had its own, they would be as many
// budgets. All other budgets protect a process from load and stay in its memory (http/rate-limit.ts).
import type { Budget } from '../base/gcra.ts'
import type { Configured, Ground, Reporting } from '../ground.ts'
import { type Allowance, allowanceOf, type Policy, paceOf, refusalOf, unlimited } from '../http/rate-limit.ts'

export const GUESS_POLICIES = [
  'enroll',
  'enroll-all',
  'enroll-known',
  'enroll-known-all',
  'login',
  'login-known',
  'login-all',
  'redeem',
  'refresh-device',
  'wallet-post',
] as const satisfies Policy[]

export type GuessPolicy = (typeof GUESS_POLICIES)[number]

export type GuessBudgets = {
  /** Takes one from the budget, or throws 429. */
  take(policy: GuessPolicy, key: string): Promise<Allowance>
  /** Takes one if the budget has one left. */
  takeIfAny(policy: GuessPolicy, key: string): Promise<boolean>
  /**
   * Returns one. Where only failures count, one is taken before the outcome is known: otherwise a thousand parallel requests
   * would all pass.
   */
  giveBack(policy: GuessPolicy, key: string): Promise<void>
}

export function createGuesses({
  shortLived,
  config,
  metrics,
}: Reporting & Configured & Pick<Ground, 'shortLived'>): GuessBudgets {
  const scale = config.rateLimitScale
  if (scale === 0) return { take: async policy => unlimited(policy), takeIfAny: async () => true, giveBack: async () => {} }
  const budget = (policy: GuessPolicy, key: string): Budget => ({ kind: policy, key, pace: paceOf(policy, scale) })
  return {
    async take(policy, key) {
      const level = await shortLived.take(budget(policy, key))
      const allowance = allowanceOf(policy, scale, level)
      if (!level.isRefused) return allowance
      metrics.count('vidimus_rate_limited_total', { policy: allowance.name })
      throw refusalOf(allowance)
    },
    takeIfAny: async (policy, key) => !(await shortLived.take(budget(policy, key))).isRefused,
    giveBack: (policy, key) => shortLived.giveBack(budget(policy, key)),
  }
}

/** `isSpared`: the guess is counted while there is room, and let through when there is none. */
export type Charge = { policy: GuessPolicy; key: string; isSpared?: boolean }

/** One from each budget, or 429 and none of any; call the returned function when the guess was right. */
export async function takeEach(budgets: GuessBudgets, charges: readonly Charge[]): Promise<() => Promise<void>> {
  const taken: Charge[] = []
  const giveBack = async () => {
    for (const { policy, key } of taken) await budgets.giveBack(policy, key)
  }
  for (const charge of charges) {
    const { policy, key, isSpared } = charge
    try {
      if (!isSpared) await budgets.take(policy, key)
      else if (!(await budgets.takeIfAny(policy, key))) continue
      taken.push(charge)
    } catch (error) {
      await giveBack()
      throw error
    }
  }
  return giveBack
}
