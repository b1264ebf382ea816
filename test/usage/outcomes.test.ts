import { afterAll, expect, test } from 'bun:test'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { medianOf, STEPS, stepOf } from '../../src/usage/answer-time.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepHeld } from '../../src/verifications/end/release.ts'
import { cleanUp, createVerification, startWithTenant, type TestApp } from '../helpers/app.ts'
import { isOnPostgres, rowsOf } from '../helpers/database.ts'
import { codeIn, formOf, openSession, postTo } from '../helpers/exchange.ts'
import { holderOf } from '../helpers/wallet.ts'
import { checkInvariants } from '../invariants/check.ts'

afterAll(cleanUp)

const RELEASE = { template: 'identity_basic', release: 'on_redeem', redirect_url: 'https://shop.example/done' }

/** A shop in which each kind of end happened once, and one session is open. */
const { app, ...tenant } = await startWithTenant()
const { key } = tenant
const path = (id: string) => `/v1/verifications/${id}`
const holder = await holderOf(app)
await createVerification(app, key, { ttl_seconds: 3600 })
const completed = await openSession({ app, key }, { template: 'age_over_18' })
app.clock.advance(7000)
await postTo(completed, await formOf(completed, holder))
const declined = await openSession({ app, key }, { template: 'age_over_18' })
await postTo(declined, (await decline(declined.request)).form)
const minor = await openSession({ app, key }, { template: 'age_over_18' })
await postTo(minor, await formOf(minor, await holderOf(app, 'minor')))
const stopped = await createVerification(app, key)
await app.call('POST', `${path(stopped.id)}/cancel`, { key, body: {} })
await createVerification(app, key, { ttl_seconds: 60 })
const hold = async () => {
  const session = await openSession({ app, key }, RELEASE)
  app.clock.advance(3000)
  return { id: session.created.id, code: codeIn((await postTo(session, await formOf(session, holder))).body) }
}
const redeemed = await hold()
await app.call('POST', `${path(redeemed.id)}/redeem`, { key, body: { response_code: redeemed.code } })
await hold()
app.clock.advance(3_000_000)
await sweepExpired(app.deps)
await sweepHeld(app.deps)

const ALL = {
  created: 8,
  completed: 2,
  wallet_declined: 1,
  claim_not_satisfied: 1,
  cancelled: 1,
  expired: 1,
  redirect_not_followed: 1,
}

type Counts = Record<string, number>

const sums = (of: TestApp, table: string, name: string): Counts =>
  Object.fromEntries(
    rowsOf<{ name: string; n: number }>(of, `SELECT ${name} AS name, sum(count) AS n FROM ${table} GROUP BY 1 ORDER BY 1`).map(
      each => [each.name, Number(each.n)],
    ),
  )
const outcomes = () => sums(app, 'outcome_days', 'outcome')
const answerTimes = () => sums(app, 'answer_time_days', 'at_least_ms')

test('each session is counted once when it is created and once when it ends, by the reason of its failure', async () => {
  expect(outcomes()).toEqual(ALL)
  // 7 s, twice at once, and twice 3 s until a wallet answered, however long the redemption took.
  expect(answerTimes()).toEqual({ 0: 2, 2700: 2, 6800: 1 })
  if (!isOnPostgres) expect((await checkInvariants(app.dir)).violations).toEqual([])
})

test('an erasure takes nothing back, and counts the end of a session that no sweep has stored yet', async () => {
  const before = outcomes()
  const late = await createVerification(app, key, { ttl_seconds: 60 })
  const open = await createVerification(app, key, { ttl_seconds: 3600 })
  const held = await hold()
  app.clock.advance(900_000)
  for (const id of [late.id, open.id, held.id, completed.created.id])
    expect((await app.call('DELETE', path(id), { key })).status).toBe(200)
  expect(outcomes()).toEqual({
    ...before,
    created: before.created! + 3,
    expired: before.expired! + 1,
    redirect_not_followed: before.redirect_not_followed! + 1,
  })
})

test('a median is the middle of the step in which half of the answers are reached', () => {
  expect(medianOf([])).toBeNull()
  expect(
    medianOf([
      { atLeastMs: 0, count: 1 },
      { atLeastMs: 4700, count: 5 },
      { atLeastMs: 82_000, count: 2 },
    ]),
  ).toBe(5150)
  expect([0, 999, 1000, 5599, 5600, 86_400_000].map(stepOf)).toEqual([0, 0, 1000, 4700, 5600, 82_000_000])
  for (const [i, step] of STEPS.entries()) if (i > 1) expect(step / STEPS[i - 1]!).toBeLessThan(1.26)
})
