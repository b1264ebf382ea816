// What a device token may and may not do on the merchant routes.
import { beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { linkEntries } from '../../src/audit/link.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { sha256Hex } from '../../src/base/hash.ts'
import { SEALED } from '../../src/db/sealed-columns.ts'
import type { TokenPair } from '../../src/devices/schema.ts'
import { markRedeemed } from '../../src/verifications/end/answer-store.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { answerAsIf } from '../helpers/answered.ts'
import { createVerification, type ErrorBody, startApp, type TestApp, until } from '../helpers/app.ts'
import { isOnPostgres, rowsOf } from '../helpers/database.ts'
import { deviceOf, enroll, outcome, pair, refresh, register } from '../helpers/devices.ts'
import { ID_ROUTES, RESPONSE_CODE } from '../helpers/id-routes.ts'

let app: TestApp
let tenant: Awaited<ReturnType<TestApp['tenant']>>
let till: TokenPair

beforeAll(async () => {
  app = await startApp()
  tenant = await app.tenant()
  till = await pair(app, tenant.key, { allowed_templates: ['age_over_18', 'of_tomorrow'] })
})

const create = (body: object, key = till.access_token, headers?: Record<string, string>) =>
  app.call<Verification & ErrorBody>('POST', '/v1/verifications', { key, body, headers })

describe('a device creates', () => {
  test('a device creates sessions with its templates, and its name is the actor of the audit record', async () => {
    const own = await startApp()
    const { key } = await own.tenant()
    const { access_token } = await pair(own, key, { name: 'Till at the door' })
    await createVerification(own, access_token)
    await linkEntries(own.deps)
    const actors = rowsOf<{ actor: string }>(own.dir, "SELECT actor FROM audit_records WHERE action = 'verification.created'")
    expect(actors).toEqual([{ actor: 'Till at the door' }])
    expect((await verifyAudit(own.deps)).problem).toBeUndefined()
  })

  test('audit record and log have the device id, so that its name cannot pass for another actor', async () => {
    const own = await startApp()
    const { id: tenantId, key } = await own.tenant()
    const { device, access_token } = await pair(own, key, { name: 'dashboard:owner' })
    await createVerification(own, access_token)
    await linkEntries(own.deps)
    const [record] = rowsOf<{ id: number; salt: Uint8Array; sealed: Uint8Array; session_id: string }>(
      own.dir,
      `SELECT ${isOnPostgres ? 'entry_id' : 'seq'} AS id, salt, sealed, session_id FROM audit_records WHERE action = 'verification.created'`,
    )
    const { id, salt, sealed, session_id } = record!
    const sessionKey = await own.deps.sessionKeys.find(own.deps.db, session_id)
    const details = own.deps.sealer.open(SEALED.auditDetails({ tenantId, id: String(id) }, salt, sessionKey), sealed)
    expect(JSON.parse(details)).toMatchObject({ template: 'age_over_18', device: device.id })
    await until(async () => own.logs.some(line => line.includes(`"device":"${device.id}"`)))
    expect(own.logs.filter(line => line.includes('dashboard:owner'))).toEqual([])
  })

  test('another template is 403 insufficient_scope that names it and the way to change it, whether it exists or not', async () => {
    const [existing, missing] = [await create({ template: 'age_over_21' }), await create({ template: 'age_over_22' })]
    expect([existing, missing].map(outcome)).toEqual(Array(2).fill('403 insufficient_scope'))
    expect(existing.text).toContain('age_over_21')
    expect(existing.text.replace('age_over_21', 'age_over_22')).toBe(missing.text)
    expect(existing.body.error.message).toContain('PATCH /v1/devices/{id}')
  })

  test('a device cannot create with a query of its own', async () => {
    const meta = { vct_values: ['https://club.example/member'] }
    const query = { credentials: [{ id: 'member', format: 'dc+sd-jwt', meta, claims: [{ path: ['level'] }] }] }
    expect(outcome(await create({ query }))).toBe('403 insufficient_scope')
    expect(outcome(await create({ query, template: 'age_over_18' }))).toBe('400 invalid_request')
    expect(outcome(await create({}))).toBe('400 invalid_request')
  })

  test.each([
    ['webhook_url', { webhook_url: 'https://shop.example/hook' }],
    ['redirect_url', { redirect_url: 'https://shop.example/done' }],
    ['redirect_url', { redirect_url: 'https://shop.example/done', release: 'on_redeem' }],
  ])('without %s: a device that gives one gets 403 insufficient_scope that says so, and creates nothing', async (name, given) => {
    const before = rowsOf(app.dir, 'SELECT id FROM verification_sessions').length
    const answer = await create({ template: 'age_over_18', ...given })
    expect([outcome(answer), answer.body.error.message]).toEqual([
      '403 insufficient_scope',
      `A device may not give ${name}; leave it out, or use an API key.`,
    ])
    expect(rowsOf(app.dir, 'SELECT id FROM verification_sessions')).toHaveLength(before)
  })

  test('an allowed template that does not exist yet is 422 unknown_template', async () => {
    expect(outcome(await create({ template: 'of_tomorrow' }))).toBe('422 unknown_template')
  })

  test("against the tenant's quota", async () => {
    const poor = await app.tenant({ name: 'Poor', dailyQuota: 1 })
    const { access_token } = await pair(app, poor.key)
    const outcomes = [
      await create({ template: 'age_over_18' }, access_token),
      await create({ template: 'age_over_18' }, access_token),
    ]
    expect(outcomes.map(outcome)).toEqual(['201', '429 quota_exceeded'])
  })

  test('a device creates in the environment of the key that registered it', async () => {
    const live = await pair(app, tenant.liveKey)
    const { id } = await createVerification(app, live.access_token)
    const status = async (key: string) => (await app.call('GET', `/v1/verifications/${id}`, { key })).status
    expect([await status(tenant.liveKey), await status(tenant.key), await status(live.access_token)]).toEqual([200, 404, 200])
  })

  test('an Idempotency-Key of a device creates once, and is separate from those of other devices and keys', async () => {
    const other = await pair(app, tenant.key)
    const body = { template: 'age_over_18' }
    const once = { 'idempotency-key': 'shared' }
    const first = await create(body, till.access_token, once)
    const again = await create(body, till.access_token, once)
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    const rotated = (await refresh(app, till.refresh_token)).body
    expect((await create(body, rotated.access_token, once)).text).toBe(first.text)
    till = rotated
    const others = [await create(body, other.access_token, once), await create(body, tenant.key, once)]
    expect(others.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, null])
    expect(new Set([first, ...others].map(({ body }) => body.id)).size).toBe(3)
  })
})

describe('a device reads', () => {
  test('a device lists the sessions it created, in pages, and no others', async () => {
    const [one, two] = [await pair(app, tenant.key), await pair(app, tenant.key)]
    const created: string[] = []
    for (let i = 0; i < 5; i++) {
      created.push((await createVerification(app, one.access_token)).id)
      await createVerification(app, two.access_token)
      await createVerification(app, tenant.key)
    }
    const list = async (query: string, key = one.access_token) =>
      (await app.call<{ data: Verification[] }>('GET', `/v1/verifications${query}`, { key })).body.data
    expect((await list('')).map(({ id }) => id)).toEqual(created.toReversed())
    const page = await list('?limit=2')
    const next = await list(`?limit=2&before=${page[1]?.created_at}`)
    expect([...page, ...next].map(({ id }) => id)).toEqual(created.toReversed().slice(0, 4))
    const all = (await list('?limit=100', tenant.key)).map(({ id }) => id)
    for (const id of created) expect(all).toContain(id)
  })

  test('usage', async () => {
    expect((await app.call('GET', '/v1/usage', { key: till.access_token })).status).toBe(200)
  })

  test('a device redeems response codes of its own sessions only', async () => {
    const other = await pair(app, tenant.key)
    const { id } = await createVerification(app, till.access_token)
    await answerAsIf(app, id, RESPONSE_CODE)
    const redeem = (key: string) =>
      app.call('POST', `/v1/verifications/${id}/redeem`, { key, body: { response_code: RESPONSE_CODE } })
    expect(outcome(await redeem(other.access_token))).toBe('404 invalid_response_code')
    // That was the look that counts guesses; the statement that redeems refuses it by itself.
    const owner = { tenantId: tenant.id, environment: 'test' as const, deviceId: other.device.id }
    const code = sha256Hex(RESPONSE_CODE)
    expect(await app.deps.write(tx => markRedeemed(tx, owner, id, code, app.deps.now()))).toBeUndefined()
    expect(outcome(await redeem(till.access_token))).toBe('200')
  })
})

describe('a device never', () => {
  test.each([
    ['DELETE', '/v1/verifications/x', 'verifications:delete'],
    ['POST', '/v1/devices', 'devices:manage'],
    ['GET', '/v1/devices', 'devices:manage'],
    ['DELETE', '/v1/devices/x', 'devices:manage'],
  ])('%s %s: 403 insufficient_scope, before the body', async (method, path, scope) => {
    const answer = await app.call<ErrorBody>(method, path, { key: till.access_token, ...(method === 'POST' && { raw: '{' }) })
    expect(outcome(answer)).toBe('403 insufficient_scope')
    expect(answer.body.error.message).toContain(scope)
  })

  test('refresh tokens do not authenticate, and access tokens do not refresh', async () => {
    expect(outcome(await app.call('GET', '/v1/usage', { key: till.refresh_token }))).toBe('401 invalid_api_key')
    expect(outcome(await refresh(app, till.access_token))).toBe('400 invalid_refresh_token')
  })

  test('malformed, unknown and revoked tokens get the same 401', async () => {
    const revoked = await pair(app, tenant.key)
    await app.call('DELETE', `/v1/devices/${revoked.device.id}`, { key: tenant.key })
    const tokens = [
      revoked.access_token,
      `vd_${'A'.repeat(38)}`,
      `${till.access_token}x`,
      till.access_token.replace('vd_', 'vk_test_'),
      'x',
    ]
    const answers = await Promise.all(tokens.map(key => app.call('GET', '/v1/usage', { key })))
    expect(answers.map(outcome)).toEqual(tokens.map(() => '401 invalid_api_key'))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    for (const { headers } of answers) expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  })

  test('a revoked and expired token answers invalid_api_key', async () => {
    const own = await startApp()
    const { key } = await own.tenant()
    const { device, access_token } = await pair(own, key)
    await own.call('DELETE', `/v1/devices/${device.id}`, { key })
    own.clock.advance(3_600_000)
    expect(outcome(await own.call('GET', '/v1/usage', { key: access_token }))).toBe('401 invalid_api_key')
  })
})

describe('last_seen_at', () => {
  test('is written at most once a minute', async () => {
    const own = await startApp()
    const { key } = await own.tenant()
    const { device, access_token } = await pair(own, key)
    const start = own.clock.now()
    const seenAt = async () => Date.parse((await deviceOf(own, key, device.id)).last_seen_at ?? '') - start
    const use = async (ms: number) => {
      own.clock.set(start + ms)
      await own.call('GET', '/v1/usage', { key: access_token })
    }
    // Written after the response.
    const isSeenAfter = async (ms: number) => {
      await use(ms)
      await until(async () => (await seenAt()) === ms)
    }
    await isSeenAfter(10)
    await use(60_009)
    expect(await seenAt()).toBe(10)
    await isSeenAfter(60_010)
    await use(90_000)
    expect(await seenAt()).toBe(60_010)
    await isSeenAfter(500_000)
  })
})

test('the routes that are asked for the ids of others are all that take one with a key', () => {
  const table = createApp(app.deps).routes as { method: string; path: string }[]
  // Status and events need only the id.
  const taking = table.filter(({ path }) => path.startsWith('/v1/') && path.includes(':') && !/\/(status|events)$/.test(path))
  const named = taking.map(({ method, path }) => `${method} ${path.replace(/:\w+/, 'ID')}`)
  expect(ID_ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(named.toSorted())
})

test('every route answers every foreign id with the 404 of an id that never was, byte for byte', async () => {
  const stranger = await app.tenant()
  const other = await pair(app, tenant.key)
  const callers = { key: tenant.key, 'live key': tenant.liveKey, device: till.access_token }
  const random = { session: 'vs_0000000000000000000000', device: '00000000-0000-7000-8000-000000000000' }
  const session = async (key: string) => (await createVerification(app, key)).id
  const erased = await session(tenant.key)
  await app.call('DELETE', `/v1/verifications/${erased}`, { key: tenant.key })
  const foreign = {
    key: {
      session: [await session(stranger.key), await session(tenant.liveKey), erased],
      device: [(await register(app, stranger.key)).device.id, (await register(app, tenant.liveKey)).device.id],
    },
    'live key': {
      session: [await session(stranger.liveKey), await session(tenant.key), await session(till.access_token), erased],
      device: [(await register(app, stranger.liveKey)).device.id, till.device.id],
    },
    device: {
      session: [
        await session(stranger.key),
        await session(tenant.liveKey),
        await session(tenant.key),
        await session(other.access_token),
        erased,
      ],
      device: [],
    },
  }
  const differing: string[] = []
  let asked = 0
  for (const [name, key] of Object.entries(callers) as [keyof typeof callers, string][]) {
    for (const { of, method, path, body } of ID_ROUTES) {
      const ask = (id: string) => app.call(method, path.replace('ID', id), { key, body })
      const never = await ask(random[of])
      // Tills neither erase nor manage devices.
      if (name !== 'device' || (of === 'session' && method !== 'DELETE')) expect(never.status).toBe(404)
      for (const id of foreign[name][of]) {
        asked++
        const answer = await ask(id)
        if (answer.status !== never.status || answer.text !== never.text)
          differing.push(`${name} ${method} ${path} ${answer.text}`)
      }
    }
  }
  expect(differing).toEqual([])
  expect(asked).toBeGreaterThan(30)
})

test('a revoked till stays revoked after a restart', async () => {
  const own = await startApp()
  const { key } = await own.tenant()
  const { pairing_code, device } = await register(own, key)
  const { access_token, refresh_token } = (await enroll(own, pairing_code)).body
  await own.call('DELETE', `/v1/devices/${device.id}`, { key })
  await own.stop()
  const again = await startApp({ dir: own.dir })
  expect(outcome(await again.call('GET', '/v1/usage', { key: access_token }))).toBe('401 invalid_api_key')
  expect(outcome(await refresh(again, refresh_token))).toBe('400 invalid_refresh_token')
})
