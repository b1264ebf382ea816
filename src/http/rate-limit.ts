// GCRA in memory: one timestamp per budget and caller. A budget of rate r and burst b allows b
// requests at once and r per second after that.
import type { Clock } from '../time.ts'
import { apiError } from './errors.ts'

/** `total` is the limit for the whole life of a key: sessions live an hour at most. */
type Budget = { perSecond: number; burst: number; total?: number }

export const POLICIES = {
  'key-live': { perSecond: 200, burst: 400 },
  'key-test': { perSecond: 50, burst: 100 },
  'create-live': { perSecond: 50, burst: 250 },
  'create-test': { perSecond: 25, burst: 100 },
  tenant: { perSecond: 400, burst: 800 },
  device: { perSecond: 10, burst: 30 },
  /** Unauthenticated routes; many phones share the address of a shop. */
  ip: { perSecond: 50, burst: 200 },
  /** Pages, their assets, the API document, and unknown paths; by address. */
  page: { perSecond: 100, burst: 1000 },
  /** /readyz and /metrics; by address. */
  probe: { perSecond: 10, burst: 100 },
  /** Counts 401 responses only. */
  badauth: { perSecond: 10 / 60, burst: 30 },
  status: { perSecond: 2, burst: 10 },
  'wallet-get': { perSecond: 1, burst: 10, total: 60 },
  'wallet-post': { perSecond: 0.1, burst: 5, total: 20 },
  /** Wrong codes only. */
  redeem: { perSecond: 5 / 60, burst: 5, total: 20 },
  /** Counted per address and per device. */
  refresh: { perSecond: 1, burst: 60 },
  'refresh-device': { perSecond: 6 / 60, burst: 6 },
  /** Counts wrong codes only; by address, and in total. Known networks have budgets of their own. */
  enroll: { perSecond: 5 / 60, burst: 10 },
  'enroll-all': { perSecond: 1, burst: 120 },
  'enroll-known': { perSecond: 1, burst: 60 },
  'enroll-known-all': { perSecond: 1, burst: 120 },
  /** Counts wrong passwords only; by address, and in total. Known browsers and open sessions are not charged to their address. */
  login: { perSecond: 20 / 3600, burst: 20 },
  'login-known': { perSecond: 20 / 3600, burst: 20 },
  'login-all': { perSecond: 2, burst: 120 },
  /** Counted per user: all requests, and changes. */
  dashboard: { perSecond: 10, burst: 100 },
  'dashboard-change': { perSecond: 2, burst: 60 },
  /** Test events, by tenant. */
  'webhook-test': { perSecond: 6 / 60, burst: 6 },
} satisfies Record<string, Budget>

export type Policy = keyof typeof POLICIES
const NAMES = Object.keys(POLICIES) as Policy[]

/** Per policy, so that a flood of one kind of key does not affect the others. */
const BUCKETS_MAX = 50_000
const LOOKED_AT_PER_NEWCOMER = 2
export const TOTAL_SPENT_RETRY_SECONDS = 3600
/** Longer than the life of a session and its response code. */
export const TOTAL_KEPT_MS = 7_200_000
const IN_WORK_MAX = 512
const IN_WORK_PER_KEY_MAX = 64
const READING_BYTES_MAX = 128 * 1024 * 1024

/** A request for 25 rows costs as much as one for a single row; one for 100 costs four times that. */
const ROWS_PER_UNIT = 25
/** No list has more. */
const ROWS_MAX = 100
/** Characters of a query's JSON that cost as much as a request. */
const QUERY_CHARS_PER_UNIT = 16 * 1024

const costOfRows = (rows: number): number => Math.max(1, Math.ceil(rows / ROWS_PER_UNIT))
/** Beside that of the request itself. */
export const costOfQuery = (query: object): number => Math.floor(JSON.stringify(query).length / QUERY_CHARS_PER_UNIT)

/** What a list costs, by the limit in its address; one without a limit, or with a wrong one, costs one. */
export function costOfList({ url }: Request): number {
  const limit = url.includes('?') ? Number(new URL(url).searchParams.get('limit')) : 0
  return limit <= ROWS_MAX ? costOfRows(limit) : 1
}

/** The rest of a budget; `name` is the name of the policy in headers. A spent one has room after `resetSeconds`, and is full later. */
export type Allowance = {
  name: string
  quota: number
  windowSeconds: number
  remaining: number
  resetSeconds: number
  fullSeconds?: number
}

export type RateLimits = {
  /** Takes the cost of a request from the budget, or throws 429. One that costs more than the whole budget takes it all. */
  take(policy: Policy, key: string, cost?: number): Allowance
  /** Takes one if the budget has one left. */
  takeIfAny(policy: Policy, key: string): boolean
  /** Throws 429 when the budget is spent; takes nothing. */
  check(policy: Policy, key: string): void
  /**
   * Returns one. Where only failures count, one is taken before the outcome is known: otherwise a
   * thousand parallel requests would all pass.
   */
  giveBack(policy: Policy, key: string): void
  /** Counts a request in work, after its body was read, or throws 429; the returned function ends it. */
  enter(tenant: string, key: string): () => void
  /** Counts a body being read, or throws 429; the returned function ends it. */
  read(reader: string, bytes: number): () => void
}

/** `tat`: the time when the budget is full again. `taken`: in all. `forgetAt`: when both may be dropped. */
type Bucket = { tat: number; taken: number; forgetAt: number }

export function createRateLimits(now: Clock, scale: number, onRefusal: (policy: string) => void): RateLimits {
  const bucketsOf = Object.fromEntries(NAMES.map(policy => [policy, createBuckets()])) as Record<Policy, Buckets>
  const overflow = createBuckets()
  const work = sharePlaces(IN_WORK_MAX)
  const reading = sharePlaces(READING_BYTES_MAX)
  const inWork = new Map<string, number>()

  const refuse = (spent: Allowance): never => {
    onRefusal(spent.name)
    throw refusalOf(spent)
  }

  /**
   * The bucket of a key. A bucket is dropped only when its budget is full again. While all buckets
   * of a policy are in use, new keys share one by the last word of the key, which is the network
   * for all unauthenticated budgets: they pay for it, and no spent budget is renewed early.
   */
  const find = (policy: Policy, key: string, at: number) => {
    const own = bucketsOf[policy]
    if (own.has(key) || own.hasRoom(at)) return { buckets: own, name: key }
    const shared = `${policy} ${key.slice(key.lastIndexOf(' ') + 1)}`
    if (overflow.has(shared) || overflow.hasRoom(at)) return { buckets: overflow, name: shared }
    return { buckets: overflow, name: policy }
  }

  /** The rest after this request; `isRefused` when less was left than it costs. A cost of 0 asks whether one is left. */
  const spend = (policy: Policy, key: string, asked: number): Allowance & { isRefused?: true } => {
    const { perSecond, burst, total: ownTotal = Number.POSITIVE_INFINITY } = budgetOf(policy, scale)
    const intervalMs = exactInterval(perSecond)
    const cost = Math.min(asked, burst)
    const at = now()
    const { buckets, name } = find(policy, key, at)
    const { tat: before, taken } = buckets.get(name) ?? { tat: 0, taken: 0 }
    // A total belongs to one session; a shared bucket has none.
    const total = buckets === overflow ? Number.POSITIVE_INFINITY : ownTotal
    const tat = Math.max(before, at)
    const waitMs = tat - at - (burst - Math.max(1, cost)) * intervalMs
    const fields = policyFields(policy, scale)
    const left = (until: number, spent: number) =>
      Math.min(Math.floor((burst * intervalMs - (until - at)) / intervalMs), total - spent)
    const refused = { ...fields, isRefused: true } as const
    if (taken >= total) return { ...refused, remaining: 0, resetSeconds: TOTAL_SPENT_RETRY_SECONDS }
    if (waitMs > 0) {
      const fullSeconds = Math.ceil((tat - at) / 1000)
      const resetSeconds = Math.max(1, Math.ceil(waitMs / 1000))
      return { ...refused, remaining: Math.max(0, left(tat, taken)), resetSeconds, fullSeconds }
    }
    const next = tat + cost * intervalMs
    if (cost) {
      const totalKept = (TOTAL_KEPT_MS * (taken + cost)) / total
      buckets.set(name, { tat: next, taken: taken + cost, forgetAt: Math.max(next, at + totalKept) })
    }
    return { ...fields, remaining: left(next, taken + cost), resetSeconds: Math.ceil((next - at) / 1000) }
  }

  const spendOrRefuse = (policy: Policy, key: string, cost: number): Allowance => {
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
    const free = () => () => {}
    return { take: unlimited, takeIfAny: () => true, check: () => {}, giveBack: () => {}, enter: free, read: free }
  }

  return {
    take: (policy, key, cost = 1) => spendOrRefuse(policy, key, cost),
    takeIfAny: (policy, key) => !spend(policy, key, 1).isRefused,
    check: (policy, key) => void spendOrRefuse(policy, key, 0),
    giveBack(policy, key) {
      const { buckets, name } = find(policy, key, now())
      const bucket = buckets.get(name)
      if (!bucket) return
      bucket.tat -= exactInterval(budgetOf(policy, scale).perSecond)
      bucket.taken--
    },
    enter(tenant, key) {
      const own = inWork.get(key) ?? 0
      const leave = own < IN_WORK_PER_KEY_MAX ? work.take(tenant, 1) : undefined
      if (!leave) return refuse(CONCURRENCY)
      inWork.set(key, own + 1)
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        leave()
        const left = (inWork.get(key) ?? 1) - 1
        if (left === 0) inWork.delete(key)
        else inWork.set(key, left)
      }
    },
    read: (reader, bytes) => reading.take(reader, bytes) ?? refuse(CONCURRENCY),
  }
}

const CONCURRENCY: Allowance = {
  name: 'concurrency',
  quota: IN_WORK_PER_KEY_MAX,
  windowSeconds: 1,
  remaining: 0,
  resetSeconds: 1,
}

/** Shared places: each user may hold a quarter of the free ones. One alone gets a fifth of all, which leaves room for others. */
function sharePlaces(count: number) {
  const taken = new Map<string, number>()
  let free = count
  return {
    /** The returned function releases the places; undefined when the share is used up. */
    take(sharer: string, places: number): (() => void) | undefined {
      const own = taken.get(sharer) ?? 0
      if ((own + places) * 4 > free) return undefined
      free -= places
      taken.set(sharer, own + places)
      return () => {
        free += places
        const left = (taken.get(sharer) ?? places) - places
        if (left === 0) taken.delete(sharer)
        else taken.set(sharer, left)
      }
    },
  }
}

type Buckets = ReturnType<typeof createBuckets>

/** Each new key checks two others in turn and drops those that are full again, so room grows as fast as it is needed. */
function createBuckets() {
  const buckets = new Map<string, Bucket>()
  let turn = buckets.entries()
  const lookAtNext = (at: number): void => {
    const { value, done } = turn.next()
    if (done) turn = buckets.entries()
    else if (value[1].forgetAt <= at) buckets.delete(value[0])
  }
  return {
    get: (key: string) => buckets.get(key),
    set: (key: string, bucket: Bucket) => void buckets.set(key, bucket),
    has: (key: string) => buckets.has(key),
    hasRoom(at: number): boolean {
      // Nothing is dropped while there is room, and totals are exact.
      if (buckets.size < BUCKETS_MAX / 2) return true
      for (let i = 0; i < LOOKED_AT_PER_NEWCOMER; i++) lookAtNext(at)
      return buckets.size < BUCKETS_MAX
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

/**
 * The interval in 1024ths of a millisecond: sums with the current time stay exact, and rounding
 * never costs the last request of a burst.
 */
const exactInterval = (perSecond: number): number => Math.max(1, Math.round((1000 * PARTS_PER_MS) / perSecond)) / PARTS_PER_MS

/** Parts of a millisecond in which intervals are whole numbers. */
export const PARTS_PER_MS = 1024

/** `interval`: between two requests at the steady rate, in parts of a millisecond. */
export type Pace = { burst: number; interval: number; total: number }

/** A budget for those who count elsewhere. */
export function paceOf(policy: Policy, scale: number): Pace {
  const { perSecond, burst, total = Number.POSITIVE_INFINITY } = budgetOf(policy, scale)
  return { burst, interval: exactInterval(perSecond) * PARTS_PER_MS, total }
}

export function policyFields(policy: Policy, scale: number): Pick<Allowance, 'name' | 'quota' | 'windowSeconds'> {
  const { perSecond, burst } = budgetOf(policy, scale)
  return { name: WIRE_NAMES[policy], quota: burst, windowSeconds: Math.ceil(burst / perSecond) }
}

export const refusalOf = (spent: Allowance) =>
  apiError('rate_limit_exceeded', {
    retryAfter: spent.resetSeconds,
    headers: rateLimitHeaders([spent]),
    ...(spent.fullSeconds && {
      message: `The budget "${spent.name}" is empty: it has room again in ${spent.resetSeconds} s, and is full in ${spent.fullSeconds} s.`,
    }),
  })

/** Both environments of keys and creations share a name in headers. */
const WIRE_NAMES = Object.fromEntries(NAMES.map(policy => [policy, policy.replace(/^(key|create)-.*/, '$1')])) as Record<
  Policy,
  string
>

/** Headers of the RateLimit draft for the budget with the least left. */
export function rateLimitHeaders(allowances: Allowance[]): Record<string, string> {
  const tightest = allowances.filter(each => each.quota > 0).sort((a, b) => a.remaining / a.quota - b.remaining / b.quota)[0]
  if (!tightest) return {}
  const { name, quota, windowSeconds, remaining, resetSeconds } = tightest
  return {
    'ratelimit-policy': `"${name}";q=${quota};w=${windowSeconds}`,
    ratelimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  }
}
