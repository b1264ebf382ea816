import { describe, expect, test } from 'bun:test'
import { hmacSha256With } from '../../src/base/hash.ts'
import type { TokenPair } from '../../src/devices/schema.ts'
import { type ErrorBody, startApp, startWithTenant, type TestApp } from '../helpers/app.ts'
import { editRows, rowsOf } from '../helpers/database.ts'
import { deviceOf, enroll, outcome, refresh, register } from '../helpers/devices.ts'
import { filesContaining } from '../helpers/files.ts'

const DAY_MS = 86_400_000

const { app, key } = await startWithTenant()

describe('POST /v1/devices/enroll', () => {
  test('a right code makes the device active and answers 200 with exactly a token pair', async () => {
    const { device, pairing_code } = await register(app, key)
    const answer = await enroll(app, pairing_code)
    const { pairing_expires_at, ...rest } = device
    expect(answer.status).toBe(200)
    expect(answer.body as TokenPair).toEqual({
      access_token: expect.stringMatching(/^vd_[0-9A-Za-z]{38}$/),
      refresh_token: expect.stringMatching(/^vdr_[0-9A-Za-z]{38}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_expires_in: 30 * 86_400,
      device: { ...rest, status: 'active', enrolled_at: '2026-03-04T12:00:00.000Z' },
    })
    expect(answer.headers.get('idempotent-replayed')).toBeNull()
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect(await deviceOf(app, key, device.id)).toEqual(answer.body.device)
    expect((await app.call('GET', '/v1/usage', { key: answer.body.access_token })).status).toBe(200)
  })

  test('case, dashes, spaces, look-alike letters and a missing VD are ignored', async () => {
    const ways: ((symbols: string) => string)[] = [
      symbols => symbols,
      symbols => symbols.toLowerCase(),
      symbols => `vd${symbols}`,
      symbols => ` vd - ${[...symbols].join(' ')} `,
      symbols => `VD–${symbols.slice(0, 4)}—${symbols.slice(4)}`,
      symbols => symbols.replaceAll('0', 'O').replaceAll('1', 'I'),
      symbols => symbols.replaceAll('0', 'o').replaceAll('1', 'l'),
    ]
    for (const typed of ways) {
      const { pairing_code } = await register(app, key)
      const text = typed(pairing_code.slice(3).replace('-', ''))
      expect([text, (await enroll(app, text)).status]).toEqual([text, 200])
    }
  })

  test('a code that itself begins with VD is not cut short', async () => {
    // Written into the database, because codes are random.
    const { device, pairing_code } = await register(app, key)
    const { hash } = rowsOf<{ hash: string }>(app.dir, `SELECT hash FROM device_tokens WHERE device_id = '${device.id}'`)[0]!
    const own = hmacSha256With(app.deps.sealer.key('pairing code'))('VDVD0000').toString('hex')
    editRows(app, 'UPDATE device_tokens SET hash = ? WHERE hash = ?', own, hash)
    expect(outcome(await enroll(app, pairing_code))).toBe('400 invalid_pairing_code')
    expect((await enroll(app, 'vdvd-oooo')).status).toBe(200)
  })

  test('used, wrong, malformed, lapsed and revoked codes get one and the same 400 invalid_pairing_code', async () => {
    const { app: own, ...tenant } = await startWithTenant()
    const used = await register(own, tenant.key)
    await enroll(own, used.pairing_code)
    const revoked = await register(own, tenant.key)
    await own.call('DELETE', `/v1/devices/${revoked.device.id}`, { key: tenant.key })
    const lapsed = await register(own, tenant.key, { pairing_ttl_seconds: 60 })
    own.clock.set(Date.parse(lapsed.device.pairing_expires_at ?? ''))
    const codes = [
      used.pairing_code,
      revoked.pairing_code,
      lapsed.pairing_code,
      'VD-0000-0000',
      'x',
      'U'.repeat(8),
      '0'.repeat(32),
      '🔑',
    ]
    const answers = await Promise.all(codes.map(code => enroll(own, code)))
    expect(answers.map(outcome)).toEqual(codes.map(() => '400 invalid_pairing_code'))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('a code works up to the last millisecond; when it lapses the device stays pending with the time in the past', async () => {
    const { app: own, ...tenant } = await startWithTenant()
    const [first, second] = [
      await register(own, tenant.key, { pairing_ttl_seconds: 60 }),
      await register(own, tenant.key, { pairing_ttl_seconds: 60 }),
    ]
    const deadline = Date.parse(second.device.pairing_expires_at ?? '')
    own.clock.set(Date.parse(first.device.pairing_expires_at ?? '') - 1)
    expect((await enroll(own, first.pairing_code)).status).toBe(200)
    own.clock.set(deadline)
    expect(outcome(await enroll(own, second.pairing_code))).toBe('400 invalid_pairing_code')
    expect(await deviceOf(own, tenant.key, second.device.id)).toEqual(second.device)
  })

  test.each([
    ['no body', undefined],
    ['no pairing_code', {}],
    ['an empty one', { pairing_code: '' }],
    ['one of 33 characters', { pairing_code: '0'.repeat(33) }],
    ['one that is a number', { pairing_code: 12345678 }],
    ['an unknown field', { pairing_code: 'VD-0000-0000', device: 'x' }],
  ])('%s is 400 invalid_request', async (_, body) => {
    const answer = await app.call<ErrorBody>('POST', '/v1/devices/enroll', { body })
    expect(outcome(answer)).toBe('400 invalid_request')
  })

  test('an Idempotency-Key with a space is 400 invalid_idempotency_key and spends nothing', async () => {
    const { pairing_code } = await register(app, key)
    for (const bad of ['a b', 'x'.repeat(256), 'ü'])
      expect(outcome(await enroll(app, pairing_code, bad))).toBe('400 invalid_idempotency_key')
    expect((await enroll(app, pairing_code, 'x'.repeat(255))).status).toBe(200)
  })

  test('the code and the tokens are in no file and no log line, sealed replay or not', async () => {
    const { app: own, ...tenant } = await startWithTenant()
    const { pairing_code } = await register(own, tenant.key)
    const { body } = await enroll(own, pairing_code, 'lost-answer')
    await enroll(own, pairing_code, 'lost-answer')
    for (const secret of [pairing_code.slice(3), body.access_token, body.refresh_token]) {
      expect(filesContaining(own.dir, secret)).toEqual([])
      expect(own.logs.join('\n')).not.toContain(secret)
    }
  })
})

describe('a lost answer to an enrolment', () => {
  const lost = async (own: TestApp) => {
    const tenant = await own.tenant()
    const { device, pairing_code } = await register(own, tenant.key)
    return { own, key: tenant.key, device, code: pairing_code, first: await enroll(own, pairing_code, 'one') }
  }

  test('a lost response is repeated byte for byte for the same code with the same Idempotency-Key, however it was typed', async () => {
    const { own, code, first } = await lost(await startApp())
    const again = await enroll(own, code.toLowerCase().replaceAll('-', ' '), 'one')
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([200, first.text, 'true'])
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect((await own.call('GET', '/v1/usage', { key: again.body.access_token })).status).toBe(200)
  })

  type Lost = Awaited<ReturnType<typeof lost>>
  const NOT_REPEATED: [when: string, before: (given: Lost) => Promise<unknown>, idempotencyKey?: string][] = [
    ['without the Idempotency-Key', async () => {}, undefined],
    ['with another Idempotency-Key', async () => {}, 'two'],
    ['once the access token was used', ({ own, first }) => own.call('GET', '/v1/usage', { key: first.body.access_token }), 'one'],
    ['once the refresh token was used', ({ own, first }) => refresh(own, first.body.refresh_token), 'one'],
    ['after the device was revoked', ({ own, device, key }) => own.call('DELETE', `/v1/devices/${device.id}`, { key }), 'one'],
  ]
  test.each(NOT_REPEATED)('a lost response is not repeated %s', async (_, before, idempotencyKey) => {
    const given = await lost(await startApp())
    await before(given)
    const { status } = await deviceOf(given.own, given.key, given.device.id)
    expect(outcome(await enroll(given.own, given.code, idempotencyKey))).toBe('400 invalid_pairing_code')
    // Nothing is revoked by the attempt.
    expect((await deviceOf(given.own, given.key, given.device.id)).status).toBe(status)
  })

  test('a lost response is not repeated when the first claim had no Idempotency-Key', async () => {
    const { pairing_code } = await register(app, key)
    await enroll(app, pairing_code)
    expect(outcome(await enroll(app, pairing_code, 'one'))).toBe('400 invalid_pairing_code')
  })

  test('a lost response is repeated for 24 hours and not a millisecond longer', async () => {
    const { own, code, first } = await lost(await startApp())
    own.clock.advance(DAY_MS - 1)
    expect((await enroll(own, code, 'one')).text).toBe(first.text)
    own.clock.advance(1)
    expect(outcome(await enroll(own, code, 'one'))).toBe('400 invalid_pairing_code')
  })

  test('a lost response is repeated after a restart', async () => {
    const before = await lost(await startApp())
    await before.own.stop()
    const own = await startApp({ dir: before.own.dir })
    expect((await enroll(own, before.code, 'one')).text).toBe(before.first.text)
  })
})
