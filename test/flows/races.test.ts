import { describe, expect, test } from 'bun:test'
import { verifyAudit } from '../../src/audit/verify.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, startApp } from '../helpers/app.ts'
import { register } from '../helpers/devices.ts'
import * as races from '../helpers/scenarios/races.ts'
import { holderOf } from '../helpers/wallet.ts'

const ROUNDS = 20

async function openShop() {
  const app = await startApp()
  const { key } = await app.tenant()
  return { app, key }
}

/** A different moment in each round; in the first two each of them is answered before the other begins. */
const meetings = (msPerRound: number): races.Meeting[] =>
  Array.from({ length: ROUNDS }, (_, round) => ({
    isErasedFirst: round % 2 === 0,
    waitMs: round < 2 ? undefined : round * msPerRound,
  }))

describe('creations', () => {
  test('1,000 parallel creations with one Idempotency-Key make one session and one charge', async () =>
    races.createWithOneKey(await startApp()))

  test('1,000 parallel creations with one key and different bodies make one session; the others are 422', async () =>
    races.createWithOneKeyAndManyBodies(await startApp()))

  test('1,000 parallel creations against a quota of 50 make exactly 50', async () => races.createBeyondQuota(await startApp()))

  test('500 parallel creations have 500 ids and 500 times, and each is on the audit chain once', async () => {
    const { app, key } = await openShop()
    const body = { template: 'age_over_18' }
    const answers = await races.times(500, () => app.call<Verification>('POST', '/v1/verifications', { key, body }))
    expect(new Set(answers.map(answer => answer.body.id)).size).toBe(500)
    expect(new Set(answers.map(answer => answer.body.created_at)).size).toBe(500)
    // One tenant, two keys, 500 creations.
    expect(await verifyAudit(app.deps)).toMatchObject({ count: 503, problem: undefined })
  })
})

describe('devices', () => {
  test('1,000 simultaneous claims of a code make one winner and 999 identical losers', async () =>
    races.claimOneCode(await startApp()))

  test('1,000 simultaneous claims with one Idempotency-Key all get the same pair', async () =>
    races.claimWithOneKey(await startApp()))

  test('200 simultaneous refreshes of a token make one pair, and then a revoked device with the new pair dead', async () =>
    races.refreshOneToken(await startApp()))

  test('200 simultaneous refreshes with one Idempotency-Key all get the same pair, and the device stays', async () =>
    races.refreshWithOneKey(await startApp()))

  test('once a revocation has answered, no creation and no refresh that begins later goes through', async () => {
    const app = await startApp()
    for (let round = 0; round < ROUNDS; round++) await races.revokeAmidUse(app, round % 10)
  })

  test('1,000 registrations at once have 1,000 codes and ids, and the list has one order', async () => {
    const app = await startApp()
    const tenants = await races.times(20, () => app.tenant())
    const made = await Promise.all(tenants.flatMap(({ key }) => Array.from({ length: 50 }, () => register(app, key))))
    expect(new Set(made.map(({ pairing_code }) => pairing_code)).size).toBe(1000)
    expect(new Set(made.map(({ device }) => device.id)).size).toBe(1000)
    for (const { key } of tenants) {
      const { body } = await app.call<{ data: { created_at: string }[] }>('GET', '/v1/devices', { key })
      const createdAt = body.data.map(({ created_at }) => created_at)
      expect(createdAt).toEqual([...new Set(createdAt)].sort().reverse())
    }
  })
})

describe('answers', () => {
  test('of 200 right answers around the deadline one is accepted and the others are too late; or none, and all are 410', async () => {
    const shop = await openShop()
    const holder = await holderOf(shop.app)
    const outcomes = new Set<string>()
    for (const turns of [0, 10, 20, 40, 80, 160, Number.POSITIVE_INFINITY])
      outcomes.add(await races.answerAtDeadline(shop, holder, turns))
    // The deadline came first sometimes, and sometimes an answer did.
    expect([...outcomes].sort()).toEqual(['completed', 'expired'])
  })

  test('of 1,000 simultaneous redemptions of a code one gets the session', async () => races.redeemOneCode(await openShop()))
})

describe('erasures', () => {
  test('of 50 parallel erasures of one session exactly one is 200, and the others are 404', async () => {
    const { app, key } = await openShop()
    for (let round = 0; round < 5; round++) {
      const { id } = await createVerification(app, key)
      const answers = await races.times(50, () => app.call('DELETE', `/v1/verifications/${id}`, { key }))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 404)])
    }
  })

  test('an erasure that meets a redemption: the code gives the session or 404, and afterwards there is neither', async () => {
    const shop = await openShop()
    const seen = new Set<number>()
    for (const meeting of meetings(1 / 8)) seen.add(await races.eraseAmidRedemption(shop, meeting))
    expect(seen).toEqual(new Set([200, 404]))
  })

  test('an erasure that meets the answer of a wallet: one of them is too late, and afterwards nothing is there', async () => {
    const shop = await openShop()
    const holder = await holderOf(shop.app)
    const seen = new Set<number>()
    for (const meeting of meetings(1 / 4)) seen.add(await races.eraseAmidAnswer(shop, holder, meeting))
    expect(seen).toEqual(new Set([200, 404]))
  })

  test('erasing while listing, reading and replaying never shows half a session', async () => {
    const shop = await openShop()
    for (let round = 0; round < ROUNDS; round++) await races.eraseAmidReads(shop, `round-${round}`)
  })
})
