// GCRA, in memory: one time per budget and caller. A budget of rate r and burst b lets b requests through at once and r per second after.
import type { Clock } from '../time.ts'
import { apiError } from './errors.ts'

/** `total` is all that a key ever gets: sessions live an hour at most. */
type Budget = { perSecond: number; burst: number; total?: number }

export const POLICIES = {
  'key-live': { perSecond: 200, burst: 400 },
  'key-test': { perSecond: 50, burst: 100 },
  'create-live': { perSecond: 50, burst: 250 },
  'create-test': { perSecond: 25, burst: 100 },
  tenant: { perSecond: 400, burst: 800 },
  device: { perSecond: 10, burst: 30 },
  /** Unauthenticated routes; a shop's single address carries many phones. */
  ip: { perSecond: 50, burst: 200 },
  /** Pages, their assets, the API's document, and paths that do not exist; by address. */
  page: { perSecond: 100, burst: 1000 },
  /** /readyz and /metrics; by address. */
  probe: { perSecond: 10, burst: 100 },
  /** 401 answers only. */
  badauth: { perSecond: 10 / 60, burst: 30 },
  status: { perSecond: 2, burst: 10 },
  'wallet-get': { perSecond: 1, burst: 10, total: 60 },
  'wallet-post': { perSecond: 0.1, burst: 5, total: 20 },
  /** Wrong codes only. */
  redeem: { perSecond: 5 / 60, burst: 5, total: 20 },
  /** By address, and by device. */
  refresh: { perSecond: 1, burst: 60 },
  'refresh-device': { perSecond: 6 / 60, burst: 6 },
  /** Wrong codes only: by address, and of everybody together. */
  enroll: { perSecond: 5 / 60, burst: 10 },
  'enroll-all': { perSecond: 1, burst: 120 },
  /** Wrong passwords only: by address, and of everybody together. */
  login: { perSecond: 20 / 3600, burst: 20 },
  'login-all': { perSecond: 2, burst: 120 },
  /** By user: everything, and what changes something. */
  dashboard: { perSecond: 10, burst: 100 },
  'dashboard-change': { perSecond: 2, burst: 60 },
} satisfies Record<string, Budget>

export type Policy = keyof typeof POLICIES

const BUCKETS_MAX = 200_000
const TOTAL_SPENT_RETRY_SECONDS = 3600
const IN_WORK_MAX = 512
const IN_WORK_PER_KEY_MAX = 64

/** What is left of a budget; `name` is the policy's name on the wire. */
export type Allowance = { name: string; quota: number; windowSeconds: number; remaining: number; resetSeconds: number }

export type RateLimits = {
  /** Takes one from the budget, or throws 429. */
  take(policy: Policy, key: string): Allowance
  /** Takes one from the budget if there is one. */
  takeIfAny(policy: Policy, key: string): boolean
  /** Throws 429 when the budget is spent, and takes nothing. */
  check(policy: Policy, key: string): void
  /** Returns one that was taken. Where only failures count it is taken before the outcome is known, or a thousand at once would all pass. */
  giveBack(policy: Policy, key: string): void
  /** Counts a request in work, or throws 429; the returned function ends it. */
  enter(key: string): () => void
}

/** When the budget is full again, and how much was taken in all. */
type Bucket = { tat: number; taken: number }

export function createRateLimits(now: Clock, scale: number, onRefusal: (policy: string) => void): RateLimits {
  const buckets = new Map<string, Bucket>()
  const inWork = new Map<string, number>()
  let inWorkTotal = 0

  const refuse = (spent: Allowance): never => {
    onRefusal(spent.name)
    throw apiError('rate_limit_exceeded', { retryAfter: spent.resetSeconds, headers: rateLimitHeaders([spent]) })
  }

  /** When the map is full the oldest half goes: they are nearly all full budgets again, and a map that stops counting would let all through. */
  const remember = (key: string, bucket: Bucket) => {
    buckets.delete(key)
    buckets.set(key, bucket)
    if (buckets.size > BUCKETS_MAX) {
      for (const oldest of buckets.keys()) {
        if (buckets.size <= BUCKETS_MAX / 2) break
        buckets.delete(oldest)
      }
    }
  }

  /** What is left after this request; `isRefused` when there was nothing left for it. */
  const spend = (policy: Policy, key: string, cost: 0 | 1): Allowance & { isRefused?: true } => {
    const { perSecond, burst, total = Number.POSITIVE_INFINITY } = budgetOf(policy, scale)
    const intervalMs = exactInterval(perSecond)
    const at = now()
    const bucket = `${policy} ${key}`
    const { tat: before, taken } = buckets.get(bucket) ?? { tat: 0, taken: 0 }
    const tat = Math.max(before, at)
    const waitMs = tat - at - (burst - 1) * intervalMs
    const policyFields = { name: WIRE_NAMES[policy], quota: burst, windowSeconds: Math.ceil(burst / perSecond) }
    const refused = { ...policyFields, remaining: 0, isRefused: true } as const
    if (taken >= total) return { ...refused, resetSeconds: TOTAL_SPENT_RETRY_SECONDS }
    if (waitMs > 0) return { ...refused, resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)) }
    const next = tat + cost * intervalMs
    if (cost) remember(bucket, { tat: next, taken: taken + 1 })
    const usedMs = next - at
    const remaining = Math.min(Math.floor((burst * intervalMs - usedMs) / intervalMs), total - taken - cost)
    return { ...policyFields, remaining, resetSeconds: Math.ceil(usedMs / 1000) }
  }

  const spendOrRefuse = (policy: Policy, key: string, cost: 0 | 1): Allowance => {
    const allowance = spend(policy, key, cost)
    return allowance.isRefused ? refuse(allowance) : allowance
  }

  if (scale === 0) {
    const unlimited = (policy: Policy) => ({
      name: WIRE_NAMES[policy],
      quota: 0,
      windowSeconds: 0,
      remaining: 0,
      resetSeconds: 0,
    })
    return { take: unlimited, takeIfAny: () => true, check: () => {}, giveBack: () => {}, enter: () => () => {} }
  }

  return {
    take: (policy, key) => spendOrRefuse(policy, key, 1),
    takeIfAny: (policy, key) => !spend(policy, key, 1).isRefused,
    check: (policy, key) => void spendOrRefuse(policy, key, 0),
    giveBack(policy, key) {
      const bucket = buckets.get(`${policy} ${key}`)
      if (!bucket) return
      bucket.tat -= exactInterval(budgetOf(policy, scale).perSecond)
      bucket.taken--
    },
    enter(key) {
      const own = inWork.get(key) ?? 0
      if (inWorkTotal >= IN_WORK_MAX || own >= IN_WORK_PER_KEY_MAX) {
        refuse({ name: 'concurrency', quota: IN_WORK_PER_KEY_MAX, windowSeconds: 1, remaining: 0, resetSeconds: 1 })
      }
      inWorkTotal++
      inWork.set(key, own + 1)
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        inWorkTotal--
        const left = (inWork.get(key) ?? 1) - 1
        if (left === 0) inWork.delete(key)
        else inWork.set(key, left)
      }
    },
  }
}

const budgetOf = (policy: Policy, scale: number): Budget => {
  const { perSecond, burst, total }: Budget = POLICIES[policy]
  return {
    perSecond: perSecond * scale,
    burst: Math.max(1, Math.floor(burst * scale)),
    ...(total && { total: Math.max(1, Math.floor(total * scale)) }),
  }
}

/** In 1024ths of a millisecond: sums with today's time stay exact, and no rounding error costs a burst its last request. */
const exactInterval = (perSecond: number): number => Math.max(1, Math.round(1_024_000 / perSecond)) / 1024

/** Both environments have one name on the wire. */
const WIRE_NAMES = Object.fromEntries(
  Object.keys(POLICIES).map(policy => [policy, policy.replace(/-(live|test)$/, '')]),
) as Record<Policy, string>

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
