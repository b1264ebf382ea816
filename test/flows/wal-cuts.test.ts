import { afterAll, expect, test } from 'bun:test'
import { cleanUp } from '../helpers/app.ts'
import { checkCut, traded } from '../helpers/crash/wal-cuts.ts'
import { seeded } from '../helpers/seeded.ts'

afterAll(cleanUp)

const CUTS = 200

test(`the log of a mixed day, cut at any byte, opens with everything acknowledged before it and every invariant held (${CUTS} cuts)`, async () => {
  const random = seeded(20_26)
  const day = await traded(random, 80)
  const facts = new Set<number>()
  for (let i = 0; i < CUTS; i++) {
    const at = i === 0 ? day.logBytes : random.below(day.logBytes)
    const { violations, acks } = await checkCut(day, at)
    expect({ at, violations }).toEqual({ at, violations: [] })
    facts.add(acks)
  }
  // They were cut at many different moments, and the last of them is the whole of it.
  expect(facts.size).toBeGreaterThan(40)
  expect(Math.max(...facts)).toBe(day.told.length)
})
