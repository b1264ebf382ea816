// A machine whose clock is set back between two starts. For a clock set while the service runs, see
// clock-steps.test.ts.
import { afterAll, expect, test } from 'bun:test'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, NOON, startApp, type TestApp } from '../helpers/app.ts'
import { serve, stopServing } from '../helpers/cli.ts'
import { outcome, pair } from '../helpers/devices.ts'
import { postgresOnly, sqliteOnly } from '../helpers/engines.ts'

afterAll(stopServing)

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const usageOf = async (app: TestApp, key: string) => outcome(await app.call('GET', '/v1/usage', { key }))

sqliteOnly("nodes follow the database's clock").describe('a start with a clock that was set back', () => {
  test('a start with a clock set back revives no token, though nothing was recorded since it expired', async () => {
    const before = await startApp()
    const { key } = await before.tenant()
    const { access_token } = await pair(before, key)
    before.clock.advance(HOUR_MS)
    expect(await usageOf(before, access_token)).toBe('401 api_key_expired')
    await before.stop()
    const after = await startApp({ dir: before.dir, now: NOON + HOUR_MS - 5 * 60_000 })
    expect(await usageOf(after, access_token)).toBe('401 api_key_expired')
    await after.stop()
  })

  test('a start with a clock set back gives no second quota of a day that had begun', async () => {
    const midnight = NOON + DAY_MS / 2
    const before = await startApp({ now: midnight - 1 })
    const { key } = await before.tenant({ name: 'Shop', dailyQuota: 1 })
    const create = (app: TestApp) => app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
    expect(outcome(await create(before))).toBe('201')
    before.clock.set(midnight)
    expect(outcome(await create(before))).toBe('201')
    await before.stop()
    const after = await startApp({ dir: before.dir, now: midnight - HOUR_MS })
    expect(after.deps.now()).toBe(midnight)
    expect(outcome(await create(after))).toBe('429 quota_exceeded')
    after.clock.set(midnight + 1)
    expect(after.deps.now()).toBe(midnight + 1)
    await after.stop()
  })

  test('a start ignores the heartbeat of a clock that was days ahead', async () => {
    const before = await startApp()
    await before.tenant()
    before.clock.advance(3 * DAY_MS)
    await before.stop()
    const after = await startApp({ dir: before.dir })
    expect(after.deps.now()).toBe(NOON)
    await after.stop()
  })
})

postgresOnly('other databases have no clock')(
  'a start on a database whose clock was set back continues from its newest record',
  async () => {
    const ahead = Date.now() + HOUR_MS
    const before = await startApp({ now: ahead })
    const { key } = await before.tenant()
    await before.stop()
    const { url } = await serve(before.dir)
    const body = { template: 'age_over_18' }
    const { created_at } = (await call<Verification>(url, 'POST', '/v1/verifications', { key, body })).body
    expect(Date.parse(created_at)).toBeGreaterThanOrEqual(ahead)
  },
)
