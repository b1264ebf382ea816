// Budgets against guessing. They count for the whole installation: with several nodes behind one address, a budget in
// each would be as many budgets. All other budgets protect a node from load and stay in its memory (http/rate-limit.ts).
import type { Allowance, Policy, RateLimits } from '../http/rate-limit.ts'

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
  /** Throws 429 when the budget is spent; takes nothing. */
  check(policy: GuessPolicy, key: string): Promise<void>
  /** Returns one, where only failures count. */
  giveBack(policy: GuessPolicy, key: string): Promise<void>
  /** Forgets budgets that are full again. */
  sweep(): Promise<void>
}

export const budgetsInMemory = (limits: RateLimits): GuessBudgets => ({
  take: async (policy, key) => limits.take(policy, key),
  takeIfAny: async (policy, key) => limits.takeIfAny(policy, key),
  check: async (policy, key) => limits.check(policy, key),
  giveBack: async (policy, key) => limits.giveBack(policy, key),
  // The memory makes room by itself.
  sweep: async () => {},
})

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
