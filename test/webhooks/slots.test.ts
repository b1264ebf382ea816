import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSlots } from '../../src/webhooks/delivery/slots.ts'
import type { DueQueue } from '../../src/webhooks/lease-store.ts'
import type { Queue } from '../../src/webhooks/store.ts'

const queue = (receiver: number | string, tenant: number | string): Queue => ({
  receiver: `r${receiver}`,
  tenantId: `t${tenant}`,
})
const due = (receiver: number | string, tenant: number | string, dueAt = 0): DueQueue => ({ ...queue(receiver, tenant), dueAt })
const names = (queues: Queue[]) => queues.map(each => `${each.receiver} ${each.tenantId}`)
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

const WIDE = { atOnce: 1000, perReceiver: 1000, perTenant: 1000 }
const SLOTS = { atOnce: 32, perReceiver: 4, perTenant: 8 }

describe('a queue', () => {
  test('is taken from the moment it is due, once for each free slot, and then only when it is added again', () => {
    const slots = createSlots(SLOTS)
    slots.add(due(1, 1, 1000))
    expect(slots.take(999)).toEqual([])
    expect(names(slots.take(1000))).toEqual(times(4, 'r1 t1'))
    for (let i = 0; i < 4; i++) slots.release(queue(1, 1))
    expect(slots.take(2000)).toEqual([])
    slots.add(due(1, 1))
    expect(slots.take(2000)).toHaveLength(4)
  })

  test('is due at the earliest of the times it was added with, in any order', () => {
    for (const [first, second] of [
      [500, 1000],
      [1000, 500],
    ] as const) {
      const slots = createSlots(SLOTS)
      slots.add(due(1, 1, first))
      slots.add(due(1, 1, second))
      expect(slots.take(499)).toEqual([])
      expect(slots.take(500)).toHaveLength(4)
    }
  })

  test('without a free slot is taken when one is released', () => {
    const slots = createSlots({ ...WIDE, atOnce: 1 })
    slots.add(due(1, 1))
    slots.add(due(2, 2))
    expect(names(slots.take(0))).toEqual(['r1 t1'])
    expect(slots.take(0)).toEqual([])
    slots.release(queue(1, 1))
    expect(names(slots.take(0))).toEqual(['r2 t2'])
  })
})

describe('slots', () => {
  test('one receiver has four, whichever tenants send to it', () => {
    const slots = createSlots(SLOTS)
    for (const tenant of [1, 2, 3, 4, 5, 6]) slots.add(due(1, tenant))
    expect(names(slots.take(0))).toEqual(['r1 t1', 'r1 t2', 'r1 t3', 'r1 t4'])
  })

  test('one tenant has eight, however many receivers it has', () => {
    const slots = createSlots(SLOTS)
    for (const receiver of [1, 2, 3, 4, 5]) slots.add(due(receiver, 1))
    const taken = names(slots.take(0))
    expect(taken).toHaveLength(8)
    expect(new Set(taken).size).toBe(5)
  })

  test('there are thirty-two in all', () => {
    const slots = createSlots(SLOTS)
    for (let i = 0; i < 100; i++) slots.add(due(i, i))
    const taken = names(slots.take(0))
    expect(taken).toHaveLength(32)
    expect(new Set(taken).size).toBe(32)
  })

  test('every queue gets one before any queue gets a second', () => {
    const slots = createSlots({ ...WIDE, atOnce: 8 })
    for (const each of [1, 2, 3, 4]) slots.add(due(each, each))
    expect(names(slots.take(0))).toEqual(['r1 t1', 'r2 t2', 'r3 t3', 'r4 t4', 'r1 t1'])
  })

  test('a tenth tenant gets one when nine tenants hold all they can for receivers that never answer', () => {
    const slots = createSlots(SLOTS)
    const hanging = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(tenant => {
      for (const receiver of [1, 2, 3]) slots.add(due(`${tenant}-${receiver}`, tenant))
      return slots.take(0).length
    })
    expect(hanging).toEqual([8, 6, 5, 4, 3, 2, 1, 1, 1])
    slots.add(due('good', 10))
    expect(names(slots.take(0))).toEqual(['rgood t10'])
  })
})

type Waiting = { receiver: number; tenant: number; count: number }
const RECEIVERS = 5
const TENANTS = 4
const STEPS_MAX = 10_000

/** Deliveries as the database has them, and attempts that end one at a time in an order that the dice decide. */
function simulate(waiting: Waiting[], dice: number[], onTake: (underWay: Queue[], left: Map<string, number>) => void): number {
  const slots = createSlots(SLOTS)
  const left = new Map<string, number>()
  const underWay: Queue[] = []
  const keyOf = (each: Queue) => `${each.receiver} ${each.tenantId}`
  for (const { receiver, tenant, count } of waiting) {
    const one = queue(receiver, tenant)
    left.set(keyOf(one), (left.get(keyOf(one)) ?? 0) + count)
    slots.add({ ...one, dueAt: 0 })
  }
  let delivered = 0
  for (let step = 0; step < STEPS_MAX; step++) {
    // Slots without a delivery are released and offered again.
    for (let taken = slots.take(0); taken.length > 0; taken = slots.take(0)) {
      for (const one of taken) {
        const count = left.get(keyOf(one)) ?? 0
        if (count === 0) slots.release(one)
        else underWay.push(one)
        left.set(keyOf(one), Math.max(0, count - 1))
      }
      for (const one of new Set(taken)) if ((left.get(keyOf(one)) ?? 0) > 0) slots.add({ ...one, dueAt: 0 })
    }
    onTake(underWay, left)
    if (underWay.length === 0) return delivered
    const [ended] = underWay.splice((dice[step % dice.length] ?? 0) % underWay.length, 1)
    slots.release(ended!)
    delivered++
  }
  throw new Error('it never ended')
}

const count = (queues: Queue[], isIt: (one: Queue) => boolean) => queues.filter(isIt).length

const someWaiting = fc.array(
  fc.record({
    receiver: fc.integer({ min: 0, max: RECEIVERS - 1 }),
    tenant: fc.integer({ min: 0, max: TENANTS - 1 }),
    count: fc.integer({ min: 1, max: 30 }),
  }),
  { minLength: 1, maxLength: 15 },
)
const someDice = fc.array(fc.nat(), { minLength: 1, maxLength: 50 })

test('queues never exceed a limit and deliver everything exactly once, in any order of ends', () => {
  fc.assert(
    fc.property(someWaiting, someDice, (waiting, dice) => {
      const delivered = simulate(waiting, dice, underWay => {
        expect(underWay.length).toBeLessThanOrEqual(SLOTS.atOnce)
        for (let i = 0; i < RECEIVERS; i++)
          expect(count(underWay, one => one.receiver === `r${i}`)).toBeLessThanOrEqual(SLOTS.perReceiver)
        for (let i = 0; i < TENANTS; i++)
          expect(count(underWay, one => one.tenantId === `t${i}`)).toBeLessThanOrEqual(SLOTS.perTenant)
      })
      expect(delivered).toBe(waiting.reduce((sum, each) => sum + each.count, 0))
    }),
    { numRuns: 200 },
  )
})

test('no slot stays free while a queue may use it', () => {
  fc.assert(
    fc.property(someWaiting, someDice, (waiting, dice) => {
      simulate(waiting, dice, (underWay, left) => {
        for (const [key, waits] of left) {
          if (waits === 0) continue
          const held = count(underWay, one => one.tenantId === key.split(' ')[1])
          const isFull =
            SLOTS.atOnce - underWay.length <= held * 3 ||
            count(underWay, one => one.receiver === key.split(' ')[0]) === SLOTS.perReceiver ||
            held === SLOTS.perTenant
          expect([key, isFull]).toEqual([key, true])
        }
      })
    }),
    { numRuns: 200 },
  )
})

test('every other queue is served at most once while a queue waits for a slot', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 1, max: 6 }), someDice, (rivals, atOnce, dice) => {
      const slots = createSlots({ ...WIDE, atOnce })
      const servedSince = new Map<string, Map<string, number>>()
      const underWay: Queue[] = []
      for (let i = 0; i < rivals; i++) slots.add(due(i, i))
      for (let step = 0; step < 200; step++) {
        const taken = slots.take(0)
        // The first round of a take: later rounds give out what nobody else waits for.
        for (const [i, key] of names(taken).entries()) {
          if (names(taken).indexOf(key) !== i) continue
          servedSince.delete(key)
          for (const since of servedSince.values()) since.set(key, (since.get(key) ?? 0) + 1)
        }
        for (const since of servedSince.values()) for (const [key, served] of since) expect([key, served]).toEqual([key, 1])
        underWay.push(...taken)
        for (const one of new Set(taken)) slots.add({ ...one, dueAt: 0 })
        const [ended] = underWay.splice((dice[step % dice.length] ?? 0) % underWay.length, 1)
        slots.release(ended!)
        const [key = ''] = names([ended!])
        if (!names(underWay).includes(key)) servedSince.set(key, new Map())
      }
    }),
    { numRuns: 100 },
  )
})

test('twenty receivers of one tenant that never answer leave slots for other tenants', () => {
  const slots = createSlots(SLOTS)
  for (let i = 0; i < 20; i++) slots.add(due(`dead${i}`, 'dead'))
  expect(slots.take(0)).toHaveLength(8)
  for (let i = 0; i < 50; i++) {
    slots.add(due('alive', 'other'))
    expect(names(slots.take(0))).toEqual(times(4, 'ralive tother'))
    for (let slot = 0; slot < 4; slot++) slots.release(queue('alive', 'other'))
  }
})
