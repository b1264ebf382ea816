// Budgets against guessing. They count for the whole installation: with several nodes behind one address, a budget in
// each would be as many budgets. All other budgets protect a node from load and stay in its memory (http/rate-limit.ts).
import type { Allowance, Policy, RateLimits } from '../http/rate-limit.ts'

export type GuessPolicy = Extract<
  Policy,
  'enroll' | 'enroll-all' | 'login' | 'login-all' | 'redeem' | 'refresh-device' | 'wallet-post'
>

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

/** One from the caller's own budget and one from everybody's, or 429 and none of either. */
export async function takeBoth(
  budgets: GuessBudgets,
  [own, shared]: ['enroll', 'enroll-all'] | ['login', 'login-all'],
  { client, isKnown }: { client: string; isKnown: boolean },
): Promise<() => Promise<void>> {
  await budgets.take(own, client)
  const isShared = await takeShared(budgets, shared, isKnown).catch(async error => {
    await budgets.giveBack(own, client)
    throw error
  })
  return async () => {
    await budgets.giveBack(own, client)
    if (isShared) await budgets.giveBack(shared, '')
  }
}

/** Known networks are served when strangers have spent everybody's budget. */
async function takeShared(budgets: GuessBudgets, shared: GuessPolicy, isKnown: boolean): Promise<boolean> {
  if (isKnown) return await budgets.takeIfAny(shared, '')
  await budgets.take(shared, '')
  return true
}
