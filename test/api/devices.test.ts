import { describe, expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import type { Device } from '../../src/devices/schema.ts'
import { insertToken } from '../../src/devices/store.ts'
import { type ErrorBody, startWithTenant } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { deviceOf, enroll, outcome, pair, type Registered, refresh, register, TILL } from '../helpers/devices.ts'
import { filesContaining } from '../helpers/files.ts'

const { app, ...tenant } = await startWithTenant()

const post = (body: object, key = tenant.key) => app.call<Registered & ErrorBody>('POST', '/v1/devices', { key, body })
const list = async (key: string) => (await app.call<{ data: Device[] }>('GET', '/v1/devices', { key })).body.data
const revoke = (id: string, key = tenant.key) => app.call<Device & ErrorBody>('DELETE', `/v1/devices/${id}`, { key })

describe('POST /v1/devices', () => {
  test('answers 201 with a pending device and a pairing code, and nothing else', async () => {
    const at = app.clock.now()
    const { app: own, key } = await startWithTenant({ now: at })
    const answer = await own.call<Registered>('POST', '/v1/devices', { key, body: TILL })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      device: {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        name: 'Till 1',
        status: 'pending',
        allowed_templates: ['age_over_18'],
        created_at: '2026-03-04T12:00:00.000Z',
        pairing_expires_at: '2026-03-04T12:15:00.000Z',
      },
      pairing_code: expect.stringMatching(/^VD-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/),
    })
  })

  test('the code appears only there: neither the list nor any file has it', async () => {
    const { pairing_code } = await register(app, tenant.key)
    const symbols = pairing_code.slice(3).replace('-', '')
    expect(JSON.stringify(await list(tenant.key))).not.toContain(pairing_code.slice(3))
    for (const text of [pairing_code, symbols, new Bun.CryptoHasher('sha256').update(symbols).digest('hex')])
      expect(filesContaining(app.dir, text)).toEqual([])
    expect(app.logs.join('\n')).not.toContain(pairing_code.slice(3))
  })

  test.each([
    ['a name of 1', { name: 'x' }],
    ['a name of 64', { name: 'x'.repeat(64) }],
    ['a name of 64 that counts 128 in UTF-16', { name: '😀'.repeat(64) }],
    ['1 template', { allowed_templates: ['x'] }],
    ['20 templates of 64', { allowed_templates: Array.from({ length: 20 }, () => 'x'.repeat(64)) }],
    ['a template that does not exist yet', { allowed_templates: ['of_tomorrow'] }],
    ['a code for 60 s', { pairing_ttl_seconds: 60 }],
    ['a code for 86400 s', { pairing_ttl_seconds: 86_400 }],
  ])('%s is accepted and comes back as it was given', async (_, change: object) => {
    const answer = await post({ ...TILL, ...change })
    expect(answer.status).toBe(201)
    const { pairing_ttl_seconds: ttl = 900, ...given } = { ...TILL, ...change } as typeof TILL & { pairing_ttl_seconds?: number }
    expect(answer.body.device).toMatchObject(given)
    const { created_at, pairing_expires_at = '' } = answer.body.device
    expect(Date.parse(pairing_expires_at) - Date.parse(created_at)).toBe(ttl * 1000)
    expect((await revoke(answer.body.device.id)).status).toBe(200)
  })

  test.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 65', { name: 'x'.repeat(65) }, 'name'],
    ['a name that is a number', { name: 1 }, 'name'],
    ['no templates', { allowed_templates: undefined }, 'allowed_templates'],
    ['an empty list of templates', { allowed_templates: [] }, 'allowed_templates'],
    ['21 templates', { allowed_templates: Array(21).fill('x') }, 'allowed_templates'],
    ['an empty template', { allowed_templates: [''] }, 'allowed_templates.0'],
    ['a template of 65', { allowed_templates: ['x', 'x'.repeat(65)] }, 'allowed_templates.1'],
    ['templates that are no list', { allowed_templates: 'x' }, 'allowed_templates'],
    ['a code for 59 s', { pairing_ttl_seconds: 59 }, 'pairing_ttl_seconds'],
    ['a code for 86401 s', { pairing_ttl_seconds: 86_401 }, 'pairing_ttl_seconds'],
    ['a code for 60.5 s', { pairing_ttl_seconds: 60.5 }, 'pairing_ttl_seconds'],
    ['a code for "900" s', { pairing_ttl_seconds: '900' }, 'pairing_ttl_seconds'],
    ['an unknown field', { colour: 'red' }, 'colour'],
  ])('%s is 400 invalid_request, and the message names the field', async (_, change: object, field) => {
    const before = (await list(tenant.key)).length
    const answer = await post({ ...TILL, ...change })
    expect(outcome(answer)).toBe('400 invalid_request')
    expect(answer.body.error.message).toStartWith(`${field}:`)
    expect(await list(tenant.key)).toHaveLength(before)
  })

  test('a list of templates that is not there is called missing', async () => {
    const { message } = (await post({ ...TILL, allowed_templates: undefined })).body.error
    expect(message).toBe('allowed_templates: is missing')
  })

  test('at most 50 unclaimed codes of a tenant wait at a time; claiming, revoking or letting one lapse makes room', async () => {
    const { app: own, key, liveKey } = await startWithTenant()
    const stranger = await own.tenant()
    const first = await register(own, key, { pairing_ttl_seconds: 60 })
    const others: Registered[] = []
    for (let i = 1; i < 50; i++) others.push(await register(own, i % 2 ? key : liveKey, { pairing_ttl_seconds: 600 }))
    const attempt = () => own.call('POST', '/v1/devices', { key, body: TILL })
    const refused = await attempt()
    expect(outcome(refused)).toBe('429 rate_limit_exceeded')
    expect(refused.headers.get('retry-after')).toBe('60')
    await register(own, stranger.key)
    expect((await enroll(own, others[0]?.pairing_code ?? '')).status).toBe(200)
    expect([outcome(await attempt()), outcome(await attempt())]).toEqual(['201', '429 rate_limit_exceeded'])
    await own.call('DELETE', `/v1/devices/${others[2]?.device.id}`, { key })
    expect([outcome(await attempt()), outcome(await attempt())]).toEqual(['201', '429 rate_limit_exceeded'])
    own.clock.set(Date.parse(first.device.pairing_expires_at ?? ''))
    expect([outcome(await attempt()), outcome(await attempt())]).toEqual(['201', '429 rate_limit_exceeded'])
  })

  test('at most 1,000 wait in the whole installation', async () => {
    const { app: own, id: tenantId, key } = await startWithTenant()
    const { device } = await register(own, key)
    const waiting = { deviceId: device.id, tenantId, kind: 'pairing', familyExpiresAt: null } as const
    const expiresAt = Date.parse(device.pairing_expires_at ?? '')
    await own.deps.write(async tx => {
      for (let i = 2; i < 1000; i++)
        await insertToken(tx, { ...waiting, generation: i, hash: `${i}`.padStart(64, '0'), expiresAt })
    })
    const other = await own.tenant()
    await register(own, other.key)
    expect(outcome(await own.call('POST', '/v1/devices', { key: other.key, body: TILL }))).toBe('429 rate_limit_exceeded')
  })
})

describe('GET /v1/devices', () => {
  test('lists newest first, also what was registered within one millisecond, with exactly the fields of each state', async () => {
    const { app: own, key } = await startWithTenant()
    expect((await own.call<object>('GET', '/v1/devices', { key })).body).toEqual({ data: [] })
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await register(own, key, { name })
    const { body } = await own.call<{ data: Device[] }>('GET', '/v1/devices', { key })
    expect(body.data.map(({ name }) => name)).toEqual(names.toReversed())
    const common = ['id', 'name', 'status', 'allowed_templates', 'created_at']
    for (const device of body.data) expect(Object.keys(device)).toEqual([...common, 'pairing_expires_at'])
    const { device, access_token } = await pair(own, key)
    expect(Object.keys(await deviceOf(own, key, device.id))).toEqual([...common, 'enrolled_at'])
    await own.call('GET', '/v1/usage', { key: access_token })
    expect(Object.keys(await deviceOf(own, key, device.id))).toEqual([...common, 'enrolled_at', 'last_seen_at'])
    await own.call('DELETE', `/v1/devices/${device.id}`, { key })
    expect(Object.keys(await deviceOf(own, key, device.id))).toEqual([...common, 'enrolled_at', 'last_seen_at', 'revoked_at'])
  })

  test("shows neither another tenant's devices nor the other environment's", async () => {
    const [own, stranger] = [await app.tenant(), await app.tenant()]
    const till = await register(app, own.key, { name: 'test' })
    const liveTill = await register(app, own.liveKey, { name: 'live' })
    expect(await list(own.key)).toEqual([till.device])
    expect(await list(own.liveKey)).toEqual([liveTill.device])
    expect(await list(stranger.key)).toEqual([])
  })
})

describe('DELETE /v1/devices/{id}', () => {
  test('revokes a pending device: its code stops working', async () => {
    const { device, pairing_code } = await register(app, tenant.key)
    const answer = await revoke(device.id)
    expect(answer.status).toBe(200)
    const { pairing_expires_at, ...rest } = device
    expect(answer.body as Device).toEqual({ ...rest, status: 'revoked', revoked_at: new Date(app.clock.now()).toISOString() })
    expect(outcome(await enroll(app, pairing_code))).toBe('400 invalid_pairing_code')
  })

  test('revokes an active device: every token it holds stops working, a refresh it had queued included', async () => {
    const first = await pair(app, tenant.key)
    const second = (await refresh(app, first.refresh_token)).body
    const queued = refresh(app, second.refresh_token)
    const [revoked, refreshed] = await Promise.all([revoke(first.device.id), queued])
    expect(revoked.body.status).toBe('revoked')
    const tokens = [first, second, ...(refreshed.status === 200 ? [refreshed.body] : [])]
    for (const { access_token, refresh_token } of tokens) {
      expect(outcome(await app.call('GET', '/v1/usage', { key: access_token }))).toBe('401 invalid_api_key')
      expect(outcome(await refresh(app, refresh_token))).toBe('400 invalid_refresh_token')
    }
    const live = rowsOf(app.dir, `SELECT 1 FROM device_tokens WHERE device_id = '${first.device.id}' AND revoked_at IS NULL`)
    expect(live).toEqual([])
  })

  test('is idempotent: the same row, and no second record on the audit chain', async () => {
    const { app: own, key } = await startWithTenant()
    const { device } = await pair(own, key)
    const first = await own.call('DELETE', `/v1/devices/${device.id}`, { key })
    own.clock.advance(60_000)
    const second = await own.call('DELETE', `/v1/devices/${device.id.toUpperCase()}`, { key })
    expect([second.status, second.text]).toEqual([200, first.text])
    await linkEntries(own.deps)
    const actions = rowsOf<{ action: string; actor: string }>(
      own.dir,
      "SELECT action, actor FROM audit_records WHERE action LIKE 'device.%'",
    )
    expect(actions).toEqual([
      { action: 'device.registered', actor: key.slice(0, 12) },
      { action: 'device.enrolled', actor: 'Till 1' },
      { action: 'device.revoked', actor: key.slice(0, 12) },
    ])
  })

  test('an unknown id, one that is no UUID, and those of others get one and the same 404', async () => {
    const stranger = await app.tenant()
    const foreign = await register(app, stranger.key)
    const live = await register(app, tenant.liveKey)
    const ids = [
      '00000000-0000-7000-8000-000000000000',
      'x',
      '%01',
      "'%20OR%201=1",
      'vs_0000000000000000000000',
      foreign.device.id,
      live.device.id,
    ]
    const answers = await Promise.all(ids.map(id => revoke(id)))
    expect(answers.map(outcome)).toEqual(ids.map(() => '404 device_not_found'))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await deviceOf(app, stranger.key, foreign.device.id)).status).toBe('pending')
    expect((await deviceOf(app, tenant.liveKey, live.device.id)).status).toBe('pending')
  })
})

describe('PATCH /v1/devices/{id}', () => {
  const change = (id: string, body: object, key = tenant.key) =>
    app.call<Device & ErrorBody>('PATCH', `/v1/devices/${id}`, { key, body })

  test('a paired device gets a new name and new templates, and stays paired', async () => {
    const { device, access_token } = await pair(app, tenant.key)
    const create = async (template: string) =>
      outcome(await app.call('POST', '/v1/verifications', { key: access_token, body: { template } }))
    expect(await create('age_over_21')).toBe('403 insufficient_scope')
    const { status, body } = await change(device.id, { name: 'Till at the door', allowed_templates: ['age_over_21'] })
    expect([status, body.name, body.allowed_templates, body.status]).toEqual([200, 'Till at the door', ['age_over_21'], 'active'])
    expect([await create('age_over_21'), await create('age_over_18')]).toEqual(['201', '403 insufficient_scope'])
    expect((await change(device.id.toUpperCase(), { name: 'Till 7' })).body).toMatchObject({
      name: 'Till 7',
      allowed_templates: ['age_over_21'],
    })
    await linkEntries(app.deps)
    expect(
      rowsOf<{ actor: string }>(
        app.dir,
        "SELECT actor FROM audit_records WHERE action = 'device.changed' AND subject = ?",
        app.deps.audit.subjectOf(device.id),
      ),
    ).toEqual(Array(2).fill({ actor: tenant.key.slice(0, 12) }))
  })

  test('a bad name, no template, no change and a revoked device are refused', async () => {
    const { device } = await register(app, tenant.key)
    for (const body of [{ name: ' ' }, { name: 'x'.repeat(65) }, { allowed_templates: [] }, {}, { status: 'active' }])
      expect(outcome(await change(device.id, body))).toBe('400 invalid_request')
    expect(await deviceOf(app, tenant.key, device.id)).toEqual(device)
    await revoke(device.id)
    expect(outcome(await change(device.id, { name: 'x' }))).toBe('409 device_revoked')
  })
})

describe('POST /v1/devices/{id}/pairing', () => {
  const pairAgain = (id: string, body?: object) =>
    app.call<Registered & ErrorBody>('POST', `/v1/devices/${id}/pairing`, { key: tenant.key, body })

  test('a new code stops what the device holds, pairs it once, and the device keeps its id and name', async () => {
    const first = await pair(app, tenant.key, { name: 'Till at the door' })
    const rotated = await refresh(app, first.refresh_token)
    const { status, body } = await pairAgain(first.device.id)
    expect([status, body.device.status, body.device.name]).toEqual([201, 'pending', 'Till at the door'])
    expect(outcome(await app.call('GET', '/v1/usage', { key: rotated.body.access_token }))).toBe('401 invalid_api_key')
    expect(outcome(await refresh(app, rotated.body.refresh_token))).toBe('400 invalid_refresh_token')
    const second = await enroll(app, body.pairing_code)
    expect([second.status, second.body.device.id]).toEqual([200, first.device.id])
    expect(outcome(await enroll(app, body.pairing_code))).toBe('400 invalid_pairing_code')
    // A token of the earlier pairing, presented once more, must not revoke the new one.
    expect(outcome(await refresh(app, first.refresh_token))).toBe('400 invalid_refresh_token')
    const third = await refresh(app, second.body.refresh_token)
    expect(outcome(await app.call('GET', '/v1/usage', { key: third.body.access_token }))).toBe('200')
  })

  test('a new code replaces one that nobody used or that has lapsed, and a revoked device gets none', async () => {
    const { device, pairing_code } = await register(app, tenant.key)
    const { body } = await pairAgain(device.id, { pairing_ttl_seconds: 60 })
    expect(outcome(await enroll(app, pairing_code))).toBe('400 invalid_pairing_code')
    app.clock.advance(60_000)
    expect(outcome(await enroll(app, body.pairing_code))).toBe('400 invalid_pairing_code')
    const again = await pairAgain(device.id)
    expect(outcome(await enroll(app, again.body.pairing_code))).toBe('200')
    await revoke(device.id)
    expect(outcome(await pairAgain(device.id))).toBe('409 device_revoked')
  })
})
