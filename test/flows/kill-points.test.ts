// F4: the moments at which a transaction can be cut off, all of them.
import { afterAll, describe, expect, test } from 'bun:test'
import { cleanUp } from '../helpers/app.ts'
import { ACTS, expectWhole, killWithin } from '../helpers/crash/killed-acts.ts'
import { stopReceiving } from '../helpers/receiver.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

const moments: string[] = []

describe('killed before or after any write of its transactions, it is not there or whole, and can be asked for again:', () => {
  test.each(ACTS)('$name', async act => {
    const kills = await killWithin(act)
    moments.push(...kills.points)
    // At least before its first write and after its commit.
    expect(kills.killed.length).toBeGreaterThanOrEqual(2)
    for (const killed of kills.killed) await expectWhole(act, kills, killed)
  })

  test('at more than 100 moments, of which more than 50 differ', () => {
    expect(moments.length).toBeGreaterThan(100)
    expect(new Set(moments).size).toBeGreaterThan(50)
  })
})
