import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createLanes, type DueLane, type Lane } from '../../src/webhooks/lanes.ts'

const lane = (receiver: number | string, tenant: number | string): Lane => ({ lane: `r${receiver}`, tenantId: `t${tenant}` })
const due = (receiver: number | string, tenant: number | string, dueAt = 0): DueLane => ({ ...lane(receiver, tenant), dueAt })
const names = (lanes: Lane[]) => lanes.map(each => `${each.lane} ${each.tenantId}`)
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

const WIDE = { atOnce: 1000, perReceiver: 1000, perTenant: 1000 }
const PLACES = { atOnce: 32, perReceiver: 4, perTenant: 8 }

describe('a lane', () => {
  test('is served from the moment it is due, once for each place that is free, and then waits to be added again', () => {
    const lanes = createLanes(PLACES)
    lanes.add(due(1, 1, 1000))
    expect(lanes.take(999)).toEqual([])
    expect(names(lanes.take(1000))).toEqual(times(4, 'r1 t1'))
    for (let i = 0; i < 4; i++) lanes.leave(lane(1, 1))
    expect(lanes.take(2000)).toEqual([])
    lanes.add(due(1, 1))
    expect(lanes.take(2000)).toHaveLength(4)
  })

  test('is due at the earliest of the times it was added with, in whichever order', () => {
    for (const [first, second] of [
      [500, 1000],
      [1000, 500],
    ] as const) {
      const lanes = createLanes(PLACES)
      lanes.add(due(1, 1, first))
      lanes.add(due(1, 1, second))
      expect(lanes.take(499)).toEqual([])
      expect(lanes.take(500)).toHaveLength(4)
    }
  })

  test('that finds no place stays, and has its turn when one becomes free', () => {
    const lanes = createLanes({ ...WIDE, atOnce: 1 })
    lanes.add(due(1, 1))
    lanes.add(due(2, 2))
    expect(names(lanes.take(0))).toEqual(['r1 t1'])
    expect(lanes.take(0)).toEqual([])
    lanes.leave(lane(1, 1))
    expect(names(lanes.take(0))).toEqual(['r2 t2'])
  })
})

describe('places', () => {
  test('of one receiver are four, whoever sends to it', () => {
    const lanes = createLanes(PLACES)
    for (const tenant of [1, 2, 3, 4, 5, 6]) lanes.add(due(1, tenant))
    expect(names(lanes.take(0))).toEqual(['r1 t1', 'r1 t2', 'r1 t3', 'r1 t4'])
  })

  test('of one tenant are eight, however many receivers it has', () => {
    const lanes = createLanes(PLACES)
    for (const receiver of [1, 2, 3, 4, 5]) lanes.add(due(receiver, 1))
    const taken = names(lanes.take(0))
    expect(taken).toHaveLength(8)
    expect(new Set(taken).size).toBe(5)
  })

  test('in all are thirty-two', () => {
    const lanes = createLanes(PLACES)
    for (let i = 0; i < 100; i++) lanes.add(due(i, i))
    const taken = names(lanes.take(0))
    expect(taken).toHaveLength(32)
    expect(new Set(taken).size).toBe(32)
  })

  test('are shared out before anybody has a second', () => {
    const lanes = createLanes({ ...WIDE, atOnce: 8 })
    for (const each of [1, 2, 3, 4]) lanes.add(due(each, each))
    expect(names(lanes.take(0))).toEqual(['r1 t1', 'r2 t2', 'r3 t3', 'r4 t4', 'r1 t1'])
  })

  test('are left for a tenth tenant, when nine take all they can get for receivers that never answer', () => {
    const lanes = createLanes(PLACES)
    const hanging = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(tenant => {
      for (const receiver of [1, 2, 3]) lanes.add(due(`${tenant}-${receiver}`, tenant))
      return lanes.take(0).length
    })
    expect(hanging).toEqual([8, 6, 5, 4, 3, 2, 1, 1, 1])
    lanes.add(due('good', 10))
    expect(names(lanes.take(0))).toEqual(['rgood t10'])
  })
})

type Waiting = { receiver: number; tenant: number; count: number }
const RECEIVERS = 5
const TENANTS = 4
const STEPS_MAX = 10_000

/** Deliveries as the database has them, and flights that end one at a time in an order the dice decide. */
function simulate(waiting: Waiting[], dice: number[], onTake: (underWay: Lane[], left: Map<string, number>) => void): number {
  const lanes = createLanes(PLACES)
  const left = new Map<string, number>()
  const underWay: Lane[] = []
  const keyOf = (each: Lane) => `${each.lane} ${each.tenantId}`
  for (const { receiver, tenant, count } of waiting) {
    const one = lane(receiver, tenant)
    left.set(keyOf(one), (left.get(keyOf(one)) ?? 0) + count)
    lanes.add({ ...one, dueAt: 0 })
  }
  let delivered = 0
  for (let step = 0; step < STEPS_MAX; step++) {
    // Places that a lane had no use for are offered again.
    for (let taken = lanes.take(0); taken.length > 0; taken = lanes.take(0)) {
      for (const one of taken) {
        const count = left.get(keyOf(one)) ?? 0
        if (count === 0) lanes.leave(one)
        else underWay.push(one)
        left.set(keyOf(one), Math.max(0, count - 1))
      }
      for (const one of new Set(taken)) if ((left.get(keyOf(one)) ?? 0) > 0) lanes.add({ ...one, dueAt: 0 })
    }
    onTake(underWay, left)
    if (underWay.length === 0) return delivered
    const [ended] = underWay.splice((dice[step % dice.length] ?? 0) % underWay.length, 1)
    lanes.leave(ended!)
    delivered++
  }
  throw new Error('it never ended')
}

const count = (lanes: Lane[], isIt: (one: Lane) => boolean) => lanes.filter(isIt).length

const someWaiting = fc.array(
  fc.record({
    receiver: fc.integer({ min: 0, max: RECEIVERS - 1 }),
    tenant: fc.integer({ min: 0, max: TENANTS - 1 }),
    count: fc.integer({ min: 1, max: 30 }),
  }),
  { minLength: 1, maxLength: 15 },
)
const someDice = fc.array(fc.nat(), { minLength: 1, maxLength: 50 })

test('whatever waits and however it ends: no limit is ever passed, and everything is delivered exactly once', () => {
  fc.assert(
    fc.property(someWaiting, someDice, (waiting, dice) => {
      const delivered = simulate(waiting, dice, underWay => {
        expect(underWay.length).toBeLessThanOrEqual(PLACES.atOnce)
        for (let i = 0; i < RECEIVERS; i++)
          expect(count(underWay, one => one.lane === `r${i}`)).toBeLessThanOrEqual(PLACES.perReceiver)
        for (let i = 0; i < TENANTS; i++)
          expect(count(underWay, one => one.tenantId === `t${i}`)).toBeLessThanOrEqual(PLACES.perTenant)
      })
      expect(delivered).toBe(waiting.reduce((sum, each) => sum + each.count, 0))
    }),
    { numRuns: 200 },
  )
})

test('a place that could be used is never left empty', () => {
  fc.assert(
    fc.property(someWaiting, someDice, (waiting, dice) => {
      simulate(waiting, dice, (underWay, left) => {
        for (const [key, waits] of left) {
          if (waits === 0) continue
          const held = count(underWay, one => one.tenantId === key.split(' ')[1])
          const isFull =
            PLACES.atOnce - underWay.length <= held * 3 ||
            count(underWay, one => one.lane === key.split(' ')[0]) === PLACES.perReceiver ||
            held === PLACES.perTenant
          expect([key, isFull]).toEqual([key, true])
        }
      })
    }),
    { numRuns: 200 },
  )
})

test('while a lane that has no place waits for one, every other is served at most once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 1, max: 6 }), someDice, (rivals, atOnce, dice) => {
      const lanes = createLanes({ ...WIDE, atOnce })
      const servedSince = new Map<string, Map<string, number>>()
      const underWay: Lane[] = []
      for (let i = 0; i < rivals; i++) lanes.add(due(i, i))
      for (let step = 0; step < 200; step++) {
        const taken = lanes.take(0)
        // The first round of a take: later rounds give out what nobody else waits for.
        for (const [i, key] of names(taken).entries()) {
          if (names(taken).indexOf(key) !== i) continue
          servedSince.delete(key)
          for (const since of servedSince.values()) since.set(key, (since.get(key) ?? 0) + 1)
        }
        for (const since of servedSince.values()) for (const [key, served] of since) expect([key, served]).toEqual([key, 1])
        underWay.push(...taken)
        for (const one of new Set(taken)) lanes.add({ ...one, dueAt: 0 })
        const [ended] = underWay.splice((dice[step % dice.length] ?? 0) % underWay.length, 1)
        lanes.leave(ended!)
        const [key = ''] = names([ended!])
        if (!names(underWay).includes(key)) servedSince.set(key, new Map())
      }
    }),
    { numRuns: 100 },
  )
})

test('a receiver that never answers, of a tenant with many more, leaves room for everybody else', () => {
  const lanes = createLanes(PLACES)
  for (let i = 0; i < 20; i++) lanes.add(due(`dead${i}`, 'dead'))
  expect(lanes.take(0)).toHaveLength(8)
  for (let i = 0; i < 50; i++) {
    lanes.add(due('alive', 'other'))
    expect(names(lanes.take(0))).toEqual(times(4, 'ralive tother'))
    for (let place = 0; place < 4; place++) lanes.leave(lane('alive', 'other'))
  }
})
