import { describe, expect, test } from 'bun:test'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, type ErrorBody, NOON, outcome, startWithTenant } from '../helpers/app.ts'
import { words } from '../helpers/words.ts'

type List = { data: Verification[] }

const { app, ...tenant } = await startWithTenant()

const create = async (key: string, body = {}) => (await createVerification(app, key, body)).id

const ids: string[] = []
for (let i = 0; i < 105; i++) ids.unshift(await create(tenant.key, { metadata: { n: String(i) } }))

const list = async (query = '', key = tenant.key) => (await app.call<List>('GET', `/v1/verifications${query}`, { key })).body.data

describe('GET /v1/verifications', () => {
  test('the list has sessions newest first, 20 by default', async () => {
    expect((await list()).map(({ id }) => id)).toEqual(ids.slice(0, 20))
  })

  test('an empty list is an empty data array, and data is the only member', async () => {
    const { key } = await app.tenant()
    expect((await app.call('GET', '/v1/verifications', { key })).text).toBe('{"data":[]}')
  })

  test('each element of the list equals the session fetched alone', async () => {
    const [first] = await list('?limit=1')
    expect(first).toEqual((await app.call<Verification>('GET', `/v1/verifications/${first?.id}`, { key: tenant.key })).body)
  })

  test.each([1, 100])('the list with limit=%d has that many sessions', async limit => {
    expect(await list(`?limit=${limit}`)).toHaveLength(limit)
  })

  test.each(['=', '=1', '=&limit=1'])(
    'a parameter without a name, as in ?%s, is 400 and called "" in the message',
    async query => {
      const { status, body } = await app.call<ErrorBody>('GET', `/v1/verifications?${query}`, { key: tenant.key })
      expect([status, body.error.code, body.error.message]).toEqual([
        400,
        'invalid_request',
        expect.stringMatching(/^"": unexpected property/),
      ])
    },
  )

  test.each(['', ...words('0 101 -1 1.5 1e2 0x10 05 %205 5%20 abc +5 ٥ 99999999999999999999 1&limit=101')])(
    'limit=%s is 400 invalid_request naming limit',
    async limit => {
      const { status, body } = await app.call<ErrorBody>('GET', `/v1/verifications?limit=${limit}`, { key: tenant.key })
      expect([status, body.error?.code]).toEqual([400, 'invalid_request'])
      expect(body.error.message).toMatch(/^limit: expected a whole number from 1 to 100/)
    },
  )

  test('an unknown parameter of the list is 400, with its name', async () => {
    const { status, body } = await app.call<ErrorBody>('GET', '/v1/verifications?limt=5', { key: tenant.key })
    expect([status, body.error?.code]).toEqual([400, 'invalid_request'])
    expect(body.error.message).toMatch(/^limt: /)
  })

  test('before is strict: paging with the last created_at neither skips nor repeats', async () => {
    const seen: string[] = []
    let before = ''
    for (;;) {
      const page = await list(`?limit=13${before && `&before=${before}`}`)
      seen.push(...page.map(({ id }) => id))
      if (page.length < 13) break
      before = page.at(-1)?.created_at ?? ''
    }
    expect(seen).toEqual(ids)
  })

  test.each([
    ['2026-03-04T12:00:00Z', 0],
    ['2026-03-04T12:00:00.001Z', 1],
    ['2026-03-04T12:00:00.0000Z', 0],
    ['2026-03-04T12:00:00.0001Z', 1],
    ['2026-03-04T12:00:00.001000001Z', 2],
    ['1970-01-01T00:00:00Z', 0],
    ['9999-12-31T23:59:59.999999999Z', 100],
  ])('before=%s, fractions beyond milliseconds rounding up, finds %d', async (before, count) => {
    expect(await list(`?limit=100&before=${before}`)).toHaveLength(count)
  })

  test.each([
    ...words(`
      2026-03-04T12:00:00 2026-03-04T12:00:00+00:00 2026-03-04 2026-02-30T12:00:00Z 2026-03-04T24:00:00Z
      2026-03-04T12:00:60Z 2026-03-04T12:00:00.Z 2026-03-04T12:00:00.1234567890Z 2026-03-04t12:00:00z 1772625600000
      now
    `),
    '2026-03-04 12:00:00Z',
    '',
  ])('before=%s is 400 invalid_request naming before', async before => {
    const { status, body } = await app.call<ErrorBody>('GET', `/v1/verifications?before=${encodeURIComponent(before)}`, {
      key: tenant.key,
    })
    expect([status, body.error?.code]).toEqual([400, 'invalid_request'])
    expect(body.error.message).toMatch(/^before: expected a UTC time/)
  })

  test('the list shows sessions of its own tenant and environment only', async () => {
    const other = await app.tenant()
    const live = await create(tenant.liveKey)
    const foreign = await create(other.key)
    expect((await list('', tenant.liveKey)).map(({ id }) => id)).toEqual([live])
    expect((await list('', other.key)).map(({ id }) => id)).toEqual([foreign])
    expect((await list('?limit=100')).some(({ id }) => id === live || id === foreign)).toBe(false)
  })
})

describe('GET /v1/verifications/{id}', () => {
  test('a fetched session is as it was created', async () => {
    const body = {
      template: 'age_over_18',
      metadata: { a: 'b' },
      purpose: 'Wine',
      redirect_url: 'https://shop.example/done',
      ttl_seconds: 60,
    }
    const created = await app.call<Verification>('POST', '/v1/verifications', { key: tenant.key, body })
    const { status, text } = await app.call('GET', `/v1/verifications/${created.body.id}`, { key: tenant.key })
    expect([status, text]).toEqual([200, created.text])
  })

  test('unknown, of another tenant, of another environment and erased ids are one and the same 404 session_not_found', async () => {
    const other = await app.tenant()
    const erased = await create(tenant.key)
    await app.call('DELETE', `/v1/verifications/${erased}`, { key: tenant.key })
    const foreign = [
      await create(other.key),
      await create(tenant.liveKey),
      erased,
      'vs_0000000000000000000000',
      '%01',
      'a%7Cb',
      '__proto__',
      'x'.repeat(2000),
    ]
    const answers = await Promise.all(
      foreign.map(id => app.call<ErrorBody>('GET', `/v1/verifications/${id}`, { key: tenant.key })),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect([answers[0]?.status, answers[0]?.body.error.code]).toEqual([404, 'session_not_found'])
  })

  test('a pending session is expired from expires_at on, inclusive, and no longer shows its links', async () => {
    const { app: own, key } = await startWithTenant()
    const body = await createVerification(own, key, { ttl_seconds: 60 })
    const read = async () => (await own.call<Verification>('GET', `/v1/verifications/${body.id}`, { key })).body
    own.clock.set(NOON + 59_999)
    expect(await read()).toEqual(body)
    own.clock.set(NOON + 60_000)
    const { wallet_uri, request_uri, ...rest } = body
    expect(await read()).toEqual({ ...rest, status: 'expired' })
    expect((await own.call<List>('GET', '/v1/verifications', { key })).body.data[0]?.status).toBe('expired')
  })
})

describe('GET /v1/verifications/{id}/status', () => {
  test('the status poll needs no key and returns id and status only, to any origin', async () => {
    const id = await create(tenant.key, { metadata: { secret: 'x' }, purpose: 'Wine' })
    const { status, body, headers } = await app.call('GET', `/v1/verifications/${id}/status`)
    expect([status, body]).toEqual([200, { id, status: 'pending' }])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('the status poll says expired from expires_at on', async () => {
    const { app: own, key } = await startWithTenant()
    const body = await createVerification(own, key, { ttl_seconds: 60 })
    const status = async () => (await own.call<{ status: string }>('GET', `/v1/verifications/${body.id}/status`)).body.status
    own.clock.set(NOON + 59_999)
    expect(await status()).toBe('pending')
    own.clock.set(NOON + 60_000)
    expect(await status()).toBe('expired')
  })

  test('the status poll of an unknown or erased session is 404 session_not_found', async () => {
    const id = await create(tenant.key)
    await app.call('DELETE', `/v1/verifications/${id}`, { key: tenant.key })
    for (const each of [id, 'vs_unknown']) {
      expect(outcome(await app.call('GET', `/v1/verifications/${each}/status`))).toBe('404 session_not_found')
    }
  })
})
