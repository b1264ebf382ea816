import { Database } from 'bun:sqlite'
import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CompactEncrypt, importJWK, type JWK } from 'jose'
import { verifyAudit } from '../../src/audit/verify.ts'
import { answer, decline, fetchRequest, type Holder, type Mutations, type PresentationRequest } from '../../src/sandbox/wallet.ts'
import { redeemResponseCode } from '../../src/verifications/redeem.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, type ErrorBody, startApp, type TestApp } from '../helpers/app.ts'
import { answerWith, fetchOf, holderOf } from '../helpers/wallet.ts'

let app: TestApp
let key: string
let holder: Holder

beforeAll(async () => {
  app = await startApp()
  ;({ key } = await app.tenant())
  holder = await holderOf(app)
})

type Session = { created: Verification; request: PresentationRequest }

async function open(body: object = {}, to = app, withKey = key): Promise<Session> {
  const created = await createVerification(to, withKey, body)
  return { created, request: await fetchRequest(created.wallet_uri ?? '', fetchOf(to), { now: to.clock.now() }) }
}

const formOf = async ({ request }: Session, mutations: Mutations = {}) =>
  (await answer(request, holder, { now: app.clock.now(), mutations })).form
const post = (id: string, raw: BodyInit, headers: Record<string, string> = {}, to = app) =>
  to.call<Partial<ErrorBody> & { redirect_uri?: string }>('POST', `/wallet/response/${id}`, { raw, headers })
const read = async (id: string, to = app, withKey = key) =>
  (await to.call<Verification>('GET', `/v1/verifications/${id}`, { key: withKey })).body

/** 400, and the session is as open as before: the right answer still completes it. */
async function leavesPending(session: Session, raw: BodyInit, headers?: Record<string, string>) {
  const { id } = session.created
  const { status, body } = await post(id, raw, headers)
  expect([status, body.error?.code]).toEqual([400, 'invalid_wallet_response'])
  expect((await read(id)).status).toBe('pending')
  expect((await post(id, await formOf(session))).status).toBe(200)
  expect((await read(id)).status).toBe('completed')
}

/** Encrypted properly to the session's key, whatever the content. */
async function encrypted({ request }: Session, content: unknown, header: object = {}): Promise<URLSearchParams> {
  const jwk = (request as unknown as { encryptionKey: JWK }).encryptionKey ?? encryptionKeyOf(request)
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const jwe = await new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', kid: jwk.kid, ...header })
    .encrypt(await importJWK({ ...jwk, alg: 'ECDH-ES' }))
  return new URLSearchParams({ response: jwe })
}

function encryptionKeyOf(request: object): JWK {
  const found = JSON.stringify(request).match(/\{[^{}]*"kty":"EC"[^{}]*\}/)?.[0]
  return JSON.parse(found ?? '{}')
}

describe('an answer that is not readable as one to this session is 400 invalid_wallet_response and leaves it pending', () => {
  const state = ({ request }: Session) => (request as unknown as { state: string }).state

  test.each([
    ['JSON', '{"vp_token":{}}', 'application/json'],
    ['multipart', 'x', 'multipart/form-data; boundary=x'],
    ['no content type', 'response=x', ''],
  ])('not a form: %s', async (_, raw, type) => {
    await leavesPending(await open(), raw, { 'content-type': type })
  })

  test.each([
    ['nothing', ''],
    ['a repeated field', 'response=a&response=b'],
    ['33 fields', Array.from({ length: 33 }, (_, i) => `f${i}=x`).join('&')],
    ['bytes that are no JWE', 'response=abc'],
    ['five parts of nonsense', 'response=a.b.c.d.e'],
  ])('%s', async (_, raw) => {
    await leavesPending(await open(), raw, { 'content-type': 'application/x-www-form-urlencoded' })
  })

  test('250,000 fields', async () => {
    await leavesPending(await open(), `${'a=1&'.repeat(250_000)}a=1`, { 'content-type': 'application/x-www-form-urlencoded' })
  })

  test.each([
    ['wrong state', { state: 'x'.repeat(43) }],
    ['no state', { state: null }],
    ['another kid', { kid: 'other' }],
    ['no kid', { kid: null }],
    ['zip', { zip: 'DEF' }],
    ['an unencrypted presentation', { plain: true }],
    ['an unknown credential id', { vpTokenShape: 'unknown_id' }],
    ['neither vp_token nor error', { vpTokenShape: 'absent' }],
  ] as [string, Mutations][])('%s', async (_, mutations) => {
    const session = await open()
    await leavesPending(session, await formOf(session, mutations))
  })

  test.each(['x=%00', 'x\0=y'])('the right answer with the field %j beside it: U+0000 is refused', async field => {
    const session = await open()
    await leavesPending(session, `${await formOf(session)}&${field}`, { 'content-type': 'application/x-www-form-urlencoded' })
  })

  test('the answer to another session', async () => {
    const [one, other] = [await open(), await open()]
    await leavesPending(one, await formOf(other))
  })

  test('an encrypted text that is no JSON object, or has a member twice', async () => {
    for (const content of ['nonsense', '[]', '"x"', 'null', '{"state":"a","state":"b"}', '['.repeat(5000)]) {
      const session = await open()
      await leavesPending(session, await encrypted(session, content))
    }
  })

  test('a nested JWT, as before 1.0', async () => {
    const session = await open()
    await leavesPending(session, await encrypted(session, 'eyJhbGciOiJub25lIn0.e30.'))
  })

  test('an enc that was not offered', async () => {
    const session = await open()
    await leavesPending(session, await encrypted(session, { state: state(session), vp_token: {} }, { enc: 'A256CBC-HS512' }))
  })

  test('before the request was ever fetched', async () => {
    const created = await createVerification(app, key)
    expect((await post(created.id, new URLSearchParams({ response: 'x' }))).status).toBe(400)
    expect((await read(created.id)).status).toBe('pending')
  })

  test('a plain error without the state of the session, or with another one', async () => {
    const session = await open()
    await leavesPending(session, new URLSearchParams({ error: 'access_denied', state: 'guess' }))
    const again = await open()
    await leavesPending(again, new URLSearchParams({ error: 'access_denied' }))
  })
})

describe('an answer that is addressed to this session ends it with 200', () => {
  test.each([
    ['access_denied', 'wallet_declined'],
    ['vp_formats_not_supported', 'wallet_error'],
    ['invalid_request', 'wallet_error'],
    ['<script>alert(1)</script>', 'wallet_error'],
  ])('the error %s fails it as %s', async (error, code) => {
    const session = await open()
    const { state } = session.request as unknown as { state: string }
    const { status, text } = await post(
      session.created.id,
      new URLSearchParams({ error, state, error_description: '<b>text</b>' }),
    )
    expect([status, text]).toEqual([200, '{}'])
    const verification = await read(session.created.id)
    expect([verification.status, verification.error?.code]).toEqual(['failed', code])
    expect(JSON.stringify(verification)).not.toContain('<')
  })

  test('an encrypted refusal', async () => {
    const session = await open()
    const { form } = await decline(session.request)
    expect(form.get('response')).toMatch(/^ey/)
    expect((await post(session.created.id, form)).status).toBe(200)
    expect((await read(session.created.id)).error?.code).toBe('wallet_declined')
  })

  test.each(['bare_string', 'array', 'empty_array'] as const)(
    'a vp_token of the shape %s fails it as presentation_malformed',
    async vpTokenShape => {
      const session = await open()
      expect((await post(session.created.id, await formOf(session, { vpTokenShape }))).status).toBe(200)
      expect((await read(session.created.id)).error?.code).toBe('presentation_malformed')
    },
  )

  test('an empty vp_token fails it as query_not_satisfied', async () => {
    const session = await open()
    const { state } = session.request as unknown as { state: string }
    expect((await post(session.created.id, await encrypted(session, { state, vp_token: {} }))).status).toBe(200)
    expect((await read(session.created.id)).error?.code).toBe('query_not_satisfied')
  })

  test('members that nobody knows are ignored, in the form and in the answer', async () => {
    const session = await open()
    const form = await formOf(session)
    form.set('iss', 'x')
    expect((await post(session.created.id, form)).status).toBe(200)
    expect((await read(session.created.id)).status).toBe('completed')
  })

  test.each(['A128GCM', 'A256GCM'] as const)('an answer encrypted with %s is read', async enc => {
    const session = await open()
    const { form } = await answer(session.request, holder, { now: app.clock.now(), enc })
    expect((await post(session.created.id, form)).status).toBe(200)
    expect((await read(session.created.id)).status).toBe('completed')
  })
})

describe('order and limits', () => {
  test('a second answer is 409 session_already_responded and changes nothing, also after the deadline', async () => {
    const own = await startApp()
    const { key: ownKey } = await own.tenant()
    const ownHolder = await holderOf(own)
    const session = await open({ ttl_seconds: 60 }, own, ownKey)
    const { form } = await answer(session.request, ownHolder, { now: own.clock.now() })
    expect((await post(session.created.id, form, {}, own)).status).toBe(200)
    const before = await read(session.created.id, own, ownKey)
    for (const advance of [0, 3_600_000]) {
      own.clock.advance(advance)
      const { status, body } = await post(session.created.id, form, {}, own)
      expect([status, body.error?.code]).toEqual([409, 'session_already_responded'])
    }
    expect(await read(session.created.id, own, ownKey)).toEqual(before)
  })

  test('an answer whose judgement ends at expires_at is 410 session_expired, and leaves nothing behind', async () => {
    const own = await startApp()
    const { key: ownKey } = await own.tenant()
    const session = await open({ redirect_url: 'https://shop.example/done' }, own, ownKey)
    const deadline = Date.parse(session.created.expires_at)
    own.clock.set(deadline - 1)
    const { random } = own.deps
    // The response code is drawn between the judgement and its record.
    own.deps.random = count => {
      own.clock.set(deadline)
      return random(count)
    }
    const late = await post(session.created.id, (await decline(session.request)).form, {}, own)
    own.deps.random = random
    expect([late.status, late.body.error?.code]).toEqual([410, 'session_expired'])
    const { status, responded_at, error } = await read(session.created.id, own, ownKey)
    expect({ status, responded_at, error }).toEqual({ status: 'expired', responded_at: undefined, error: undefined })
  })

  test('an answer from expires_at on is 410 session_expired; an unknown session 404; neither reads the body', async () => {
    const own = await startApp()
    const { key: ownKey } = await own.tenant()
    const session = await open({ ttl_seconds: 60 }, own, ownKey)
    own.clock.set(Date.parse(session.created.expires_at))
    const late = await post(session.created.id, '{', { 'content-type': 'application/json' }, own)
    expect([late.status, late.body.error?.code]).toEqual([410, 'session_expired'])
    const unknown = await post('vs_unknown', '{', { 'content-type': 'application/json' }, own)
    expect([unknown.status, unknown.body.error?.code]).toEqual([404, 'session_not_found'])
    expect((await read(session.created.id, own, ownKey)).status).toBe('expired')
  })

  test('an answer of 1 MiB is read; one byte more is 413 and leaves the session pending', async () => {
    const session = await open()
    const body = (bytes: number) => `response=${'x'.repeat(bytes - 9)}`
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await post(session.created.id, body(1024 * 1024), type)).status).toBe(400)
    const large = await post(session.created.id, body(1024 * 1024 + 1), type)
    expect([large.status, large.body.error?.code]).toEqual([413, 'invalid_request'])
    await leavesPending(session, body(2_000_000).slice(0, 1000), type)
  })

  test('of 200 simultaneous right answers one is accepted, and 199 are 409', async () => {
    const session = await open({ webhook_url: 'https://hooks.shop.example/' })
    const form = await formOf(session)
    const answers = await Promise.all(Array.from({ length: 200 }, () => post(session.created.id, form)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status, body }) => status === 409 && body.error?.code === 'session_already_responded')).toHaveLength(
      199,
    )
    const sqlite = new Database(join(app.dir, 'vidimus.db'), { readonly: true })
    const count = (table: string) =>
      sqlite
        .query<{ n: number }, [string]>(`SELECT count(*) AS n FROM ${table} WHERE verification_id = ?`)
        .get(session.created.id)?.n
    expect([count('verification_results'), count('webhook_deliveries')]).toEqual([1, 1])
    sqlite.close()
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  })

  test('a session takes 5 posts at once, then one in ten seconds, and 20 in all', async () => {
    const own = await startApp({ rateLimitScale: 1 })
    const { key: ownKey } = await own.tenant()
    const created = await createVerification(own, ownKey, { ttl_seconds: 3600 })
    const posted = async () =>
      (await post(created.id, 'response=x', { 'content-type': 'application/x-www-form-urlencoded' }, own)).status
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push(await posted())
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429])
    for (let i = 5; i < 20; i++) {
      own.clock.advance(10_000)
      expect(await posted()).toBe(400)
    }
    own.clock.advance(600_000)
    expect(await posted()).toBe(429)
  })
})

describe('the redirect and its code', () => {
  const codeOf = (uri = '') => new URL(uri).hash.replace('#response_code=', '')
  const redeem = (id: string, response_code: unknown, to = app, withKey = key) =>
    to.call<Verification & Partial<ErrorBody>>('POST', `/v1/verifications/${id}/redeem`, {
      key: withKey,
      body: { response_code },
    })

  test.each([
    ['https://shop.example/done', 'https://shop.example/done'],
    ['https://shop.example/done?a=b#old', 'https://shop.example/done?a=b'],
    ['com.example.shop://done', 'com.example.shop://done'],
    ['HTTPS://Shop.Example', 'HTTPS://Shop.Example'],
  ])('%s gets the code as its fragment, an existing one being replaced', async (redirect_url, base) => {
    const session = await open({ redirect_url })
    const { body } = await post(session.created.id, await formOf(session))
    expect(Object.keys(body)).toEqual(['redirect_uri'])
    expect(body.redirect_uri).toStartWith(`${base}#response_code=`)
    expect(body.redirect_uri?.slice(`${base}#response_code=`.length)).toMatch(/^[\w-]{43}$/)
  })

  test('a failed answer is redirected too', async () => {
    const session = await open({ redirect_url: 'https://shop.example/done' })
    const { form } = await decline(session.request)
    expect((await post(session.created.id, form)).body.redirect_uri).toContain('#response_code=')
  })

  test('redeeming gives the verification once; wrong, spent, late and foreign codes and sessions are one 404 invalid_response_code', async () => {
    const own = await startApp()
    const tenant = await own.tenant()
    const other = await own.tenant()
    const ownHolder = await holderOf(own)
    const session = await open({ redirect_url: 'https://shop.example/done' }, own, tenant.key)
    const { form } = await answer(session.request, ownHolder, { now: own.clock.now() })
    const code = codeOf((await post(session.created.id, form, {}, own)).body.redirect_uri)
    const { id } = session.created
    const refusals = [
      await redeem(id, 'x'.repeat(43), own, tenant.key),
      await redeem('vs_unknown', code, own, tenant.key),
      await redeem(id, code, own, other.key),
      await redeem(id, code, own, tenant.liveKey),
    ]
    const first = await redeem(id, code, own, tenant.key)
    expect(first.status).toBe(200)
    expect(first.body).toEqual(await read(id, own, tenant.key))
    refusals.push(await redeem(id, code, own, tenant.key))
    expect(new Set(refusals.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect([refusals[0]?.status, refusals[0]?.body.error?.code]).toEqual([404, 'invalid_response_code'])
  })

  test('a code lives 600 seconds, its last instant excluded', async () => {
    const own = await startApp()
    const tenant = await own.tenant()
    const ownHolder = await holderOf(own)
    const redeemedAfter = async (ms: number) => {
      const session = await open({ redirect_url: 'https://shop.example/done' }, own, tenant.key)
      const { form } = await answer(session.request, ownHolder, { now: own.clock.now() })
      const code = codeOf((await post(session.created.id, form, {}, own)).body.redirect_uri)
      const { responded_at } = await read(session.created.id, own, tenant.key)
      own.clock.set(Date.parse(responded_at ?? '') + ms)
      return (await redeem(session.created.id, code, own, tenant.key)).status
    }
    expect(await redeemedAfter(599_999)).toBe(200)
    expect(await redeemedAfter(600_000)).toBe(404)
  })

  test.each([15, 16])('a code of %d characters is 400 below 16, and looked up from there', async length => {
    const { status, body } = await redeem('vs_unknown', 'x'.repeat(length))
    expect([status, body.error?.code]).toEqual(length < 16 ? [400, 'invalid_request'] : [404, 'invalid_response_code'])
  })

  test('a session that was never answered, or asked for no redirect, has no code', async () => {
    const session = await open()
    await post(session.created.id, await formOf(session))
    expect((await redeem(session.created.id, 'x'.repeat(43))).status).toBe(404)
  })

  test('five wrong codes at once are looked up, the sixth is 429, and the right one waits too', async () => {
    const own = await startApp({ rateLimitScale: 1 })
    const { key: ownKey } = await own.tenant()
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await redeem('vs_x', 'x'.repeat(43), own, ownKey)).status)
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429])
  })

  /** With rate limits on; `code` is right. */
  async function answeredWithLimits() {
    const own = await startApp({ rateLimitScale: 1 })
    const tenant = await own.tenant()
    const session = await open({ redirect_url: 'https://shop.example/done' }, own, tenant.key)
    const { form } = await answer(session.request, await holderOf(own), { now: own.clock.now() })
    const code = codeOf((await post(session.created.id, form, {}, own)).body.redirect_uri)
    return { own, tenant, id: session.created.id, code }
  }

  test('guesses of another tenant, or of the other environment, cost the owner nothing', async () => {
    const { own, tenant, id, code } = await answeredWithLimits()
    const other = await own.tenant()
    for (const foreign of [other.key, tenant.liveKey]) for (let i = 0; i < 6; i++) await redeem(id, 'x'.repeat(43), own, foreign)
    expect((await redeem(id, code, own, tenant.key)).status).toBe(200)
  })

  test('of 30 wrong codes at once five are looked up, and the right one behind them is 429', async () => {
    const { own, tenant, id, code } = await answeredWithLimits()
    const { key: ownKey } = tenant
    const wrong = await Promise.all(Array.from({ length: 30 }, () => redeem(id, 'x'.repeat(43), own, ownKey)))
    expect([404, 429].map(status => wrong.filter(each => each.status === status).length)).toEqual([5, 25])
    expect((await redeem(id, code, own, ownKey)).status).toBe(429)
    own.clock.advance(60_000)
    expect((await redeem(id, code, own, ownKey)).status).toBe(200)
  })

  test('a right code sent in one turn with too many wrong ones is not looked up', async () => {
    const { own, tenant, id, code } = await answeredWithLimits()
    const owner = { tenantId: tenant.id, environment: 'test' as const }
    const codes = [...Array.from({ length: 5 }, (_, i) => `${i}`.repeat(43)), code]
    const answers = await Promise.allSettled(
      codes.map(each => redeemResponseCode(own.deps, owner, id, { code: each, actor: 'test', requestId: 'r' })),
    )
    expect(answers.map(each => (each.status === 'rejected' ? each.reason.status : 200))).toEqual([404, 404, 404, 404, 404, 429])
  })

  test('a right code costs no guess', async () => {
    const { own, tenant, id, code } = await answeredWithLimits()
    const statuses: number[] = []
    for (const each of ['x', 'x', 'x', 'x', code, 'x', 'x'])
      statuses.push((await redeem(id, each.padEnd(43, 'x'), own, tenant.key)).status)
    expect(statuses).toEqual([404, 404, 404, 404, 200, 404, 429])
  })
})

test('an answered session has no response key, and its claims are in no file in clear', async () => {
  const own = await startApp()
  const { key: ownKey } = await own.tenant()
  const ownHolder = await holderOf(own)
  const created = await createVerification(own, ownKey, { template: 'identity_basic' })
  await answerWith(own, ownHolder, created.wallet_uri ?? '')
  const { claims } = await read(created.id, own, ownKey)
  const family = String(claims?.family_name)
  expect(family.length).toBeGreaterThan(2)
  const sqlite = new Database(join(own.dir, 'vidimus.db'), { readonly: true })
  expect(sqlite.query('SELECT sealed_response_key AS k FROM verification_sessions').get()).toEqual({ k: null })
  sqlite.close()
  const { readdirSync, readFileSync } = await import('node:fs')
  for (const file of readdirSync(own.dir)) expect(readFileSync(join(own.dir, file)).includes(family)).toBe(false)
  expect(own.logs.join('\n')).not.toContain(family)
})
