// Limits on guessing pairing codes. X-Forwarded-For tells clients apart here.
import { describe, expect, test } from 'bun:test'
import { isoUtc } from '../../src/base/time.ts'
import { parseCidr } from '../../src/egress/addresses.ts'
import { sweepNetworks } from '../../src/guesses/networks.ts'
import { sweepGuesses } from '../../src/guesses/pairing.ts'
import { type ErrorBody, NOON, startApp, type TestApp, until } from '../helpers/app.ts'
import { joinMember, setUpOwner } from '../helpers/dashboard.ts'
import { editRows, isOnPostgres, rowsOf } from '../helpers/database.ts'
import { outcome, pair, register } from '../helpers/devices.ts'
import { filesContaining } from '../helpers/files.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const start = (options: Parameters<typeof startApp>[0] = {}) =>
  startApp({
    rateLimitScale: 1,
    ...options,
    config: { trustedProxies: ['127.0.0.1', '::1'].map(each => parseCidr(each)!), ...options.config },
  })

const guess = (app: TestApp, client: string, code = 'VD-0000-0000') =>
  app.call<ErrorBody>('POST', '/v1/devices/enroll', { body: { pairing_code: code }, headers: { 'x-forwarded-for': client } })

/** Number of wrong codes that are checked before the first 429. */
async function guessesAllowed(app: TestApp, client: string): Promise<number> {
  for (let count = 0; count < 1000; count++) {
    const answer = await guess(app, client)
    if (answer.status === 429) return count
    expect(outcome(answer)).toBe('400 invalid_pairing_code')
  }
  throw new Error('no end of it')
}

describe('one network', () => {
  test('an unknown network has 10 wrong codes at once and 5 a minute after; beyond that right codes get 429 too', async () => {
    const app = await start()
    const { key } = await app.tenant()
    const { pairing_code } = await register(app, key)
    expect(await guessesAllowed(app, '203.0.113.7')).toBe(10)
    const refused = await guess(app, '203.0.113.7', pairing_code)
    expect(outcome(refused)).toBe('429 rate_limit_exceeded')
    expect(refused.headers.get('retry-after')).toBe('12')
    expect(refused.headers.get('ratelimit-policy')).toBe('"enroll";q=10;w=120')
    expect(refused.body.error.message).toBe('The budget "enroll" is empty: it has room again in 12 s, and is full in 120 s.')
    // A wrong one gets the same response.
    expect((await guess(app, '203.0.113.7')).text).toBe(refused.text)
    app.clock.advance(12_000)
    expect(await guessesAllowed(app, '203.0.113.7')).toBe(1)
    app.clock.advance(MINUTE_MS)
    expect(await guessesAllowed(app, '203.0.113.7')).toBe(5)
  })

  test('simultaneous guesses of one network share its limit', async () => {
    const app = await start()
    const answers = await Promise.all(Array.from({ length: 100 }, () => guess(app, '203.0.113.7')))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(90)
  })

  test('addresses of one IPv6 /64 are one network, and malformed codes count as wrong', async () => {
    const app = await start()
    for (let i = 0; i < 10; i++) await guess(app, `2001:db8:1:2::${i + 1}`, 'x')
    expect(outcome(await guess(app, '2001:db8:1:2:ffff::1'))).toBe('429 rate_limit_exceeded')
    expect(outcome(await guess(app, '2001:db8:1:3::1'))).toBe('400 invalid_pairing_code')
  })

  test('20 wrong codes in an hour lock a network out for 15 minutes, across a restart', async () => {
    const app = await start()
    const client = '203.0.113.7'
    const { key } = await app.tenant()
    const { pairing_code } = await register(app, key, { pairing_ttl_seconds: 86_400 })
    expect(await guessesAllowed(app, client)).toBe(10)
    app.clock.advance(30 * MINUTE_MS)
    await app.stop()
    const again = await start({ dir: app.dir, now: app.clock.now() })
    expect(await guessesAllowed(again, client)).toBe(10)
    again.clock.advance(5 * MINUTE_MS)
    await again.stop()
    const third = await start({ dir: app.dir, now: again.clock.now() })
    const locked = await guess(third, client, pairing_code)
    expect([outcome(locked), locked.headers.get('retry-after')]).toEqual(['429 rate_limit_exceeded', String(10 * 60)])
    expect(locked.headers.get('ratelimit-policy')).toBe('"enroll-lock";q=20;w=3600')
    expect(locked.body.error.message).toContain(`locked until ${isoUtc(third.clock.now() + 10 * MINUTE_MS)}`)
    expect(outcome(await guess(third, '203.0.113.8'))).toBe('400 invalid_pairing_code')
    third.clock.advance(10 * MINUTE_MS - 1)
    expect((await guess(third, client, pairing_code)).status).toBe(429)
    third.clock.advance(1)
    expect((await guess(third, client, pairing_code)).status).toBe(200)
  })

  test('19 wrong codes in an hour and more after it lock nobody out', async () => {
    const app = await start()
    for (const minutes of [0, 10, 20, 61, 71, 81, 122]) {
      app.clock.set(NOON + minutes * MINUTE_MS)
      for (let i = 0; i < 6; i++) expect(outcome(await guess(app, '203.0.113.7'))).toBe('400 invalid_pairing_code')
    }
  })

  test('a network is stored as an HMAC, and deleted when its hour is over', async () => {
    const app = await start()
    await guess(app, '203.0.113.77')
    expect(rowsOf(app.dir, 'SELECT 1 FROM pairing_guesses')).toHaveLength(1)
    expect(filesContaining(app.dir, '203.0.113.77')).toEqual([])
    app.clock.advance(60 * MINUTE_MS - 1)
    await sweepGuesses(app.deps)
    expect(rowsOf(app.dir, 'SELECT 1 FROM pairing_guesses')).toHaveLength(1)
    app.clock.advance(1)
    await sweepGuesses(app.deps)
    expect(rowsOf(app.dir, 'SELECT 1 FROM pairing_guesses')).toEqual([])
  })
})

describe('the whole installation', () => {
  /** Ten wrong codes each from as many networks as it takes. */
  async function spendAll(app: TestApp): Promise<void> {
    for (let network = 0; network < 12; network++) expect(await guessesAllowed(app, `198.51.100.${network}`)).toBe(10)
  }

  test('the installation checks 120 wrong codes at once and one a second after; beyond that only known networks may guess', async () => {
    const app = await start()
    const { key } = await app.tenant()
    await app.call('GET', '/v1/usage', { key, headers: { 'x-forwarded-for': '192.0.2.1' } })
    const [mine, theirs] = [await register(app, key), await register(app, key)]
    await spendAll(app)
    expect((await guess(app, '198.51.100.99', theirs.pairing_code)).status).toBe(429)
    expect((await guess(app, '192.0.2.1', mine.pairing_code)).status).toBe(200)
    // Known networks still have their own budget.
    expect(await guessesAllowed(app, '192.0.2.1')).toBe(60)
    app.clock.advance(1000)
    expect(outcome(await guess(app, '198.51.100.99'))).toBe('400 invalid_pairing_code')
    expect((await guess(app, '198.51.100.98')).status).toBe(429)
  })

  test.each([
    [
      'an API key',
      async (app: TestApp, key: string, client: string) => {
        await app.call('GET', '/v1/usage', { key, headers: { 'x-forwarded-for': client } })
      },
    ],
    [
      'a device',
      async (app: TestApp, key: string, client: string) => {
        const { access_token } = await pair(app, key)
        await app.call('GET', '/v1/usage', { key: access_token, headers: { 'x-forwarded-for': client } })
      },
    ],
  ])('knows a network by %s for 30 days, also after a restart', async (_, authenticate) => {
    const app = await start()
    const { key } = await app.tenant()
    const client = '192.0.2.1'
    await authenticate(app, key, client)
    const begun = app.clock.now()
    const isHeardAfter = async (ms: number) => {
      const again = await start({ dir: app.dir, now: begun + ms })
      await spendAll(again)
      const { status } = await guess(again, client)
      await again.stop()
      return status === 400
    }
    await app.stop()
    expect(await isHeardAfter(30 * DAY_MS - 1)).toBe(true)
    // There budgets outlive a restart.
    if (isOnPostgres) editRows(app, 'DELETE FROM rate_buckets')
    expect(await isHeardAfter(30 * DAY_MS)).toBe(false)
  })

  test('a known network is written at most once a day, and deleted after 30 days', async () => {
    const app = await start()
    const { key } = await app.tenant()
    const use = () => app.call('GET', '/v1/usage', { key, headers: { 'x-forwarded-for': '192.0.2.1' } })
    // One row for the network, and one for the tenant there.
    const seenAt = () => [
      ...new Set(rowsOf<{ seen_at: number }>(app.dir, 'SELECT seen_at FROM known_networks').map(({ seen_at }) => seen_at)),
    ]
    const first = app.clock.now()
    await use()
    // Written after the response.
    await until(async () => seenAt()[0] === first)
    app.clock.advance(DAY_MS - 1)
    await use()
    expect(seenAt()).toEqual([first])
    app.clock.advance(1)
    await use()
    await until(async () => seenAt()[0] === first + DAY_MS)
    app.clock.set(first + 31 * DAY_MS - 1)
    await sweepNetworks(app.deps)
    expect(rowsOf(app.dir, 'SELECT 1 FROM known_networks')).toHaveLength(2)
    app.clock.advance(1)
    await sweepNetworks(app.deps)
    expect(rowsOf(app.dir, 'SELECT 1 FROM known_networks')).toEqual([])
  })
})

describe('a stranger in a known network', () => {
  const HOME = '192.0.2.1'
  const isKnown = (app: TestApp, tenantId: string) => until(() => app.deps.networks.isKnown(HOME, tenantId))

  /** The budgets of the network and of everybody are spent by wrong codes. */
  async function spendNetwork(app: TestApp): Promise<void> {
    for (let i = 0; i < 60; i++) expect(outcome(await guess(app, HOME))).toBe('400 invalid_pairing_code')
    const refused = await guess(app, HOME)
    expect([outcome(refused), refused.headers.get('ratelimit-policy')]).toEqual([
      '429 rate_limit_exceeded',
      '"enroll-known";q=60;w=60',
    ])
    for (let i = 0; i < 60; i++) await app.deps.guesses.take('enroll-known-all', '')
  }

  const USES = [
    [
      'an API key',
      async (app: TestApp, _: string, key: string) => {
        await app.call('GET', '/v1/usage', { key, headers: { 'x-forwarded-for': HOME } })
      },
    ],
    [
      'a till',
      async (app: TestApp, _: string, key: string) => {
        const { access_token } = await pair(app, key)
        await app.call('GET', '/v1/usage', { key: access_token, headers: { 'x-forwarded-for': HOME } })
      },
    ],
    [
      'a dashboard session',
      async (app: TestApp, id: string) => {
        const boss = await setUpOwner(app, 'olivia', HOME)
        expect((await boss.get(`/tenants/${id}/keys`)).status).toBe(200)
      },
    ],
  ] as const
  test.each(USES)('a right code passes the spent budgets of a network where its tenant used %s', async (_, use) => {
    const app = await start()
    const { id, key } = await app.tenant()
    const { pairing_code } = await register(app, key, { pairing_ttl_seconds: 86_400 })
    await use(app, id, key)
    await isKnown(app, id)
    await spendNetwork(app)
    expect((await guess(app, HOME, pairing_code)).status).toBe(200)
    // A code that was used is wrong.
    expect(outcome(await guess(app, HOME, pairing_code))).toBe('429 rate_limit_exceeded')
  })

  test.each([
    ['passes', 30 * DAY_MS - 1, 200],
    ['waits', 30 * DAY_MS, 429],
  ])('a right code %s in a spent network where its tenant was last seen %d ms ago', async (_, ms, expected) => {
    const app = await start()
    const { id, key } = await app.tenant()
    await app.call('GET', '/v1/usage', { key, headers: { 'x-forwarded-for': HOME } })
    await isKnown(app, id)
    app.clock.advance(ms)
    const { pairing_code } = await register(app, key)
    await guessesAllowed(app, HOME)
    expect((await guess(app, HOME, pairing_code)).status).toBe(expected)
  })

  test('a right code of another tenant waits, and so do lapsed codes of the own one', async () => {
    const app = await start()
    const [own, other] = [await app.tenant(), await app.tenant()]
    await app.call('GET', '/v1/usage', { key: own.key, headers: { 'x-forwarded-for': HOME } })
    await isKnown(app, own.id)
    const theirs = await register(app, other.key, { pairing_ttl_seconds: 86_400 })
    const lapsing = await register(app, own.key, { pairing_ttl_seconds: 60 })
    app.clock.advance(60_000)
    await spendNetwork(app)
    for (const { pairing_code } of [theirs, lapsing])
      expect(outcome(await guess(app, HOME, pairing_code))).toBe('429 rate_limit_exceeded')
  })

  test('a lost response is repeated in a network whose budget is spent', async () => {
    const app = await start()
    const { id, key } = await app.tenant()
    await app.call('GET', '/v1/usage', { key, headers: { 'x-forwarded-for': HOME } })
    await isKnown(app, id)
    const { pairing_code } = await register(app, key)
    const send = (idempotencyKey: string) =>
      app.call('POST', '/v1/devices/enroll', {
        body: { pairing_code },
        headers: { 'x-forwarded-for': HOME, 'idempotency-key': idempotencyKey },
      })
    const first = await send('one')
    await spendNetwork(app)
    expect((await send('one')).body).toEqual(first.body)
    expect(outcome(await send('another'))).toBe('400 invalid_pairing_code')
  })

  test('known networks leave the budget of all others alone: a shop that was never seen pairs its first till', async () => {
    const app = await start()
    const { id, key } = await app.tenant()
    await app.call('GET', '/v1/usage', { key, headers: { 'x-forwarded-for': HOME } })
    await isKnown(app, id)
    await guessesAllowed(app, HOME)
    const { pairing_code } = await register(app, key)
    expect((await guess(app, '203.0.113.7', pairing_code)).status).toBe(200)
    for (let i = 0; i < 120; i++) await app.deps.guesses.takeIfAny('enroll-known-all', '')
    expect(outcome(await guess(app, '203.0.113.8'))).toBe('400 invalid_pairing_code')
  })

  test('wrong codes lock no known network out', async () => {
    const app = await start()
    const { id, key } = await app.tenant()
    await app.call('GET', '/v1/usage', { key, headers: { 'x-forwarded-for': HOME } })
    await isKnown(app, id)
    for (let i = 0; i < 50; i++) expect(outcome(await guess(app, HOME))).toBe('400 invalid_pairing_code')
    expect(rowsOf(app.dir, 'SELECT 1 FROM pairing_guesses')).toEqual([])
  })
})

describe('a lock', () => {
  const AWAY = '203.0.113.7'

  async function lockOut(app: TestApp): Promise<void> {
    for (let i = 0; i < 20; i++) {
      expect(outcome(await guess(app, AWAY))).toBe('400 invalid_pairing_code')
      app.clock.advance(12_000)
    }
    expect((await guess(app, AWAY)).headers.get('ratelimit-policy')).toBe('"enroll-lock";q=20;w=3600')
  }

  type Locks = { data: { id: string; locked_until: string }[] }

  test('a lock is listed for owners, who lift it once; a right code pairs at once then, and the act is on the record', async () => {
    const app = await start()
    const { id, key } = await app.tenant()
    const boss = await setUpOwner(app)
    const { pairing_code } = await register(app, key)
    expect((await boss.get<Locks>('/pairing-locks')).body).toEqual({ data: [] })
    await lockOut(app)
    const { data } = (await boss.get<Locks>('/pairing-locks')).body
    const lockedAt = app.clock.now() - 12_000
    expect(data).toEqual([{ id: expect.any(String), locked_until: isoUtc(lockedAt + 15 * MINUTE_MS) }])
    expect(JSON.stringify(data)).not.toContain('203.0.113')
    const mia = await joinMember(app, id, 'mia')
    expect(outcome(await mia.get('/pairing-locks'))).toBe('403 owner_required')
    expect(outcome(await mia.delete(`/pairing-locks/${data[0]!.id}`))).toBe('403 owner_required')
    expect((await boss.delete(`/pairing-locks/${data[0]!.id}`)).status).toBe(200)
    expect(outcome(await boss.delete(`/pairing-locks/${data[0]!.id}`))).toBe('404 not_found')
    expect((await guess(app, AWAY, pairing_code)).status).toBe(200)
    const records = (await boss.get<{ data: { action: string; actor: string }[] }>('/audit?limit=5')).body.data
    expect(records.filter(({ action }) => action === 'pairing.unlocked')).toMatchObject([{ actor: 'dashboard:olivia' }])
  })

  test('a lock of a network where a shop uses the dashboard is void, and not listed', async () => {
    const app = await start()
    const { id } = await app.tenant()
    const boss = await setUpOwner(app)
    await lockOut(app)
    expect((await boss.get<Locks>('/pairing-locks')).body.data).toHaveLength(1)
    boss.from(AWAY)
    await boss.get(`/tenants/${id}/keys`)
    await until(() => app.deps.networks.isKnown(AWAY))
    expect((await boss.get<Locks>('/pairing-locks')).body).toEqual({ data: [] })
    expect(outcome(await guess(app, AWAY))).toBe('400 invalid_pairing_code')
  })

  test('a lock that has ended is not listed', async () => {
    const app = await start()
    const boss = await setUpOwner(app)
    await lockOut(app)
    const [{ id }] = (await boss.get<Locks>('/pairing-locks')).body.data as [Locks['data'][number]]
    app.clock.advance(15 * MINUTE_MS - 12_000)
    expect((await boss.get<Locks>('/pairing-locks')).body).toEqual({ data: [] })
    expect(outcome(await boss.delete(`/pairing-locks/${id}`))).toBe('404 not_found')
  })
})

describe('refreshing', () => {
  const rotate = (app: TestApp, token: string, client: string) =>
    app.call<{ refresh_token: string }>('POST', '/v1/devices/token', {
      body: { refresh_token: token },
      headers: { 'x-forwarded-for': client },
    })

  test('a network has 60 refreshes at once and 60 a minute', async () => {
    const app = await start()
    const unknown = `vdr_${'A'.repeat(38)}`
    for (let i = 0; i < 60; i++) expect((await rotate(app, unknown, '203.0.113.7')).status).toBe(400)
    expect(outcome(await rotate(app, unknown, '203.0.113.7'))).toBe('429 rate_limit_exceeded')
    app.clock.advance(1000)
    expect((await rotate(app, unknown, '203.0.113.7')).status).toBe(400)
  })

  test('a device has 6 refreshes at once and 6 a minute, and a 429 spends no token', async () => {
    const app = await start()
    const { key } = await app.tenant()
    let { refresh_token } = await pair(app, key)
    for (let i = 0; i < 6; i++) refresh_token = (await rotate(app, refresh_token, `203.0.113.${i}`)).body.refresh_token
    const refused = await rotate(app, refresh_token, '203.0.113.99')
    expect([outcome(refused), refused.headers.get('retry-after')]).toEqual(['429 rate_limit_exceeded', '10'])
    app.clock.advance(10_000)
    expect((await rotate(app, refresh_token, '203.0.113.99')).status).toBe(200)
  })
})

test('the limit of refreshes and the Idempotency-Key are checked before the body', async () => {
  const app = await start()
  const malformed = (path: string, headers: Record<string, string>) =>
    app.call('POST', path, { raw: '{', headers: { 'content-type': 'application/json', ...headers } })
  for (const path of ['/v1/devices/enroll', '/v1/devices/token']) {
    expect(outcome(await malformed(path, {}))).toBe('400 invalid_request')
    expect(outcome(await malformed(path, { 'idempotency-key': 'a b' }))).toBe('400 invalid_idempotency_key')
  }
  const client = { 'x-forwarded-for': '203.0.113.7' }
  for (let i = 0; i < 60; i++) expect(outcome(await malformed('/v1/devices/token', client))).toBe('400 invalid_request')
  expect(outcome(await malformed('/v1/devices/token', client))).toBe('429 rate_limit_exceeded')
})

test('a device has 30 requests at once and 10 a second, whichever of its tokens it uses', async () => {
  const app = await start()
  const { key } = await app.tenant()
  const first = await pair(app, key)
  const second = (
    await app.call<{ access_token: string }>('POST', '/v1/devices/token', { body: { refresh_token: first.refresh_token } })
  ).body
  const usage = (token: string) => app.call('GET', '/v1/usage', { key: token })
  const told = await usage(first.access_token)
  expect(told.headers.get('ratelimit-policy')).toBe('"device";q=30;w=3')
  for (let i = 1; i < 30; i++) expect((await usage(i % 2 ? first.access_token : second.access_token)).status).toBe(200)
  expect(outcome(await usage(second.access_token))).toBe('429 rate_limit_exceeded')
  app.clock.advance(100)
  expect((await usage(first.access_token)).status).toBe(200)
})

test('a rate limit scale of 0 switches every limit on guessing off', async () => {
  const app = await start({ rateLimitScale: 0 })
  for (let i = 0; i < 150; i++) expect(outcome(await guess(app, '203.0.113.7'))).toBe('400 invalid_pairing_code')
  expect(rowsOf(app.dir, 'SELECT 1 FROM pairing_guesses')).toEqual([])
})
