import { describe, expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import type { TokenPair } from '../../src/devices/schema.ts'
import { type ErrorBody, NOON, startApp, startWithTenant, type TestApp } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { deviceOf, outcome, pair, refresh } from '../helpers/devices.ts'

const DAY_MS = 86_400_000

const { app, key } = await startWithTenant()

const usage = async (own: TestApp, token: string) => outcome(await own.call('GET', '/v1/usage', { key: token }))

describe('POST /v1/devices/token', () => {
  test('a refresh answers 200 with a new pair and the device; the old refresh token is spent, the old access token still works', async () => {
    const first = await pair(app, key)
    const answer = await refresh(app, first.refresh_token)
    expect(answer.status).toBe(200)
    expect(answer.body as TokenPair).toEqual({
      access_token: expect.stringMatching(/^vd_[0-9A-Za-z]{38}$/),
      refresh_token: expect.stringMatching(/^vdr_[0-9A-Za-z]{38}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_expires_in: 30 * 86_400,
      device: { ...first.device, last_seen_at: '2026-03-04T12:00:00.000Z' },
    })
    expect(answer.body.access_token).not.toBe(first.access_token)
    expect(answer.body.refresh_token).not.toBe(first.refresh_token)
    expect(await usage(app, first.access_token)).toBe('200')
    expect(await usage(app, answer.body.access_token)).toBe('200')
  })

  test('a spent refresh token revokes the device and all its tokens, and the audit record says why', async () => {
    const { app: own, ...tenant } = await startWithTenant()
    const first = await pair(own, tenant.key)
    const second = (await refresh(own, first.refresh_token)).body
    expect(outcome(await refresh(own, first.refresh_token))).toBe('400 invalid_refresh_token')
    expect(await deviceOf(own, tenant.key, first.device.id)).toMatchObject({
      status: 'revoked',
      revoked_at: '2026-03-04T12:00:00.000Z',
    })
    for (const { access_token, refresh_token } of [first, second]) {
      expect(await usage(own, access_token)).toBe('401 invalid_api_key')
      expect(outcome(await refresh(own, refresh_token))).toBe('400 invalid_refresh_token')
    }
    await linkEntries(own.deps)
    const actors = rowsOf<{ actor: string }>(own.dir, "SELECT actor FROM audit_records WHERE action = 'device.revoked'")
    expect(actors).toEqual([{ actor: 'system' }])
  })

  test('repeats of a lost response count against the budget of the device', async () => {
    const own = await startApp({ rateLimitScale: 1 })
    const first = await pair(own, (await own.tenant()).key)
    const repeat = () => refresh(own, first.refresh_token, 'again-1')
    const seen: string[] = []
    for (let i = 0; i < 7; i++) seen.push(outcome(await repeat()))
    expect(seen).toEqual([...Array.from({ length: 6 }, () => '200'), '429 rate_limit_exceeded'])
  })

  test('a spent refresh token revokes the device even when its refresh budget is used up', async () => {
    const { app: own, ...tenant } = await startWithTenant({ rateLimitScale: 1 })
    const first = await pair(own, tenant.key)
    let last = first
    for (let i = 0; i < 6; i++) last = (await refresh(own, last.refresh_token)).body
    expect(outcome(await refresh(own, last.refresh_token))).toBe('429 rate_limit_exceeded')
    expect(outcome(await refresh(own, first.refresh_token))).toBe('400 invalid_refresh_token')
    expect(await deviceOf(own, tenant.key, first.device.id)).toMatchObject({ status: 'revoked' })
  })

  test('a refresh token of many generations ago revokes the device, even after it expired', async () => {
    const { app: own, ...tenant } = await startWithTenant()
    const first = await pair(own, tenant.key)
    let last = first
    for (let i = 0; i < 5; i++) {
      own.clock.advance(10 * DAY_MS)
      last = (await refresh(own, last.refresh_token)).body
    }
    expect(await usage(own, last.access_token)).toBe('200')
    expect(outcome(await refresh(own, first.refresh_token))).toBe('400 invalid_refresh_token')
    expect(await usage(own, last.access_token)).toBe('401 invalid_api_key')
  })

  test('unknown, malformed, foreign, expired, spent and revoked ones get one and the same 400', async () => {
    const { app: own, ...tenant } = await startWithTenant()
    const [expired, revoked, spent] = [await pair(own, tenant.key), await pair(own, tenant.key), await pair(own, tenant.key)]
    await own.call('DELETE', `/v1/devices/${revoked.device.id}`, { key: tenant.key })
    own.clock.advance(30 * DAY_MS - 1)
    await refresh(own, spent.refresh_token)
    own.clock.advance(1)
    const tokens = [
      `vdr_${'A'.repeat(38)}`,
      'x',
      'x'.repeat(60_000),
      tenant.key,
      expired.access_token,
      expired.refresh_token.slice(0, -1),
      expired.refresh_token,
      revoked.refresh_token,
      spent.refresh_token,
    ]
    const answers = await Promise.all(tokens.map(token => refresh(own, token)))
    expect(answers.map(outcome)).toEqual(tokens.map(() => '400 invalid_refresh_token'))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    // An expired token is not reuse: the till only needs to be paired again.
    expect((await deviceOf(own, tenant.key, expired.device.id)).status).toBe('active')
  })

  test.each([
    ['no body', undefined],
    ['no refresh_token', {}],
    ['an empty one', { refresh_token: '' }],
    ['one that is a number', { refresh_token: 1 }],
    ['an unknown field', { refresh_token: 'x', grant_type: 'refresh_token' }],
  ])('%s is 400 invalid_request', async (_, body) => {
    expect(outcome(await app.call<ErrorBody>('POST', '/v1/devices/token', { body }))).toBe('400 invalid_request')
  })
})

describe('lifetimes', () => {
  test('an access token works for 3,600 s: expiring exactly now it answers 401 api_key_expired', async () => {
    const own = await startApp()
    const { access_token } = await pair(own, (await own.tenant()).key)
    own.clock.set(NOON + 3_600_000 - 1)
    expect(await usage(own, access_token)).toBe('200')
    own.clock.set(NOON + 3_600_000)
    expect(await usage(own, access_token)).toBe('401 api_key_expired')
  })

  test('a refresh token works for 30 days, and each refresh begins them anew', async () => {
    const { app: own, ...tenant } = await startWithTenant()
    const [late, steady] = [await pair(own, tenant.key), await pair(own, tenant.key)]
    own.clock.set(NOON + 30 * DAY_MS - 1)
    const second = await refresh(own, steady.refresh_token)
    expect([second.status, second.body.refresh_expires_in]).toEqual([200, 30 * 86_400])
    own.clock.set(NOON + 30 * DAY_MS)
    expect(outcome(await refresh(own, late.refresh_token))).toBe('400 invalid_refresh_token')
    own.clock.set(NOON + 60 * DAY_MS - 2)
    expect((await refresh(own, second.body.refresh_token)).status).toBe(200)
  })

  test('refreshes end 365 days after the enrolment', async () => {
    const own = await startApp()
    let last = await pair(own, (await own.tenant()).key)
    for (let day = 29; day <= 348; day += 29) {
      own.clock.set(NOON + day * DAY_MS)
      last = (await refresh(own, last.refresh_token)).body
    }
    expect(last.refresh_expires_in).toBe(17 * 86_400)
    own.clock.set(NOON + 365 * DAY_MS - 1)
    const final = await refresh(own, last.refresh_token)
    expect([final.status, final.body.refresh_expires_in]).toEqual([200, 1])
    own.clock.set(NOON + 365 * DAY_MS)
    expect(outcome(await refresh(own, final.body.refresh_token))).toBe('400 invalid_refresh_token')
  })
})

describe('a lost answer to a refresh', () => {
  const lost = async () => {
    const { app: own, ...tenant } = await startWithTenant()
    const { device, refresh_token: token } = await pair(own, tenant.key)
    const status = async () => (await deviceOf(own, tenant.key, device.id)).status
    return { own, status, token, first: await refresh(own, token, 'one') }
  }

  test('a lost response is repeated for the same token with the same Idempotency-Key, any number of times, and the pair works', async () => {
    const { own, status, token, first } = await lost()
    for (let i = 0; i < 3; i++) {
      const again = await refresh(own, token, 'one')
      expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([200, first.text, 'true'])
    }
    expect((await refresh(own, first.body.refresh_token, 'two')).status).toBe(200)
    expect(await status()).toBe('active')
  })

  test.each<[string, (own: TestApp, pair: TokenPair) => Promise<unknown>, string | undefined]>([
    ['with another key', async () => {}, 'two'],
    ['without a key', async () => {}, undefined],
    [
      'after the new access token was used',
      (own, { access_token }) => own.call('GET', '/v1/usage', { key: access_token }),
      'one',
    ],
    ['after the new refresh token was used', (own, { refresh_token }) => refresh(own, refresh_token, 'next'), 'one'],
    ['after 24 hours', async own => own.clock.advance(DAY_MS), 'one'],
  ])('a repeat %s revokes the device', async (_, before, idempotencyKey) => {
    const { own, status, token, first } = await lost()
    await before(own, first.body)
    expect(outcome(await refresh(own, token, idempotencyKey))).toBe('400 invalid_refresh_token')
    expect(await status()).toBe('revoked')
    expect(outcome(await refresh(own, token, 'one'))).toBe('400 invalid_refresh_token')
  })

  test('an expired use of the new access token does not end the repeats', async () => {
    const { own, token, first } = await lost()
    own.clock.advance(3_600_000)
    expect(await usage(own, first.body.access_token)).toBe('401 api_key_expired')
    expect((await refresh(own, token, 'one')).text).toBe(first.text)
  })

  test('a device has one sealed response at most', async () => {
    const own = await startApp()
    let { refresh_token } = await pair(own, (await own.tenant()).key)
    for (let i = 0; i < 5; i++) refresh_token = (await refresh(own, refresh_token, `key-${i}`)).body.refresh_token
    expect(rowsOf(own.dir, 'SELECT 1 FROM device_tokens WHERE replay_sealed IS NOT NULL')).toHaveLength(1)
  })
})
