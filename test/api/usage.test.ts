import { describe, expect, test } from 'bun:test'
import { authenticate } from '../../src/access/authenticate.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { createVerification as create } from '../../src/verifications/create/create.ts'
import { shareCreations } from '../../src/verifications/create/creations.ts'
import { createVerification, type ErrorBody, outcome, startApp, startWithTenant, type TestApp } from '../helpers/app.ts'

const DAY_MS = 86_400_000

type Usage = {
  day: string
  verifications_created: number
  remaining: number
  recent: { day: string; verifications_created: number }[]
}

test('a day without creations shows the whole quota and no recent days', async () => {
  const { app, key } = await startWithTenant()
  const { status, body } = await app.call('GET', '/v1/usage', { key })
  expect(status).toBe(200)
  expect(body).toEqual({ day: '2026-03-04', verifications_created: 0, daily_quota: 10_000, remaining: 10_000, recent: [] })
})

test('creations are counted per UTC day, and recent shows days with any usage, newest first, at most 30', async () => {
  const { app, key } = await startWithTenant({}, { name: 'Shop', dailyQuota: 5 })
  for (let day = 0; day < 33; day++) {
    // The third day has none.
    for (let i = 0; i < (day === 2 ? 0 : (day % 3) + 1); i++) await createVerification(app, key)
    app.clock.advance(DAY_MS)
  }
  app.clock.advance(-DAY_MS)
  const { body } = await app.call<Usage>('GET', '/v1/usage', { key })
  expect(body).toMatchObject({ day: '2026-04-05', verifications_created: 3, daily_quota: 5, remaining: 2 })
  expect(body.recent).toHaveLength(30)
  expect(body.recent.slice(0, 2)).toEqual([
    { day: '2026-04-05', verifications_created: 3 },
    { day: '2026-04-04', verifications_created: 2 },
  ])
  expect(body.recent.at(-1)?.day).toBe('2026-03-07')
})

test('creations that share a commit are each counted, none beyond the quota, and each has its record in the audit chain', async () => {
  const app = await startApp()
  const shops = [await app.tenant({ name: 'One', dailyQuota: 20 }), await app.tenant({ name: 'Two', dailyQuota: 50 })]
  const atOnce = async (key: string, count: number) => {
    const caller = await callerOf(app, key)
    return Array.from({ length: count }, () => create(app.deps, { caller, body: { template: 'age_over_18' } }))
  }
  const [one, two] = [await atOnce(shops[0]!.key, 12), await atOnce(shops[1]!.key, 30)]
  const charged = (await Promise.all(one)).map(made => (made.replayed ? 0 : made.charge.created))
  expect(charged.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
  await Promise.all(two)
  const last = await Promise.allSettled(await atOnce(shops[0]!.key, 9))
  expect(last.filter(({ status }) => status === 'fulfilled')).toHaveLength(8)
  for (const [i, verifications_created] of [20, 30].entries())
    expect((await app.call<Usage>('GET', '/v1/usage', { key: shops[i]!.key })).body).toMatchObject({ verifications_created })
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
})

const callerOf = (app: TestApp, key: string) => authenticate(app.deps, `Bearer ${key}`)

const isIncreasing = (times: readonly string[]) => times.every((time, i) => i === 0 || time > times[i - 1]!)

test('two nodes that create by turns in one millisecond never give two creations one time', async () => {
  const { app, key } = await startWithTenant()
  const caller = await callerOf(app, key)
  // All that creations share in memory; what two nodes share is in the database.
  const nodes = [app.deps, { ...app.deps, creations: shareCreations(app.deps) }]
  const times: string[] = []
  for (let i = 0; i < 6; i++) {
    const { verification } = await create(nodes[i % 2]!, { caller, body: { template: 'age_over_18' } })
    times.push(verification.created_at)
  }
  expect(isIncreasing(times)).toBe(true)
})

test('the time of a creation is later than all before it, after a restart and an erasure too', async () => {
  const { app: before, key } = await startWithTenant()
  const first = await createVerification(before, key)
  await before.call('DELETE', `/v1/verifications/${first.id}`, { key })
  await before.stop()
  const after = await startApp({ dir: before.dir })
  expect(isIncreasing([first.created_at, (await createVerification(after, key)).created_at])).toBe(true)
})

describe('a burst that runs ahead of the clock over midnight', () => {
  const MIDNIGHT = Date.parse('2026-03-05T00:00:00.000Z')

  async function burst(dailyQuota: number, atOnce: boolean) {
    const { app, key } = await startWithTenant({ now: MIDNIGHT - 2 }, { name: 'Shop', dailyQuota })
    const caller = await callerOf(app, key)
    const one = () => create(app.deps, { caller, body: { template: 'age_over_18' } })
    const made = atOnce ? await Promise.all(Array.from({ length: 5 }, one)) : []
    while (made.length < 5) made.push(await one())
    const { body } = await app.call<Usage>('GET', '/v1/usage', { key })
    // Those that come at once have no order.
    made.sort((a, b) => a.verification.created_at.localeCompare(b.verification.created_at))
    return { times: made.map(({ verification }) => verification.created_at), days: body.recent, made, one }
  }

  test.each([
    ['one by one', false],
    ['in one commit', true],
  ])('creations of a burst over midnight count on the day of their time: %s', async (_, atOnce) => {
    const { times, days, made } = await burst(3, atOnce)
    expect(times).toEqual([-2, -1, 0, 1, 2].map(ms => new Date(MIDNIGHT + ms).toISOString()))
    expect(days).toEqual([
      { day: '2026-03-05', verifications_created: 3 },
      { day: '2026-03-04', verifications_created: 2 },
    ])
    expect(made.map(each => (each.replayed ? 0 : each.charge.created))).toEqual([1, 2, 1, 2, 3])
  })

  test('a burst over midnight is refused once the next day is spent as well', async () => {
    const { one } = await burst(3, true)
    expect(await one().catch(({ code, headers }) => [code, headers['retry-after']])).toEqual(['quota_exceeded', '86400'])
  })
})

test.each([
  ['trial', 100],
  ['standard', 10_000],
  ['large', 100_000],
] as const)('the plan %s has %d a day', async (plan, daily_quota) => {
  const { app, key } = await startWithTenant({}, { name: 'Shop', plan })
  expect((await app.call<Usage>('GET', '/v1/usage', { key })).body).toMatchObject({ daily_quota, remaining: daily_quota })
})

test('a quota lowered below what was used leaves nothing, and never a negative number', async () => {
  const { app, id, key } = await startWithTenant()
  await createVerification(app, key)
  await createVerification(app, key)
  const { changeTenant } = await import('../../src/tenants/settings.ts')
  await changeTenant(app.deps, id, { dailyQuota: 1 }, 'test')
  expect((await app.call<Usage>('GET', '/v1/usage', { key })).body).toMatchObject({
    verifications_created: 2,
    daily_quota: 1,
    remaining: 0,
  })
})

test('both environments of a tenant see one counter, and another tenant its own', async () => {
  const { app, key, liveKey } = await startWithTenant()
  const other = await app.tenant()
  await createVerification(app, key)
  await createVerification(app, liveKey)
  const counts = await Promise.all(
    [key, liveKey, other.key].map(async each => (await app.call<Usage>('GET', '/v1/usage', { key: each })).body),
  )
  expect(counts.map(({ verifications_created }) => verifications_created)).toEqual([2, 2, 0])
})

test('a quota of 0 is refused with a hint at the operator, not at midnight', async () => {
  const { app, key } = await startWithTenant({}, { name: 'Closed shop', dailyQuota: 0 })
  const { key: used } = await app.tenant({ name: 'Busy shop', dailyQuota: 1 })
  const ask = (own: string) => app.call<ErrorBody>('POST', '/v1/verifications', { key: own, body: { template: 'age_over_18' } })
  const closed = await ask(key)
  expect(outcome(closed)).toBe('429 quota_exceeded')
  expect(closed.body.error.message).toBe('The daily quota of this tenant is 0; whoever operates the service can change it.')
  expect((await ask(used)).status).toBe(201)
  expect((await ask(used)).body.error.message).toContain('UTC midnight')
})
