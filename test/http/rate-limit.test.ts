import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createBudgets } from '../../src/base/gcra.ts'
import { ApiError } from '../../src/http/errors.ts'
import { type Allowance, createRateLimits, POLICIES, type Policy, paceOf, rateLimitHeaders } from '../../src/http/rate-limit.ts'

const START = Date.parse('2026-03-04T12:00:00.123Z')
const HOUR_MS = 3_600_000
const NAMES = Object.keys(POLICIES) as Policy[]
/** Budgets without a total. */
const LASTING = NAMES.filter(policy => !('total' in POLICIES[policy]))

function limits(scale = 1) {
  const clock = { ms: START }
  const refusals: string[] = []
  const budgets = createBudgets()
  const made = createRateLimits(
    () => clock.ms,
    scale,
    policy => void refusals.push(policy),
    budgets,
  )
  const budget = (policy: Policy, key: string) => ({ kind: policy, key, pace: paceOf(policy, scale) })
  const takeIfAny = (policy: Policy, key: string) => !budgets.take(budget(policy, key), clock.ms, 1).isRefused
  const giveBack = (policy: Policy, key: string) => budgets.giveBack(budget(policy, key), clock.ms)
  /** Throws 429 when the budget is spent; takes nothing. */
  const check = (policy: Policy, key: string) => {
    made.take(policy, key)
    giveBack(policy, key)
  }
  return { ...made, takeIfAny, giveBack, check, clock, refusals }
}

type Limits = ReturnType<typeof limits>

/** The error of an act, if any. */
function refusal(act: () => unknown): ApiError | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    return error as ApiError
  }
}

const isAllowed = (act: () => unknown): boolean => refusal(act) === undefined

function takeAll({ take }: Limits, policy: Policy, key: string): number {
  let taken = 0
  while (isAllowed(() => take(policy, key))) taken++
  return taken
}

/**
 * The promise itself, without any state: a request is allowed unless some stretch of time that ends with it would hold more than
 * burst + rate × length, or the key has had all that it ever gets. Whole numbers only; times in milliseconds.
 */
function isWithinPromise(allowed: readonly number[], at: number, { perHour, burst, total }: Promised): boolean {
  if (allowed.length >= total) return false
  return allowed.every((from, i) => (allowed.length - i + 1 - burst) * HOUR_MS <= perHour * (at - from))
}

type Promised = { perHour: number; burst: number; total: number }

function scaled(policy: Policy, scale: number): Promised {
  const {
    perSecond,
    burst,
    total = Number.POSITIVE_INFINITY,
  }: { perSecond: number; burst: number; total?: number } = POLICIES[policy]
  return {
    perHour: Math.round(perSecond * scale * 3600),
    burst: Math.max(1, Math.floor(burst * scale)),
    total: Math.max(1, Math.floor(total * scale)),
  }
}

/** Bursts within one millisecond, and pauses of every length. */
const pauses = (intervalMs: number) =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: Math.ceil(intervalMs * 2) }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: Math.ceil(intervalMs * 40) }) },
    ),
    { minLength: 1, maxLength: 120 },
  )

describe('a budget', () => {
  for (const scale of [1, 0.5, 0.1]) {
    test(`allows what burst and rate promise, and refuses the rest (every policy, scale ${scale})`, () => {
      for (const policy of NAMES) {
        const budget = scaled(policy, scale)
        fc.assert(
          fc.property(pauses(HOUR_MS / budget.perHour), fc.integer({ min: 0, max: 40 }), (gaps, spare) => {
            const made = limits(scale)
            const allowed: number[] = []
            // Most of the burst is spent at once, because faults are at the edge.
            for (let i = 0; i < Math.min(budget.burst - spare, budget.total); i++) {
              made.take(policy, 'k')
              allowed.push(made.clock.ms)
            }
            for (const gap of gaps) {
              made.clock.ms += gap
              const expected = isWithinPromise(allowed, made.clock.ms, budget)
              expect(isAllowed(() => made.check(policy, 'k'))).toBe(expected)
              expect(isAllowed(() => made.take(policy, 'k'))).toBe(expected)
              if (expected) allowed.push(made.clock.ms)
            }
          }),
          { numRuns: 40 },
        )
      }
    })
  }

  test('a budget allows its whole burst at once and not one more, at any scale', () => {
    for (const scale of [0.001, 0.03, 0.3, 1 / 3, 0.7, 1, 1.1, 2.7, 3, 7, 33.333333]) {
      for (const policy of NAMES) {
        expect([scale, policy, takeAll(limits(scale), policy, 'k')]).toEqual([scale, policy, scaled(policy, scale).burst])
      }
    }
  })

  test('a budget allows its rate in the long run, within a tenth of a percent at any scale', () => {
    for (const scale of [0.3, 0.7, 1, 3]) {
      for (const policy of LASTING) {
        const { perSecond } = POLICIES[policy]
        // A burst of one saves nothing: the result depends on how soon each request is made.
        if (scaled(policy, scale).burst === 1) continue
        const made = limits(scale)
        takeAll(made, policy, 'k')
        const stepMs = Math.max(250, Math.floor(250 / (perSecond * scale)))
        const steps = Math.ceil(2_000_000 / (perSecond * scale) / stepMs)
        let taken = 0
        for (let i = 0; i < steps; i++) {
          made.clock.ms += stepMs
          taken += takeAll(made, policy, 'k')
        }
        const promised = ((steps * stepMs) / 1000) * perSecond * scale
        expect(taken).toBeWithin(Math.floor(promised * 0.999) - 1, Math.ceil(promised * 1.001) + 2)
      }
    }
  })

  test('the total of a session is never renewed', () => {
    for (const [policy, total] of [
      ['wallet-get', 60],
      ['wallet-post', 20],
      ['redeem', 20],
    ] as const) {
      const made = limits()
      let taken = 0
      for (let hour = 0; hour < 48; hour++) {
        taken += takeAll(made, policy, 'k')
        made.clock.ms += HOUR_MS
      }
      expect([policy, taken]).toEqual([policy, total])
      expect(made.take(policy, 'another').remaining).toBe(POLICIES[policy].burst - 1)
      expect(Number(refusal(() => made.take(policy, 'k'))?.headers['retry-after'])).toBe(3600)
    }
  })

  test('budgets are separate for each policy and key', () => {
    const made = limits()
    takeAll(made, 'status', 'a')
    expect(isAllowed(() => made.take('status', 'a'))).toBe(false)
    expect(made.take('status', 'b').remaining).toBe(9)
    expect(made.take('ip', 'a').remaining).toBe(199)
    expect(made.take('key-live', 'a').remaining).toBe(399)
    expect(made.take('key-test', 'a').remaining).toBe(99)
  })

  test('a refused request costs nothing: repeating it does not lengthen the wait', () => {
    const made = limits()
    takeAll(made, 'status', 'k')
    for (let i = 0; i < 1000; i++) expect(isAllowed(() => made.take('status', 'k'))).toBe(false)
    made.clock.ms += 500
    expect(isAllowed(() => made.take('status', 'k'))).toBe(true)
  })

  test('a request of several units takes them at once, leaves what is too little for it, and waits until there is enough', () => {
    const made = limits()
    expect(made.take('status', 'k', 4).remaining).toBe(6)
    expect(made.take('status', 'k', 4).remaining).toBe(2)
    const refused = refusal(() => made.take('status', 'k', 4))
    expect(refused?.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"status";r=2;t=1' })
    expect(made.take('status', 'k').remaining).toBe(1)
    made.clock.ms += 1499
    expect(isAllowed(() => made.take('status', 'k', 4))).toBe(false)
    made.clock.ms += 1
    expect(made.take('status', 'k', 4).remaining).toBe(0)
  })

  test('a request that costs more than a scaled budget has takes all of it', () => {
    const made = limits(0.01)
    expect(made.take('key-test', 'k', 4).remaining).toBe(0)
    expect(isAllowed(() => made.take('key-test', 'k', 4))).toBe(false)
    made.clock.ms += 2000
    expect(made.take('key-test', 'k', 4).remaining).toBe(0)
  })

  test('check takes nothing', () => {
    const made = limits()
    for (let i = 0; i < 1000; i++) made.check('badauth', 'k')
    expect(made.take('badauth', 'k').remaining).toBe(29)
    takeAll(made, 'badauth', 'k')
    expect(isAllowed(() => made.check('badauth', 'k'))).toBe(false)
  })
})

describe('a budget of failures', () => {
  test('a failure budget is charged before the outcome and refunded on success', () => {
    const made = limits()
    for (let i = 0; i < 1000; i++) {
      made.take('enroll', 'k')
      made.giveBack('enroll', 'k')
    }
    expect(takeAll(made, 'enroll', 'k')).toBe(10)
    made.giveBack('enroll', 'k')
    expect(takeAll(made, 'enroll', 'k')).toBe(1)
  })

  test('a late refund, or one to an unknown key, does not enlarge a budget', () => {
    const made = limits()
    made.take('enroll', 'k')
    made.clock.ms += HOUR_MS
    made.giveBack('enroll', 'k')
    made.giveBack('enroll', 'stranger')
    expect([takeAll(made, 'enroll', 'k'), takeAll(made, 'enroll', 'stranger')]).toEqual([10, 10])
  })

  test('takeIfAny charges like take, returns false instead of throwing, and reports no refusal', () => {
    const made = limits()
    let taken = 0
    while (made.takeIfAny('enroll-all', '')) taken++
    expect([taken, made.refusals]).toEqual([120, []])
    made.clock.ms += 1000
    expect([made.takeIfAny('enroll-all', ''), made.takeIfAny('enroll-all', '')]).toEqual([true, false])
  })
})

describe('Retry-After', () => {
  test('Retry-After is enough, and a second less is not', () => {
    for (const scale of [1, 0.5, 0.3]) {
      for (const policy of LASTING) {
        const interval = 1000 / (POLICIES[policy].perSecond * scale)
        fc.assert(
          fc.property(fc.integer({ min: 0, max: Math.ceil(interval * 3) }), later => {
            const made = limits(scale)
            takeAll(made, policy, 'k')
            made.clock.ms += later
            takeAll(made, policy, 'k')
            const refusedAt = made.clock.ms
            const retryAfter = retryAfterOf(refusal(() => made.take(policy, 'k')))
            expect(retryAfter).toBeGreaterThanOrEqual(1)
            made.clock.ms = refusedAt + (retryAfter - 1) * 1000
            expect(isAllowed(() => made.check(policy, 'k'))).toBe(false)
            made.clock.ms = refusedAt + retryAfter * 1000
            expect(isAllowed(() => made.take(policy, 'k'))).toBe(true)
          }),
          { numRuns: 20 },
        )
      }
    }
  })

  test('Retry-After of the slowest budgets is the wait until the next request', () => {
    const made = limits(0.001)
    for (const [policy, seconds] of [
      ['status', 500],
      ['badauth', 6000],
      ['create-test', 40],
    ] as const) {
      takeAll(made, policy, 'k')
      expect(retryAfterOf(refusal(() => made.check(policy, 'k')))).toBe(seconds)
    }
  })

  test('a 429 rate_limit_exceeded names the spent budget, and is reported once', () => {
    const made = limits()
    takeAll(made, 'create-live', 'k')
    made.refusals.length = 0
    const refused = refusal(() => made.take('create-live', 'k'))
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded', wireCode: 'rate_limit_exceeded' })
    expect(refused?.headers).toEqual({
      'retry-after': '1',
      'ratelimit-policy': '"create";q=250;w=5',
      ratelimit: '"create";r=0;t=1',
    })
    expect(made.refusals).toEqual(['create'])
  })
})

describe('an allowance', () => {
  test('an allowance names the policy without its environment, its burst and its window', () => {
    const made = limits()
    const shown = (policy: Policy) => {
      const { name, quota, windowSeconds } = made.take(policy, 'k')
      return [name, quota, windowSeconds]
    }
    expect(shown('key-live')).toEqual(['key', 400, 2])
    expect(shown('key-test')).toEqual(['key', 100, 2])
    expect(shown('create-live')).toEqual(['create', 250, 5])
    expect(shown('create-test')).toEqual(['create', 100, 4])
    expect(shown('tenant')).toEqual(['tenant', 800, 2])
    expect(shown('ip')).toEqual(['ip', 200, 4])
    expect(shown('badauth')).toEqual(['badauth', 30, 180])
    expect(shown('status')).toEqual(['status', 10, 5])
    expect(shown('wallet-get')).toEqual(['wallet-get', 10, 10])
    expect(shown('wallet-post')).toEqual(['wallet-post', 5, 50])
    expect(shown('redeem')).toEqual(['redeem', 5, 60])
  })

  test('remaining is the number of requests that still pass at once', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...NAMES),
        fc.constantFrom(1, 0.5, 0.3),
        fc.array(fc.nat(3000), { maxLength: 20 }),
        (policy, scale, gaps) => {
          const made = limits(scale)
          let last: Allowance = made.take(policy, 'k')
          for (const gap of gaps) {
            made.clock.ms += gap
            if (isAllowed(() => made.check(policy, 'k'))) last = made.take(policy, 'k')
            else return
          }
          expect(takeAll(made, policy, 'k')).toBe(last.remaining)
        },
      ),
    )
  })

  test('remaining is never more than the rest of the total', () => {
    const made = limits()
    for (let taken = 1; taken <= 60; taken++) {
      made.clock.ms += 1000
      expect(made.take('wallet-get', 'k').remaining).toBe(Math.min(9, 60 - taken))
    }
  })

  test('after the reset seconds the whole burst is available again', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...LASTING),
        fc.constantFrom(1, 0.5, 0.3),
        fc.integer({ min: 1, max: 40 }),
        (policy, scale, requests) => {
          const made = limits(scale)
          let last: Allowance | undefined
          for (let i = 0; i < requests && isAllowed(() => made.check(policy, 'k')); i++) last = made.take(policy, 'k')
          made.clock.ms += last!.resetSeconds * 1000
          expect(takeAll(made, policy, 'k')).toBe(last!.quota)
        },
      ),
    )
  })

  test('headers show the budget with the least left', () => {
    const allowance = (name: string, quota: number, remaining: number) => ({
      name,
      quota,
      remaining,
      windowSeconds: 2,
      resetSeconds: 1,
    })
    expect(rateLimitHeaders([allowance('key', 400, 399), allowance('tenant', 800, 5), allowance('create', 250, 249)])).toEqual({
      'ratelimit-policy': '"tenant";q=800;w=2',
      ratelimit: '"tenant";r=5;t=1',
    })
    expect(rateLimitHeaders([])).toEqual({})
  })

  test('a budget has the name of the table in headers; key and create have no environment there', () => {
    const limits = createRateLimits(
      () => 0,
      1,
      () => {},
    )
    const names = (Object.keys(POLICIES) as Policy[]).map(policy => [policy, limits.take(policy, 'k').name])
    expect(names.filter(([policy, name]) => policy !== name)).toEqual([
      ['key-live', 'key'],
      ['key-test', 'key'],
      ['create-live', 'create'],
      ['create-test', 'create'],
    ])
  })
})

describe('scale', () => {
  test('scale 0 allows everything, sends no headers and does not count requests in work', () => {
    const made = limits(0)
    for (const policy of NAMES) {
      for (let i = 0; i < 2000; i++) {
        expect(rateLimitHeaders([made.take(policy, 'k')])).toEqual({})
      }
    }
    for (let i = 0; i < 2000; i++) made.enter('t', 'k')
    expect(made.refusals).toEqual([])
  })

  test('scale 0.5 halves burst and rate', () => {
    const made = limits(0.5)
    expect(made.take('ip', 'k')).toEqual({ name: 'ip', quota: 100, windowSeconds: 4, remaining: 99, resetSeconds: 1 })
    expect(takeAll(made, 'ip', 'k')).toBe(99)
    made.clock.ms += 1000
    expect(takeAll(made, 'ip', 'k')).toBe(25)
  })

  test('a tiny scale still allows one request', () => {
    for (const policy of NAMES) expect(takeAll(limits(0.000001), policy, 'k')).toBe(1)
  })
})

describe('the memory of budgets', () => {
  const KEYS_MAX = 50_000
  const flood = (made: Limits, policy: Policy, count: number, keyOf: (i: number) => string) => {
    for (let i = 0; i < count; i++) made.takeIfAny(policy, keyOf(i))
  }

  test('a flood of invented keys never renews a spent budget early', () => {
    const made = limits()
    expect(takeAll(made, 'status', 'vs_mine 192.0.2.1')).toBe(10)
    flood(made, 'status', 5 * KEYS_MAX, i => `vs_${i} 192.0.2.${i % 200}`)
    expect(isAllowed(() => made.take('status', 'vs_mine 192.0.2.1'))).toBe(false)
  })

  test('under a flood a total stays spent as long as a session and its code live', () => {
    const made = limits()
    for (let i = 0; i < 20; i++) {
      made.take('wallet-post', 'vs_1 192.0.2.1')
      made.clock.ms += 10_000
    }
    for (let minutes = 0; minutes < 70; minutes++) {
      flood(made, 'wallet-post', 5000, i => `vs_${minutes}_${i} 192.0.2.2`)
      made.clock.ms += 60_000
      expect(isAllowed(() => made.check('wallet-post', 'vs_1 192.0.2.1'))).toBe(false)
    }
  })

  test('a full policy counts new keys by network, and does not affect other policies and networks', () => {
    const made = limits()
    flood(made, 'wallet-post', KEYS_MAX, i => `vs_${i} 192.0.2.9`)
    let taken = 0
    for (let i = 0; i < 100; i++) taken += Number(isAllowed(() => made.take('wallet-post', `vs_new_${i} 192.0.2.9`)))
    expect(taken).toBe(5)
    expect(isAllowed(() => made.take('wallet-post', 'vs_new 192.0.2.10'))).toBe(true)
    expect(made.take('wallet-get', 'vs_new 192.0.2.9').remaining).toBe(9)
    expect(made.take('status', 'vs_new 192.0.2.9').remaining).toBe(9)
  })

  test('a full policy under a flood of networks makes them share one budget', () => {
    const made = limits()
    flood(made, 'login', 2 * KEYS_MAX, i => `net${i}`)
    let taken = 0
    for (let i = 0; i < 100; i++) taken += Number(isAllowed(() => made.take('login', `late${i}`)))
    expect(taken).toBe(POLICIES.login.burst)
  })

  test('memory is free again once the budgets of a flood are full again', () => {
    const made = limits()
    flood(made, 'status', KEYS_MAX, i => `vs_${i} 192.0.2.9`)
    made.clock.ms += 500
    for (let i = 0; i < 1000; i++) {
      // Ten requests of its own key: a shared budget would be spent after the first ten.
      expect(takeAll(made, 'status', `vs_new_${i} 192.0.2.9`)).toBe(10)
    }
  })
})

const MIB = 1024 * 1024

test('bodies of one reader take at most a fifth of 128 MiB, and another reader has room', () => {
  const made = limits()
  const done = Array.from({ length: 25 }, () => made.read('slow', MIB))
  const refused = refusal(() => made.read('slow', MIB))
  expect([refused?.status, refused?.headers['retry-after']]).toEqual([429, '1'])
  expect(isAllowed(() => made.read('other', MIB))).toBe(true)
  for (const each of done) each()
  expect(isAllowed(() => made.read('slow', 25 * MIB))).toBe(true)
})

describe('requests in work', () => {
  test('a key has at most 64 requests in work, and a place is free as soon as one ends', () => {
    const made = limits()
    const leaves = Array.from({ length: 64 }, () => made.enter('tenant', 'a'))
    const refused = refusal(() => made.enter('tenant', 'a'))
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    expect(refused?.headers['retry-after']).toBe('1')
    expect(made.refusals).toEqual(['concurrency'])
    expect(isAllowed(() => made.enter('tenant', 'b'))).toBe(true)
    leaves[0]!()
    expect(isAllowed(() => made.enter('tenant', 'a'))).toBe(true)
    expect(isAllowed(() => made.enter('tenant', 'a'))).toBe(false)
  })

  test('a tenant has at most a fifth of the 512 places with all its keys, and another tenant has room', () => {
    const made = limits()
    const leaves = Array.from({ length: 102 }, (_, i) => made.enter('greedy', `k${i}`))
    expect(isAllowed(() => made.enter('greedy', 'one more'))).toBe(false)
    for (let i = 0; i < 64; i++) expect(isAllowed(() => made.enter('modest', 'm'))).toBe(true)
    expect(isAllowed(() => made.enter('greedy', 'one more'))).toBe(false)
    for (const leave of leaves) leave()
    expect(isAllowed(() => made.enter('greedy', 'one more'))).toBe(true)
  })

  test('twenty greedy tenants leave a place for the next one', () => {
    const made = limits()
    for (let tenant = 0; tenant < 20; tenant++) {
      for (let i = 0; isAllowed(() => made.enter(`t${tenant}`, `t${tenant} ${i}`)); i++);
    }
    expect(isAllowed(() => made.enter('next', 'next'))).toBe(true)
  })

  test('a refused request takes no place', () => {
    const made = limits()
    const leaves = Array.from({ length: 64 }, () => made.enter('tenant', 'a'))
    for (let i = 0; i < 1000; i++) expect(isAllowed(() => made.enter('tenant', 'a'))).toBe(false)
    for (const leave of leaves) leave()
    for (let i = 0; i < 64; i++) expect(isAllowed(() => made.enter('tenant', 'a'))).toBe(true)
    expect(isAllowed(() => made.enter('tenant', 'a'))).toBe(false)
  })

  test('leaving twice frees one place', () => {
    const made = limits()
    const leaves = Array.from({ length: 64 }, () => made.enter('tenant', 'a'))
    leaves[0]!()
    leaves[0]!()
    expect(isAllowed(() => made.enter('tenant', 'a'))).toBe(true)
    expect(isAllowed(() => made.enter('tenant', 'a'))).toBe(false)
  })

  test('requests in work are counted right in any order of start and end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), leaves: fc.boolean() }), { maxLength: 400 }),
        acts => {
          const made = limits()
          const inWork: Record<string, (() => void)[]> = { a: [], b: [], c: [] }
          for (const { key, leaves } of acts) {
            if (leaves) inWork[key]!.shift()?.()
            else {
              const fits = inWork[key]!.length < 64
              expect(refusal(() => inWork[key]!.push(made.enter(key, key))) === undefined).toBe(fits)
            }
          }
        },
      ),
    )
  })
})

const retryAfterOf = (refused: ApiError | undefined): number => Number(refused?.headers['retry-after'])
