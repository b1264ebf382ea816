// The policies, what a request costs, and the refusal. gcra.ts counts.
import { createBudgets, intervalOf, type Level, type Pace } from '../base/gcra.ts'
import type { Clock } from '../base/time.ts'
import { apiError } from './errors.ts'

/** `total` is the limit for the whole life of a key: sessions live an hour at most. */
type Rate = { perSecond: number; burst: number; total?: number }

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
  /** New codes of phones that a session is shown. */
  'in-person': { perSecond: 1, burst: 6, total: 12 },
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
  /** Log-ins that anybody can begin, by address; token requests by client; reads of claims by token. */
  'oidc-authorize': { perSecond: 0.5, burst: 30 },
  'oidc-token': { perSecond: 10, burst: 50 },
  'oidc-userinfo': { perSecond: 1, burst: 10 },
  /** Test events, by tenant. */
  'webhook-test': { perSecond: 6 / 60, burst: 6 },
} satisfies Record<string, Rate>

export type Policy = keyof typeof POLICIES
const NAMES = Object.keys(POLICIES) as Policy[]

const TOTAL_SPENT_RETRY_SECONDS = 3600
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
  /** Counts a request in work, after its body was read, or throws 429; the returned function ends it. */
  enter(tenant: string, key: string): () => void
  /** Counts a body being read, or throws 429; the returned function ends it. */
  read(reader: string, bytes: number): () => void
}

export function createRateLimits(
  now: Clock,
  scale: number,
  onRefusal: (policy: string) => void,
  budgets = createBudgets(),
): RateLimits {
  const work = sharePlaces(IN_WORK_MAX)
  const reading = sharePlaces(READING_BYTES_MAX)
  const inWork = new Map<string, number>()

  const refuse = (spent: Allowance): never => {
    onRefusal(spent.name)
    throw refusalOf(spent)
  }

  if (scale === 0) {
    const free = () => () => {}
    return { take: unlimited, enter: free, read: free }
  }

  return {
    take(policy, key, cost = 1) {
      const level = budgets.take({ kind: policy, key, pace: paceOf(policy, scale) }, now(), cost)
      const allowance = allowanceOf(policy, scale, level)
      return level.isRefused ? refuse(allowance) : allowance
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

const rateOf = (policy: Policy, scale: number): Rate => {
  const { perSecond, burst, total }: Rate = POLICIES[policy]
  return {
    perSecond: perSecond * scale,
    burst: Math.max(1, Math.floor(burst * scale)),
    ...(total && { total: Math.max(1, Math.floor(total * scale)) }),
  }
}

export function paceOf(policy: Policy, scale: number): Pace {
  const { perSecond, burst, total = Number.POSITIVE_INFINITY } = rateOf(policy, scale)
  return { burst, interval: intervalOf(perSecond), total }
}

export function allowanceOf(policy: Policy, scale: number, { isRefused, remaining, roomMs, fullMs }: Level): Allowance {
  const { perSecond, burst } = rateOf(policy, scale)
  const fields = { name: WIRE_NAMES[policy], quota: burst, windowSeconds: Math.ceil(burst / perSecond), remaining }
  const fullSeconds = Math.ceil(fullMs / 1000)
  if (!isRefused) return { ...fields, resetSeconds: fullSeconds }
  if (roomMs === Number.POSITIVE_INFINITY) return { ...fields, resetSeconds: TOTAL_SPENT_RETRY_SECONDS }
  return { ...fields, resetSeconds: Math.max(1, Math.ceil(roomMs / 1000)), fullSeconds }
}

/** What is left where nothing is counted: a scale of 0 turns all limits off. */
export const unlimited = (policy: Policy): Allowance => ({
  name: WIRE_NAMES[policy],
  quota: 0,
  windowSeconds: 0,
  remaining: 0,
  resetSeconds: 0,
})

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
