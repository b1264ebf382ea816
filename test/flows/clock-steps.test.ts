// The wall clock is set while the service runs: by an operator, a time server, or after sleep.
// Everything that has ended stays ended.
import { afterAll, describe, expect, test } from 'bun:test'
import { steadyClock } from '../../src/base/time.ts'
import { cleanUp, createVerification, NOON, startApp, type TestApp } from '../helpers/app.ts'
import { enroll, outcome, pair, refresh, register } from '../helpers/devices.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The service on the clock that it really has: a wall that is set, and time that passes. */
async function startOnWall(at: string) {
  const wall = { ms: Date.parse(at) }
  const monotonic = { ms: 0 }
  const now = steadyClock(
    () => wall.ms,
    () => monotonic.ms,
  )
  const app = await startApp({ now: now() })
  const readings: number[] = []
  const look = () => {
    app.clock.set(now())
    readings.push(app.clock.now())
  }
  return {
    app,
    readings,
    pass(ms: number) {
      wall.ms += ms
      monotonic.ms += ms
      look()
    },
    step(ms: number) {
      wall.ms += ms
      look()
    },
  }
}

const create = (app: TestApp, key: string) => app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })

sqliteOnly("nodes follow the database's clock").each(['dc+sd-jwt', 'mso_mdoc'] as const)(
  'a clock that ran six minutes ahead and was put right before a start keeps no wallet from answering: %s',
  async format => {
    const ahead = await startApp({ now: NOON + 6 * MINUTE })
    const { key } = await ahead.tenant()
    await createVerification(ahead, key)
    await ahead.stop()
    const app = await startApp({ dir: ahead.dir, now: NOON })
    expect(app.deps.now()).toBeGreaterThanOrEqual(NOON + 6 * MINUTE)
    const { verification } = await verifyWith(app, key, 'adult', { format })
    expect(verification.status).toBe('completed')
  },
)

const STEPS: [name: string, ms: number][] = [
  ['an hour ahead', HOUR],
  ['a day ahead', DAY],
  ['a second back', -SECOND],
  ['five minutes back', -5 * MINUTE],
  ['an hour back', -HOUR],
  ['a day back', -DAY],
  ['to 1970', 10 * SECOND - Date.parse('2026-03-04T12:00:00Z')],
]

describe('a clock that is set', () => {
  test.each(STEPS)('%s revives no key, token, code or session, and time does not run back', async (_, step) => {
    const { app, readings, pass, step: set } = await startOnWall('2026-03-04T12:00:00Z')
    const { id, key } = await app.tenant()
    const till = await pair(app, key)
    const { pairing_code } = await register(app, key, { pairing_ttl_seconds: 60 })
    const short = await app.key(id, { expiresDays: 30 })
    const session = await createVerification(app, key, { ttl_seconds: 60 })
    pass(2 * HOUR)
    const ended = async () => [
      (await app.call<{ status: string }>('GET', `/v1/verifications/${session.id}/status`)).body.status,
      outcome(await app.call('GET', '/v1/usage', { key: till.access_token })),
      outcome(await enroll(app, pairing_code)),
    ]
    const gone = ['expired', '401 api_key_expired', '400 invalid_pairing_code']
    expect(await ended()).toEqual(gone)
    set(step)
    expect(await ended()).toEqual(gone)
    // Keys and tokens that have not ended go on, whatever the clock says meanwhile.
    expect(outcome(await app.call('GET', '/v1/usage', { key: short }))).toBe('200')
    expect((await refresh(app, till.refresh_token)).status).toBe(200)
    const before = await createVerification(app, key)
    pass(10)
    const after = await createVerification(app, key)
    expect(after.created_at > before.created_at).toBe(true)
    // At half speed, when the wall is far behind.
    pass(62 * DAY)
    expect(outcome(await app.call('GET', '/v1/usage', { key: short }))).toBe('401 api_key_expired')
    expect(readings).toEqual([...readings].sort((a, b) => a - b))
  })
})

describe('a quota day', () => {
  test.each([-SECOND, -5 * MINUTE, -HOUR])(
    'is not given a second time by a clock that is set back over midnight (%d ms)',
    async back => {
      const { app, pass, step } = await startOnWall('2026-03-04T23:59:59.500Z')
      const { key } = await app.tenant({ name: 'Shop', dailyQuota: 2 })
      const statusOf = async () => (await create(app, key)).status
      // The day before has one creation left, which nobody must get.
      const statuses = [await statusOf()]
      pass(SECOND)
      for (let i = 0; i < 3; i++) statuses.push(await statusOf())
      step(back)
      for (let i = 0; i < 3; i++) statuses.push(await statusOf())
      expect(statuses).toEqual([201, 201, 201, 429, 429, 429, 429])
    },
  )

  test('ends at midnight, also of a leap day, and each day counts for itself', async () => {
    const { app, pass } = await startOnWall('2028-02-28T23:59:59.999Z')
    const { key } = await app.tenant({ name: 'Shop', dailyQuota: 1 })
    const days: unknown[] = []
    for (const ms of [0, 1, DAY - 1, 1, DAY]) {
      pass(ms)
      const { status } = await create(app, key)
      const { body } = await app.call<{ day: string; verifications_created: number }>('GET', '/v1/usage', { key })
      days.push([body.day, status, body.verifications_created])
    }
    expect(days).toEqual([
      ['2028-02-28', 201, 1],
      ['2028-02-29', 201, 1],
      ['2028-02-29', 429, 1],
      ['2028-03-01', 201, 1],
      ['2028-03-02', 201, 1],
    ])
  })
})
