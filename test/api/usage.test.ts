import { expect, test } from 'bun:test'
import { authenticate } from '../../src/access/authenticate.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { createVerification as create, shareCreations } from '../../src/verifications/create.ts'
import { createVerification, type ErrorBody, startApp } from '../helpers/app.ts'

const DAY_MS = 86_400_000

type Usage = {
  day: string
  verifications_created: number
  remaining: number
  recent: { day: string; verifications_created: number }[]
}

test('a day without creations shows the whole quota and no recent days', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { status, body } = await app.call('GET', '/v1/usage', { key })
  expect(status).toBe(200)
  expect(body).toEqual({ day: '2026-03-04', verifications_created: 0, daily_quota: 10_000, remaining: 10_000, recent: [] })
})

test('creations are counted per UTC day, and recent shows days with any usage, newest first, at most 30', async () => {
  const app = await startApp()
  const { key } = await app.tenant({ name: 'Shop', dailyQuota: 5 })
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
  const creations = shareCreations(app.deps)
  const atOnce = async (key: string, count: number) => {
    const caller = await authenticate(app.deps, `Bearer ${key}`)
    return Array.from({ length: count }, () => create(app.deps, creations, caller, { template: 'age_over_18' }, undefined))
  }
  const [one, two] = [await atOnce(shops[0]!.key, 12), await atOnce(shops[1]!.key, 30)]
  const charged = (await Promise.all(one)).map(made => (made.replayed ? 0 : made.charge.created))
  expect(charged).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
  await Promise.all(two)
  const last = await Promise.allSettled(await atOnce(shops[0]!.key, 9))
  expect(last.filter(({ status }) => status === 'fulfilled')).toHaveLength(8)
  for (const [i, verifications_created] of [20, 30].entries())
    expect((await app.call<Usage>('GET', '/v1/usage', { key: shops[i]!.key })).body).toMatchObject({ verifications_created })
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
})

test.each([
  ['trial', 100],
  ['standard', 10_000],
  ['large', 100_000],
] as const)('the plan %s has %d a day', async (plan, daily_quota) => {
  const app = await startApp()
  const { key } = await app.tenant({ name: 'Shop', plan })
  expect((await app.call<Usage>('GET', '/v1/usage', { key })).body).toMatchObject({ daily_quota, remaining: daily_quota })
})

test('a quota lowered below what was used leaves nothing, and never a negative number', async () => {
  const app = await startApp()
  const { id, key } = await app.tenant()
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
  const app = await startApp()
  const { key, liveKey } = await app.tenant()
  const other = await app.tenant()
  await createVerification(app, key)
  await createVerification(app, liveKey)
  const counts = await Promise.all(
    [key, liveKey, other.key].map(async each => (await app.call<Usage>('GET', '/v1/usage', { key: each })).body),
  )
  expect(counts.map(({ verifications_created }) => verifications_created)).toEqual([2, 2, 0])
})

test('the day turns at UTC midnight', async () => {
  const app = await startApp({ now: Date.parse('2028-02-28T23:59:59.999Z') })
  const { key } = await app.tenant()
  await createVerification(app, key)
  app.clock.advance(1)
  expect((await app.call<Usage>('GET', '/v1/usage', { key })).body).toMatchObject({
    day: '2028-02-29',
    verifications_created: 0,
    recent: [{ day: '2028-02-28', verifications_created: 1 }],
  })
})

test('a quota of 0 is refused as what it is: midnight does not help, whoever operates the service does', async () => {
  const app = await startApp()
  const { key } = await app.tenant({ name: 'Closed shop', dailyQuota: 0 })
  const { key: used } = await app.tenant({ name: 'Busy shop', dailyQuota: 1 })
  const ask = (own: string) => app.call<ErrorBody>('POST', '/v1/verifications', { key: own, body: { template: 'age_over_18' } })
  const closed = await ask(key)
  expect([closed.status, closed.body.error.code]).toEqual([429, 'quota_exceeded'])
  expect(closed.body.error.message).toBe('The daily quota of this tenant is 0; whoever operates the service can change it.')
  expect((await ask(used)).status).toBe(201)
  expect((await ask(used)).body.error.message).toContain('UTC midnight')
})

test('a clock that steps back over midnight opens no second quota', async () => {
  const app = await startApp({ now: Date.parse('2026-03-05T00:00:00.000Z') })
  const { key } = await app.tenant({ name: 'Shop', dailyQuota: 1 })
  await createVerification(app, key)
  app.clock.advance(-1)
  expect((await app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).status).toBe(429)
})
