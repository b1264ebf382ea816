import { describe, expect, test } from 'bun:test'
import { verifyAudit } from '../../src/audit/verify.ts'
import { decline, type Holder, type Mutations } from '../../src/sandbox/wallet/wallet.ts'
import { redeemResponseCode } from '../../src/verifications/end/redeem.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, type ErrorBody, outcome, startWithTenant } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { codeIn, encryptedTo, FORM, formOf, openSession, postTo, readOf, type Session } from '../helpers/exchange.ts'
import { expectPending } from '../helpers/expect-pending.ts'
import { filesContaining } from '../helpers/files.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const SHOP = { redirect_url: 'https://shop.example/done' }

const { app, key, id: tenantId } = await startWithTenant()
const holder = await holderOf(app)

const open = (body: object = {}, party = { app, key }): Promise<Session> => openSession(party, body)
const answerTo = async (session: Session, by: Holder = holder, mutations: Mutations = {}) =>
  postTo(session, await formOf(session, by, { mutations }))

/** Another service, with limits if asked for, and a session in it. */
async function openElsewhere(body: object = {}, rateLimitScale = 0) {
  const tenant = await startWithTenant({ rateLimitScale })
  return { ...tenant, tenantId: tenant.id, session: await open(body, tenant), holder: await holderOf(tenant.app) }
}

describe('an answer that is not readable as one to this session is 400 invalid_wallet_response and leaves it pending', () => {
  const times = (count: number, part: (index: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join('')
  type Body = (session: Session) => BodyInit | Promise<BodyInit>
  const cheat =
    (mutations: Mutations): Body =>
    session =>
      formOf(session, holder, { mutations })
  const containing =
    (content: string): Body =>
    session =>
      encryptedTo(session, content)

  const UNREADABLE: [what: string, body: Body][] = [
    ['without a body', () => ''],
    ['with a repeated field', () => 'response=a&response=b'],
    ['with 32 fields more', async s => `${await formOf(s, holder)}${times(32, i => `&f${i}=x`)}`],
    ['with 250,000 fields', () => `${'a=1&'.repeat(250_000)}a=1`],
    ['that is no JWE', () => 'response=abc'],
    ['of five parts of nonsense', () => 'response=a.b.c.d.e'],
    ['with an encoded U+0000 beside it', async session => `${await formOf(session, holder)}&x=%00`],
    ['with U+0000 in a name beside it', async session => `${await formOf(session, holder)}&x\0=y`],
    ['with a wrong state', cheat({ state: 'x'.repeat(43) })],
    ['without a state', cheat({ state: null })],
    ['with another kid', cheat({ kid: 'other' })],
    ['without a kid', cheat({ kid: null })],
    ['with zip', cheat({ zip: 'DEF' })],
    ['that is not encrypted', cheat({ plain: true })],
    ['with an unknown credential id', cheat({ vpTokenShape: 'unknown_id' })],
    ['with neither vp_token nor error', cheat({ vpTokenShape: 'absent' })],
    ['to another session', async () => formOf(await open(), holder)],
    ['that encrypts no JSON', containing('nonsense')],
    ['that encrypts an array', containing('[]')],
    ['that encrypts a string', containing('"x"')],
    ['that encrypts null', containing('null')],
    ['that encrypts a member twice', containing('{"state":"a","state":"b"}')],
    ['that encrypts 5,000 nested arrays', containing('['.repeat(5000))],
    ['that encrypts a nested JWT, as before 1.0', containing('eyJhbGciOiJub25lIn0.e30.')],
    [
      'with an enc that was not offered',
      session => encryptedTo(session, { state: session.request.state, vp_token: {} }, { enc: 'A256CBC-HS512' }),
    ],
    ['that is a plain error with another state', () => new URLSearchParams({ error: 'access_denied', state: 'guess' })],
    ['that is a plain error without a state', () => new URLSearchParams({ error: 'access_denied' })],
  ]
  test.each(UNREADABLE)('an answer %s leaves the session pending', async (_, body) => {
    const session = await open()
    const raw = await body(session)
    await expectPending(session, holder, raw, typeof raw === 'string' ? FORM : {})
  })

  test('an answer that is not readable leaves one line in the log, with a reason of a closed list and nothing of the answer', async () => {
    const reasons = new Set<string>()
    for (const [, body] of UNREADABLE) {
      const session = await open()
      const raw = await body(session)
      const before = app.logs.length
      const { headers } = await postTo(session, raw, typeof raw === 'string' ? FORM : {})
      const lines = app.logs.slice(before).map(line => JSON.parse(line))
      const { id } = session.created
      const [told, ...others] = lines.filter(({ event }) => event === 'wallet.answer_unreadable')
      expect(others).toEqual([])
      expect(told).toEqual({
        time: new Date(app.clock.now()).toISOString(),
        level: 'info',
        event: 'wallet.answer_unreadable',
        request_id: headers.get('x-request-id'),
        tenant: tenantId,
        session: app.deps.audit.subjectOf(id).slice(0, 8),
        detail: expect.stringMatching(/^[a-zA-Z_:,5 ]{1,60}$/),
      })
      expect(JSON.stringify(lines)).not.toContain(id)
      reasons.add(told.detail)
    }
    expect([...reasons].toSorted()).toEqual([
      'state is missing or of another session',
      'the body was refused: invalid_request',
      'the encrypted response cannot be decrypted',
      'the encrypted response cannot be read',
      'the encrypted response is not a JWE in compact form',
      'the header has a parameter that is not accepted',
      'the response holds a credential id that was not asked for',
      'the response is encrypted to another key',
      'the response is not a JSON object',
      'the response must be encrypted',
      'there is neither a vp_token nor an error',
    ])
  })

  test.each([
    ['as JSON', '{"vp_token":{}}', 'application/json'],
    ['as multipart', 'x', 'multipart/form-data; boundary=x'],
    ['without a content type', 'response=x', ''],
  ])('an answer %s leaves the session pending', async (_, raw, type) => {
    await expectPending(await open(), holder, raw, { 'content-type': type })
  })

  test('an answer before the request was ever fetched leaves the session pending', async () => {
    const created = await createVerification(app, key)
    const session = { app, key, created } as Session
    expect((await postTo(session, new URLSearchParams({ response: 'x' }))).status).toBe(400)
    expect((await readOf(session)).status).toBe('pending')
  })
})

describe('an answer that is addressed to this session ends it with 200', () => {
  test.each([
    ['access_denied', 'wallet_declined'],
    ['vp_formats_not_supported', 'wallet_error'],
    ['invalid_request', 'wallet_error'],
    ['<script>alert(1)</script>', 'wallet_error'],
  ])('the error %s fails the session as %s', async (error, code) => {
    const session = await open()
    const form = { error, state: session.request.state ?? '', error_description: '<b>text</b>' }
    const { status, text } = await postTo(session, new URLSearchParams(form))
    expect([status, text]).toEqual([200, '{}'])
    const verification = await readOf(session)
    expect([verification.status, verification.error?.code]).toEqual(['failed', code])
    expect(JSON.stringify(verification)).not.toContain('<')
  })

  test('an encrypted refusal fails the session as wallet_declined', async () => {
    const session = await open()
    const { form } = await decline(session.request)
    expect(form.get('response')).toMatch(/^ey/)
    expect((await postTo(session, form)).status).toBe(200)
    expect((await readOf(session)).error?.code).toBe('wallet_declined')
  })

  const ADDRESSED: [what: string, body: (session: Session) => Promise<BodyInit>, end: string | undefined][] = [
    [
      'a vp_token that is a string',
      s => formOf(s, holder, { mutations: { vpTokenShape: 'bare_string' } }),
      'presentation_malformed',
    ],
    ['a vp_token that is an array', s => formOf(s, holder, { mutations: { vpTokenShape: 'array' } }), 'presentation_malformed'],
    [
      'a vp_token with an empty array',
      s => formOf(s, holder, { mutations: { vpTokenShape: 'empty_array' } }),
      'presentation_malformed',
    ],
    ['an empty vp_token', s => encryptedTo(s, { state: s.request.state, vp_token: {} }), 'query_not_satisfied'],
    ['a field that nobody knows', async s => `${await formOf(s, holder)}&iss=x`, undefined],
    ['the encryption A128GCM', s => formOf(s, holder, { enc: 'A128GCM' }), undefined],
    ['the encryption A256GCM', s => formOf(s, holder, { enc: 'A256GCM' }), undefined],
  ]
  test.each(ADDRESSED)('an answer with %s ends the session', async (_, body, failure) => {
    const session = await open()
    expect((await postTo(session, await body(session), FORM)).status).toBe(200)
    const { status, error } = await readOf(session)
    expect([status, error?.code]).toEqual([failure ? 'failed' : 'completed', failure])
  })
})

describe('order and limits', () => {
  test('a second answer is 409 session_already_responded and changes nothing, also after the deadline', async () => {
    const own = await openElsewhere({ ttl_seconds: 60 })
    const form = await formOf(own.session, own.holder)
    expect((await postTo(own.session, form)).status).toBe(200)
    const before = await readOf(own.session)
    for (const advance of [0, 3_600_000]) {
      own.app.clock.advance(advance)
      expect(outcome(await postTo(own.session, form))).toBe('409 session_already_responded')
    }
    expect(await readOf(own.session)).toEqual(before)
  })

  test('an answer whose judgement ends at expires_at is 410 session_expired, and leaves nothing behind', async () => {
    const { app: own, session } = await openElsewhere(SHOP)
    const deadline = Date.parse(session.created.expires_at)
    own.clock.set(deadline - 1)
    const { random } = own.deps
    // The response code is drawn between the judgement and its record.
    own.deps.random = count => {
      own.clock.set(deadline)
      return random(count)
    }
    expect(outcome(await postTo(session, (await decline(session.request)).form))).toBe('410 session_expired')
    own.deps.random = random
    const { status, responded_at, error } = await readOf(session)
    expect({ status, responded_at, error }).toEqual({ status: 'expired', responded_at: undefined, error: undefined })
  })

  test('an answer from expires_at on is 410 session_expired; an unknown session 404; neither reads the body', async () => {
    const { app: own, session } = await openElsewhere({ ttl_seconds: 60 })
    own.clock.set(Date.parse(session.created.expires_at))
    const unreadable = { raw: '{', headers: { 'content-type': 'application/json' } }
    expect(outcome(await own.call('POST', `/wallet/response/${session.created.id}`, unreadable))).toBe('410 session_expired')
    expect(outcome(await own.call('POST', '/wallet/response/vs_unknown', unreadable))).toBe('404 session_not_found')
    expect((await readOf(session)).status).toBe('expired')
  })

  test('an answer of 1 MiB is read; one byte more is 413 and leaves the session pending', async () => {
    const session = await open()
    const body = (bytes: number) => `response=${'x'.repeat(bytes - 9)}`
    expect((await postTo(session, body(1024 * 1024), FORM)).status).toBe(400)
    expect(outcome(await postTo(session, body(1024 * 1024 + 1), FORM))).toBe('413 invalid_request')
    await expectPending(session, holder, body(1000), FORM)
  })

  test('of 200 simultaneous right answers one is accepted, and 199 are 409', async () => {
    const session = await open({ webhook_url: 'https://hooks.shop.example/' })
    const form = await formOf(session, holder)
    const answers = await Promise.all(Array.from({ length: 200 }, () => postTo(session, form)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status, body }) => status === 409 && body.error?.code === 'session_already_responded')).toHaveLength(
      199,
    )
    const count = (table: string) => rowsOf(app, `SELECT 1 FROM ${table} WHERE verification_id = ?`, session.created.id).length
    expect([count('verification_results'), count('webhook_deliveries')]).toEqual([1, 1])
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  })

  test('a session takes 5 posts at once, then one in ten seconds, and 20 in all', async () => {
    const { app: own, session } = await openElsewhere({ ttl_seconds: 3600 }, 1)
    const posted = async () => (await postTo(session, 'response=x', FORM)).status
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
  const WRONG = 'x'.repeat(43)
  type Redeemed = Verification & Partial<ErrorBody>
  const redeem = (to: { app: typeof app; key: string; id: string }, response_code: string) =>
    to.app.call<Redeemed>('POST', `/v1/verifications/${to.id}/redeem`, { key: to.key, body: { response_code } })

  test.each([
    ['https://shop.example/done', 'https://shop.example/done'],
    ['https://shop.example/done?a=b#old', 'https://shop.example/done?a=b'],
    ['com.example.shop://done', 'com.example.shop://done'],
    ['HTTPS://Shop.Example', 'HTTPS://Shop.Example'],
  ])('%s gets the code as its fragment, an existing one being replaced', async (redirect_url, base) => {
    const { body } = await answerTo(await open({ redirect_url }))
    expect(Object.keys(body)).toEqual(['redirect_uri'])
    expect(body.redirect_uri).toStartWith(`${base}#response_code=`)
    expect(body.redirect_uri?.slice(`${base}#response_code=`.length)).toMatch(/^[\w-]{43}$/)
  })

  test('a failed answer is redirected too', async () => {
    const session = await open(SHOP)
    const { form } = await decline(session.request)
    expect((await postTo(session, form)).body.redirect_uri).toContain('#response_code=')
  })

  /** A session elsewhere that is answered; `code` is right. */
  async function answered(rateLimitScale = 0) {
    const own = await openElsewhere(SHOP, rateLimitScale)
    const code = codeIn((await answerTo(own.session, own.holder)).body)
    return { ...own, id: own.session.created.id, code }
  }

  test('redeeming gives the verification once; wrong, spent, late and foreign codes and sessions are one 404 invalid_response_code', async () => {
    const own = await answered()
    const other = await own.app.tenant()
    const refusals = [
      await redeem(own, WRONG),
      await redeem({ ...own, id: 'vs_unknown' }, own.code),
      await redeem({ ...own, key: other.key }, own.code),
      await redeem({ ...own, key: own.liveKey }, own.code),
    ]
    const first = await redeem(own, own.code)
    expect(first.status).toBe(200)
    expect(first.body).toEqual(await readOf(own.session))
    refusals.push(await redeem(own, own.code))
    expect(new Set(refusals.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(outcome(refusals[0]!)).toBe('404 invalid_response_code')
  })

  test.each([
    [599_999, 200],
    [600_000, 404],
  ])('a code that is redeemed %d ms after the answer is %d', async (ms, status) => {
    const own = await answered()
    const { responded_at } = await readOf(own.session)
    own.app.clock.set(Date.parse(responded_at ?? '') + ms)
    expect((await redeem(own, own.code)).status).toBe(status)
  })

  test('a code whose time ends while its guess is counted is not redeemed', async () => {
    const own = await answered()
    const { responded_at } = await readOf(own.session)
    own.app.clock.set(Date.parse(responded_at ?? '') + 599_999)
    const { giveBack } = own.app.deps.guesses
    own.app.deps.guesses.giveBack = async (...given) => {
      await giveBack(...given)
      own.app.clock.advance(1)
    }
    expect((await redeem(own, own.code)).status).toBe(404)
  })

  test.each([
    [15, '400 invalid_request'],
    [16, '404 invalid_response_code'],
  ])('an unknown code of %d characters is %s', async (length, refusal) => {
    expect(outcome(await redeem({ app, key, id: 'vs_unknown' }, 'x'.repeat(length)))).toBe(refusal)
  })

  test('a session that asked for no redirect has no code', async () => {
    const session = await open()
    await answerTo(session)
    expect((await redeem({ app, key, id: session.created.id }, WRONG)).status).toBe(404)
  })

  test('five wrong codes at once are looked up, the sixth is 429, and the right one waits too', async () => {
    const own = await startWithTenant({ rateLimitScale: 1 })
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await redeem({ ...own, id: 'vs_x' }, WRONG)).status)
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429])
  })

  test('guesses of another tenant, or of the other environment, cost the owner nothing', async () => {
    const own = await answered(1)
    const other = await own.app.tenant()
    for (const foreign of [other.key, own.liveKey]) for (let i = 0; i < 6; i++) await redeem({ ...own, key: foreign }, WRONG)
    expect((await redeem(own, own.code)).status).toBe(200)
  })

  test('of 30 wrong codes at once five are looked up, and the right one behind them is 429', async () => {
    const own = await answered(1)
    const wrong = await Promise.all(Array.from({ length: 30 }, () => redeem(own, WRONG)))
    expect([404, 429].map(status => wrong.filter(each => each.status === status).length)).toEqual([5, 25])
    expect((await redeem(own, own.code)).status).toBe(429)
    own.app.clock.advance(60_000)
    expect((await redeem(own, own.code)).status).toBe(200)
  })

  sqliteOnly('connections do not keep the order of one turn')(
    'a right code sent in one turn with too many wrong ones is not looked up',
    async () => {
      const { app: own, tenantId, id, code } = await answered(1)
      const owner = { tenantId, environment: 'test' as const }
      const codes = [...Array.from({ length: 5 }, (_, i) => `${i}`.repeat(43)), code]
      const answers = await Promise.allSettled(
        codes.map(each => redeemResponseCode(own.deps, owner, id, { code: each, actor: 'test', requestId: 'r' })),
      )
      expect(answers.map(each => (each.status === 'rejected' ? each.reason.status : 200))).toEqual([404, 404, 404, 404, 404, 429])
    },
  )

  test('a right code costs no guess', async () => {
    const own = await answered(1)
    const statuses: number[] = []
    for (const each of [WRONG, WRONG, WRONG, WRONG, own.code, WRONG, WRONG]) statuses.push((await redeem(own, each)).status)
    expect(statuses).toEqual([404, 404, 404, 404, 200, 404, 429])
  })
})

test('an answered session has no response key, and its claims are in no file in clear', async () => {
  const own = await startWithTenant()
  const created = await createVerification(own.app, own.key, { template: 'identity_basic' })
  await answerWith(own.app, await holderOf(own.app), created.wallet_uri ?? '')
  const { claims } = await readOf({ ...own, created } as unknown as Session)
  const family = String(claims?.family_name)
  expect(family.length).toBeGreaterThan(2)
  expect(rowsOf(own.app, 'SELECT sealed_response_key AS k FROM verification_sessions')).toEqual([{ k: null }])
  expect(filesContaining(own.app.dir, family)).toEqual([])
  expect(own.app.logs.join('\n')).not.toContain(family)
})
