import { describe, expect, test } from 'bun:test'
import { createKey, revokeKey, rollKey } from '../../src/access/keys.ts'
import { SCOPES, type Scope } from '../../src/access/scopes.ts'
import { listKeys } from '../../src/access/store.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import { type Call, type ErrorBody, NOON, outcome, startWithTenant, type TestApp } from '../helpers/app.ts'
import { editSettings } from '../helpers/database.ts'

const DAY_MS = 86_400_000

const ROUTES: { method: string; path: string; scope: Scope; body?: unknown }[] = [
  { method: 'POST', path: '/v1/verifications', scope: 'verifications:create', body: { template: 'age_over_18' } },
  { method: 'GET', path: '/v1/verifications', scope: 'verifications:read' },
  { method: 'GET', path: '/v1/verifications/vs_unknown', scope: 'verifications:read' },
  { method: 'DELETE', path: '/v1/verifications/vs_unknown', scope: 'verifications:delete' },
  { method: 'GET', path: '/v1/usage', scope: 'verifications:read' },
  { method: 'POST', path: '/v1/devices', scope: 'devices:manage', body: { name: 'Till 1', allowed_templates: ['age_over_18'] } },
  { method: 'GET', path: '/v1/devices', scope: 'devices:manage' },
  { method: 'DELETE', path: '/v1/devices/unknown', scope: 'devices:manage' },
]

const { app, ...tenant } = await startWithTenant()

const idOf = async ({ deps }: TestApp, tenantId: string, key: string) =>
  (await listKeys(deps.db, tenantId)).find(({ prefix }) => key.startsWith(prefix))?.id ?? ''

describe.each(ROUTES)('$method $path', ({ method, path, scope, body }) => {
  test('requires Authorization: Bearer <API_KEY>; missing, malformed, revoked and unknown keys all answer the same 401', async () => {
    const revoked = await app.key(tenant.id)
    await revokeKey(app.deps, await idOf(app, tenant.id, revoked), 'test')
    const unknown = `vk_test_${'A'.repeat(38)}`
    const valid = tenant.key
    const edited = `${valid.slice(0, -1)}${valid.endsWith('0') ? '1' : '0'}`
    const otherEnvironment = valid.replace('vk_test_', 'vk_live_')
    const headers = [
      {},
      ...[
        '',
        valid,
        'Bearer',
        'Bearer ',
        'Basic YTpi',
        `Token ${valid}`,
        `Bearer  ${valid}`,
        `Bearer ${valid} x`,
        `Bearer ${valid}, Bearer ${valid}`,
      ],
      ...[revoked, unknown, edited, otherEnvironment, `vd_${'A'.repeat(38)}`, 'x'.repeat(5000)].map(key => `Bearer ${key}`),
    ].map(value => (typeof value === 'string' ? { authorization: value } : value))
    const answers = await Promise.all(headers.map(each => app.call<ErrorBody>(method, path, { body, headers: each })))
    expect(answers.map(({ status }) => status)).toEqual(headers.map(() => 401))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.body.error.code).toBe('invalid_api_key')
    for (const each of answers) expect(each.headers.get('ratelimit')).toBeNull()
  })

  test('a key lacking the scope gets 403 insufficient_scope, and the message names the missing scope', async () => {
    const key = await app.key(tenant.id, { scopes: SCOPES.filter(each => each !== scope) })
    const answer = await app.call<ErrorBody>(method, path, { key, body })
    expect(outcome(answer)).toBe('403 insufficient_scope')
    expect(answer.body.error.message).toContain(scope)
  })

  test('a key with that scope alone is accepted', async () => {
    const key = await app.key(tenant.id, { scopes: [scope] })
    expect([200, 201, 404]).toContain((await app.call(method, path, { key, body })).status)
  })
})

describe('the order of checks is authentication, then scope, then body', () => {
  const malformed = { raw: '{"template":', headers: { 'content-type': 'application/json' } }

  const WRONG: [what: string, method: string, path: string, call: Call, without: Scope][] = [
    ['a malformed body', 'POST', '/v1/verifications', malformed, 'verifications:create'],
    ['a bad query string', 'GET', '/v1/verifications?limit=x', {}, 'verifications:read'],
  ]
  test.each(WRONG)('%s is 401 without a key, 403 without the scope, else 400', async (_, method, path, call, scope) => {
    const poor = await app.key(tenant.id, { scopes: SCOPES.filter(each => each !== scope) })
    const answers = await Promise.all([undefined, poor, tenant.key].map(key => app.call(method, path, { key, ...call })))
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 400])
  })

  test('an unauthenticated body is not even read', async () => {
    let pulled = 0
    const endless = new ReadableStream({
      async pull(controller) {
        pulled++
        if (pulled > 200) return controller.close()
        controller.enqueue(new Uint8Array(64 * 1024))
        await Bun.sleep(5)
      },
    })
    const response = await fetch(`${app.url}/v1/verifications`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: endless,
    })
    // The response arrives while most of the body is unsent.
    expect(response.status).toBe(401)
    expect(pulled).toBeLessThan(150)
    await response.body?.cancel()
  })
})

describe('expiry', () => {
  test.each([30, 90, 365] as const)(
    'a key of %d days is valid up to its deadline; expiring exactly now it is expired',
    async days => {
      const { app: own, id, key: endless } = await startWithTenant()
      const key = await own.key(id, { expiresDays: days })
      const status = async (with_: string) => {
        const { status, body } = await own.call<ErrorBody>('GET', '/v1/usage', { key: with_ })
        return `${status} ${body.error?.code}`
      }
      own.clock.set(NOON + days * DAY_MS - 1)
      expect(await status(key)).toBe('200 undefined')
      own.clock.set(NOON + days * DAY_MS)
      expect(await status(key)).toBe('401 api_key_expired')
      expect(await status(endless)).toBe('200 undefined')
    },
  )

  test('an expired key gives its 401 before scope and body', async () => {
    const { app: own, id } = await startWithTenant()
    const key = await own.key(id, { expiresDays: 30, scopes: ['verifications:read'] })
    own.clock.advance(31 * DAY_MS)
    expect(outcome(await own.call('POST', '/v1/verifications', { key, raw: '{' }))).toBe('401 api_key_expired')
  })

  test('a revoked key is refused, and a new quota applies, as soon as the change is acknowledged, also by another process', async () => {
    const { app: own, id, key } = await startWithTenant()
    const create = async () =>
      (await own.call<ErrorBody>('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).status
    expect(await create()).toBe(201)
    editSettings(own, 'UPDATE tenants SET daily_quota = 1')
    expect(await create()).toBe(429)
    await changeTenant(own.deps, id, { dailyQuota: 100 }, 'test')
    expect(await create()).toBe(201)
    editSettings(own, 'UPDATE api_keys SET expires_at = 1')
    expect(await create()).toBe(401)
    editSettings(own, 'UPDATE api_keys SET expires_at = NULL')
    expect(await create()).toBe(201)
    const keyId = await idOf(own, id, key)
    const under = Promise.all(Array.from({ length: 20 }, create))
    await revokeKey(own.deps, keyId, 'test')
    expect(await create()).toBe(401)
    await under
  })

  test('a revoked key answers invalid_api_key even past its deadline', async () => {
    const { app: own, id } = await startWithTenant()
    const key = await own.key(id, { expiresDays: 30 })
    const keyId = await idOf(own, id, key)
    await revokeKey(own.deps, keyId, 'test')
    own.clock.advance(31 * DAY_MS)
    expect((await own.call<ErrorBody>('GET', '/v1/usage', { key })).body.error.code).toBe('invalid_api_key')
  })

  test.each([
    ['now', 0],
    ['1h', 3_600_000],
    ['24h', DAY_MS],
    ['7d', 7 * DAY_MS],
  ] as const)('a key rolled with %s works for that long, and its successor has the same rights at once', async (grace, ms) => {
    const { app: own, id } = await startWithTenant()
    const key = await own.key(id, { scopes: ['verifications:read'] })
    const keyId = await idOf(own, id, key)
    const successor = await rollKey(own.deps, keyId, grace, 'test')
    expect(successor?.row.scopes).toEqual(['verifications:read'])
    const status = async (with_ = '') => (await own.call('GET', '/v1/usage', { key: with_ })).status
    own.clock.set(NOON + ms - 1)
    if (ms > 0) expect(await status(key)).toBe(200)
    own.clock.set(NOON + ms)
    expect([await status(key), await status(successor?.key)]).toEqual([401, 200])
  })
})

test.each([
  ['without a deadline', undefined, null],
  ['for 90 days', 90, NOON + 2 * DAY_MS + 90 * DAY_MS],
] as const)('a key made %s is rolled once, and its successor lives as long', async (_, expiresDays, end) => {
  const { app: own, id } = await startWithTenant()
  const key = await own.key(id, { expiresDays })
  const keyId = await idOf(own, id, key)
  own.clock.advance(DAY_MS)
  const first = await rollKey(own.deps, keyId, '7d', 'test')
  own.clock.advance(DAY_MS)
  const count = (await listKeys(own.deps.db, id)).length
  await expect(rollKey(own.deps, keyId, '24h', 'test')).rejects.toMatchObject({
    code: 'key_rolled',
    message: `${keyId} was rolled already; roll its successor ${first?.row.id}.`,
  })
  expect((await listKeys(own.deps.db, id)).length).toBe(count)
  expect((await own.call('GET', '/v1/usage', { key })).status).toBe(200)
  const second = await rollKey(own.deps, first?.row.id ?? '', '24h', 'test')
  expect(second?.row.expiresAt).toBe(end)
})

test('a key whose own deadline comes before the end of the grace is rolled once, too', async () => {
  const { app: own, id } = await startWithTenant()
  const { row } = await createKey(own.deps, { tenantId: id, environment: 'test', scopes: SCOPES, expiresDays: 30, actor: 'test' })
  own.clock.advance(30 * DAY_MS - 3_600_000)
  const successor = await rollKey(own.deps, row.id, '24h', 'test')
  await expect(rollKey(own.deps, row.id, '24h', 'test')).rejects.toMatchObject({
    code: 'key_rolled',
    message: `${row.id} was rolled already; roll its successor ${successor?.row.id}.`,
  })
})

test('only a SHA-256 hash and the first 12 characters of a key are stored', async () => {
  const [row] = (await listKeys(app.deps.db, tenant.id)).filter(({ prefix }) => tenant.key.startsWith(prefix))
  expect(row?.prefix).toBe(tenant.key.slice(0, 12))
  expect(row?.hash).toBe(new Bun.CryptoHasher('sha256').update(tenant.key).digest('hex'))
  expect(JSON.stringify(row)).not.toContain(tenant.key.slice(12))
})

test('the scheme Bearer is case-insensitive', async () => {
  expect((await app.call('GET', '/v1/usage', { headers: { authorization: `bearer ${tenant.key}` } })).status).toBe(200)
})
