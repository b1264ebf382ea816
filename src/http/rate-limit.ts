// GCRA, in memory: one time per budget and caller. A budget of rate r and burst b lets b requests through at once and r per second after.
import type { Clock } from '../time.ts'
import { apiError } from './errors.ts'

type Budget = { perSecond: number; burst: number }

export const POLICIES = {
  'key-live': { perSecond: 200, burst: 400 },
  'key-test': { perSecond: 50, burst: 100 },
  'create-live': { perSecond: 50, burst: 250 },
  'create-test': { perSecond: 25, burst: 100 },
  tenant: { perSecond: 400, burst: 800 },
  /** Unauthenticated routes; a shop's single address carries many phones. */
  ip: { perSecond: 50, burst: 200 },
  /** 401 answers only. */
  badauth: { perSecond: 10 / 60, burst: 30 },
  status: { perSecond: 2, burst: 10 },
} as const satisfies Record<string, Budget>

export type Policy = keyof typeof POLICIES

const BUCKETS_MAX = 200_000
const IN_WORK_MAX = 512
const IN_WORK_PER_KEY_MAX = 64

/** What is left of a budget; `name` is the policy's name on the wire. */
export type Allowance = { name: string; quota: number; windowSeconds: number; remaining: number; resetSeconds: number }

export type RateLimits = {
  /** Takes one from the budget, or throws 429. */
  take(policy: Policy, key: string): Allowance
  /** Throws 429 when the budget is spent, and takes nothing. */
  check(policy: Policy, key: string): void
  /** Counts a request in work, or throws 429; the returned function ends it. */
  enter(key: string): () => void
}

export function createRateLimits(now: Clock, scale: number, onRefusal: (policy: string) => void): RateLimits {
  const buckets = new Map<string, number>()
  const inWork = new Map<string, number>()
  let inWorkTotal = 0

  const refuse = (spent: Allowance): never => {
    onRefusal(spent.name)
    throw apiError('rate_limit_exceeded', { retryAfter: spent.resetSeconds, headers: rateLimitHeaders([spent]) })
  }

  /** When the map is full the oldest half goes: they are nearly all full budgets again, and a map that stops counting would let all through. */
  const remember = (key: string, tat: number) => {
    buckets.delete(key)
    buckets.set(key, tat)
    if (buckets.size > BUCKETS_MAX) {
      for (const oldest of buckets.keys()) {
        if (buckets.size <= BUCKETS_MAX / 2) break
        buckets.delete(oldest)
      }
    }
  }

  const spend = (policy: Policy, key: string, cost: 0 | 1): Allowance => {
    const { perSecond, burst } = budgetOf(policy, scale)
    const intervalMs = 1000 / perSecond
    const at = now()
    const bucket = `${policy} ${key}`
    const tat = Math.max(buckets.get(bucket) ?? 0, at)
    const waitMs = tat - at - (burst - 1) * intervalMs
    const policyFields = { name: nameOf(policy), quota: burst, windowSeconds: Math.ceil(burst / perSecond) }
    // Half a microsecond of slack: the interval need not be a whole number of milliseconds.
    if (waitMs > 0.0005) refuse({ ...policyFields, remaining: 0, resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)) })
    const next = tat + cost * intervalMs
    if (cost) remember(bucket, next)
    const usedMs = next - at
    const remaining = Math.max(0, Math.floor(burst - usedMs / intervalMs + 1e-6))
    return { ...policyFields, remaining, resetSeconds: Math.ceil(usedMs / 1000) }
  }

  if (scale === 0) {
    const unlimited = (policy: Policy) => ({ name: nameOf(policy), quota: 0, windowSeconds: 0, remaining: 0, resetSeconds: 0 })
    return { take: unlimited, check: () => {}, enter: () => () => {} }
  }

  return {
    take: (policy, key) => spend(policy, key, 1),
    check: (policy, key) => void spend(policy, key, 0),
    enter(key) {
      const own = inWork.get(key) ?? 0
      if (inWorkTotal >= IN_WORK_MAX || own >= IN_WORK_PER_KEY_MAX) {
        refuse({ name: 'concurrency', quota: IN_WORK_PER_KEY_MAX, windowSeconds: 1, remaining: 0, resetSeconds: 1 })
      }
      inWorkTotal++
      inWork.set(key, own + 1)
      return () => {
        inWorkTotal--
        const left = (inWork.get(key) ?? 1) - 1
        if (left === 0) inWork.delete(key)
        else inWork.set(key, left)
      }
    },
  }
}

const budgetOf = (policy: Policy, scale: number): Budget => {
  const { perSecond, burst } = POLICIES[policy]
  return { perSecond: perSecond * scale, burst: Math.max(1, Math.floor(burst * scale)) }
}

const nameOf = (policy: Policy): string => policy.replace(/-(live|test)$/, '')

/** The fields of the RateLimit draft for the budget that is nearest to its end. */
export function rateLimitHeaders(allowances: Allowance[]): Record<string, string> {
  const tightest = allowances.filter(each => each.quota > 0).sort((a, b) => a.remaining / a.quota - b.remaining / b.quota)[0]
  if (!tightest) return {}
  const { name, quota, windowSeconds, remaining, resetSeconds } = tightest
  return {
    'ratelimit-policy': `"${name}";q=${quota};w=${windowSeconds}`,
    ratelimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  }
}
