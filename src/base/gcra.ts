// GCRA: one time per budget. A budget of rate r and burst b allows b requests at once and r per second after that. Times are
// in 1024ths of a millisecond: sums with the current time stay exact, and rounding never costs the last request of a burst.

/** Parts of a millisecond in which intervals are whole numbers. */
export const PARTS_PER_MS = 1024
/** Longer than the life of a session and its response code. */
export const TOTAL_KEPT_MS = 7_200_000
/** Per kind, so that a flood of one kind of key does not affect the others. */
const BUCKETS_MAX = 50_000
const LOOKED_AT_PER_NEWCOMER = 2

/** `interval`: between two requests at the steady rate, in parts of a millisecond. `total`: the limit for the whole life of a key. */
export type Pace = { burst: number; interval: number; total: number }

/** Whose budget: the kind of request, and the caller. */
export type Budget = { kind: string; key: string; pace: Pace }

/** `fullAt`: when the budget is full again, in parts of a millisecond. `taken`: in all. */
export type Bucket = { fullAt: number; taken: number }

/** `roomMs`: until a refused request fits; infinite when the total is spent. `fullMs`: until the budget is full. */
export type Level = { isRefused: boolean; remaining: number; roomMs: number; fullMs: number }

export const FULL: Bucket = { fullAt: 0, taken: 0 }

export const intervalOf = (perSecond: number): number => Math.max(1, Math.round((1000 * PARTS_PER_MS) / perSecond))

/** The bucket after `cost` was taken; undefined when less is left. */
export function takenFrom(
  { fullAt, taken }: Bucket,
  { burst, interval, total }: Pace,
  at: number,
  cost: number,
): Bucket | undefined {
  const from = Math.max(fullAt, at * PARTS_PER_MS)
  if (taken >= total || from - at * PARTS_PER_MS > (burst - cost) * interval) return undefined
  return { fullAt: from + cost * interval, taken: taken + cost }
}

/** What is left; `isRefused` when `cost` was not taken. */
export function levelOf({ fullAt, taken }: Bucket, pace: Pace, at: number, cost: number, isRefused: boolean): Level {
  const { burst, interval, total } = pace
  const used = Math.max(0, fullAt - at * PARTS_PER_MS)
  const remaining = Math.max(0, Math.min(Math.floor((burst * interval - used) / interval), total - taken))
  const roomMs = taken >= total ? Number.POSITIVE_INFINITY : (used - (burst - cost) * interval) / PARTS_PER_MS
  return { isRefused, remaining, roomMs, fullMs: used / PARTS_PER_MS }
}

/** When bucket and total may be dropped. */
const forgetAtOf = ({ fullAt, taken }: Bucket, { total }: Pace, at: number): number =>
  Math.max(fullAt / PARTS_PER_MS, at + (TOTAL_KEPT_MS * taken) / total)

/** A budget that new keys share while there is no room for their own: by the last word of the key, which is the network. */
export const sharedBudget = ({ kind, key, pace }: Budget): Budget => ({
  kind: `${kind} of all`,
  key: key.slice(key.lastIndexOf(' ') + 1),
  // A total belongs to one session.
  pace: { ...pace, total: Number.POSITIVE_INFINITY },
})

export type Budgets = {
  /** One that costs more than the whole budget takes it all. */
  take(budget: Budget, at: number, cost: number): Level
  giveBack(budget: Budget, at: number): void
}

/**
 * Budgets in memory. A bucket is dropped only when its budget is full again. While all buckets of a kind are in use, new keys
 * share one, which they pay for, and no spent budget is renewed early.
 */
export function createBudgets(): Budgets {
  const kinds = new Map<string, Buckets>()
  const overflow = createBuckets()

  const find = (budget: Budget, at: number) => {
    const { kind, key, pace } = budget
    const own = kinds.get(kind) ?? createBuckets()
    kinds.set(kind, own)
    if (own.has(key) || own.hasRoom(at)) return { buckets: own, name: key, pace }
    const shared = sharedBudget(budget)
    const name = `${kind} ${shared.key}`
    if (overflow.has(name) || overflow.hasRoom(at)) return { buckets: overflow, name, pace: shared.pace }
    return { buckets: overflow, name: kind, pace: shared.pace }
  }

  return {
    take(budget, at, asked) {
      const { buckets, name, pace } = find(budget, at)
      const cost = Math.min(asked, pace.burst)
      const before = buckets.get(name) ?? FULL
      const after = takenFrom(before, pace, at, cost)
      if (after) buckets.set(name, after, forgetAtOf(after, pace, at))
      return levelOf(after ?? before, pace, at, cost, !after)
    },
    giveBack(budget, at) {
      const { buckets, name, pace } = find(budget, at)
      buckets.giveBack(name, pace.interval)
    },
  }
}

type Buckets = ReturnType<typeof createBuckets>

/** Each new key checks two others in turn and drops those that are full again, so room grows as fast as it is needed. */
function createBuckets() {
  const buckets = new Map<string, Bucket & { forgetAt: number }>()
  let turn = buckets.entries()
  const lookAtNext = (at: number): void => {
    const { value, done } = turn.next()
    if (done) turn = buckets.entries()
    else if (value[1].forgetAt <= at) buckets.delete(value[0])
  }
  return {
    get: (key: string) => buckets.get(key),
    set: (key: string, { fullAt, taken }: Bucket, forgetAt: number) => void buckets.set(key, { fullAt, taken, forgetAt }),
    has: (key: string) => buckets.has(key),
    giveBack(key: string, interval: number): void {
      const bucket = buckets.get(key)
      if (!bucket) return
      bucket.fullAt -= interval
      bucket.taken--
    },
    hasRoom(at: number): boolean {
      // Nothing is dropped while there is room, and totals are exact.
      if (buckets.size < BUCKETS_MAX / 2) return true
      for (let i = 0; i < LOOKED_AT_PER_NEWCOMER; i++) lookAtNext(at)
      return buckets.size < BUCKETS_MAX
    },
  }
}
