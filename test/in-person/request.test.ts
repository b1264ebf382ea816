// A till asks a phone whose code it scanned: rows P4 to P22 as callers see them.
import { describe, expect, test } from 'bun:test'
import type { VerificationDetail } from '../../src/dashboard/verifications/schema.ts'
import { embedded } from '../../src/sandbox/cbor.ts'
import { createPhone } from '../../src/sandbox/phone/phone.ts'
import { getCertificate } from '../helpers/access.ts'
import { createVerification, outcome, startApp, startWithTenant } from '../helpers/app.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import { pair } from '../helpers/devices.ts'
import { MDL_NAMESPACE } from '../helpers/forger.ts'
import { answerOf, bytesOf, callRoute, eventsOf, hasEntry, pass, readPhone, scan } from '../helpers/in-person.ts'
import { mdocQuery, sdJwtQuery } from '../helpers/queries.ts'
import { holderOf, verifyWith } from '../helpers/wallet.ts'

const { app, key, id: tenantId } = await startWithTenant()
const shop = { app, key }
const holder = await holderOf(app)
const till = { app, key: (await pair(app, key)).access_token }
const create = (body: object = {}, by = till) => createVerification(app, by.key, body)

describe('the request for a phone', () => {
  test('a till gets the message, the transport of the phone and the end of the session, and no other properties', async () => {
    const created = await create()
    const phone = await createPhone()
    const { status, body, headers } = await scan(till, created.id, phone.code)
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect([status, Object.keys(body).sort()]).toEqual([200, ['expires_at', 'message', 'transports']])
    expect(body.transports).toEqual([{ type: 'ble_peripheral_server', service: phone.service! }])
    expect(body.expires_at).toBe(created.expires_at)
    const request = await phone.open(bytesOf(body.message))
    expect(request).toMatchObject({ version: '1.0', readers: [] })
    expect(request.documents.map(({ docType }) => docType)).toContain('org.iso.18013.5.1.mDL')
  })

  test('P18: a phone with a key on P-384 or P-521 is served', async () => {
    for (const curve of ['P-384', 'P-521'] as const) expect(outcome(await pass(till, ...(await phoneOn(curve))))).toBe('200')
  })

  async function phoneOn(curve: 'P-384' | 'P-521'): Promise<[string, Uint8Array]> {
    const { id, answer } = await readPhone(till, holder, {}, { curve })
    return [id, answer]
  }

  test('an extended phone is asked with use cases where there is a choice, and by version 1.0 for one document', async () => {
    for (const [template, version] of [
      ['age_over_18', '1.1'],
      ['eu_av_age_18', '1.0'],
    ] as const) {
      const { id } = await create({ template }, shop)
      const phone = await createPhone({ version: '1.1' })
      const { body } = await scan(shop, id, phone.code)
      expect((await phone.open(bytesOf(body.message))).version).toBe(version)
    }
    expect(await app.deps.metrics.render()).toMatch(/vidimus_in_person_requests_total\{version="1.1"\} 1\n/)
  })

  test('the timeline has what the phone offered, once for each code', async () => {
    const { id } = await create()
    const phone = await createPhone({ mode: 'both' })
    for (let i = 0; i < 3; i++) await scan(till, id, phone.code)
    expect(eventsOf(app, id)).toEqual(['in_person_requested'])
    const boss = await setUpOwner(app)
    const { body } = await boss.get<VerificationDetail>(`/tenants/${tenantId}/verifications/${id}?environment=test`)
    expect(body.timeline.find(({ event }) => event === 'in_person_requested')).toMatchObject({
      event: 'in_person_requested',
      version: '1.0',
      extended: false,
      offers: ['ble_peripheral_server', 'ble_central_client'],
      documents: 6,
    })
    expect(JSON.stringify(body.timeline)).not.toContain(phone.service!)
  })
})

describe('one code has one message', () => {
  test('P19: fifty scans of one code at once get the same message, and so does one after a restart', async () => {
    const own = await startWithTenant()
    const { id } = await createVerification(own.app, own.key)
    const { code } = await createPhone()
    const all = await Promise.all(Array.from({ length: 50 }, () => scan(own, id, code)))
    const messages = new Set(all.map(({ body }) => body.message))
    expect([all.map(({ status }) => status), messages.size]).toEqual([Array(50).fill(200), 1])
    expect(eventsOf(own.app, id)).toEqual(['in_person_requested'])
    await own.app.stop()
    const again = { app: await startApp({ dir: own.app.dir }), key: own.key }
    expect([...messages]).toEqual([(await scan(again, id, code)).body.message])
  })

  test('P5, P6: other spellings of a code are the same code', async () => {
    const { id } = await create()
    const { code } = await createPhone()
    const { body } = await scan(till, id, code)
    const text = code.slice('mdoc:'.length)
    for (const spelling of [`MDOC:${text}`, `mdoc://${text}`, ` ${code}\r\n`, `${code}==`])
      expect([spelling, (await scan(till, id, spelling)).body.message]).toEqual([spelling, body.message])
    expect(eventsOf(app, id)).toEqual(['in_person_requested'])
  })

  test('P20: another code replaces the first one, whose answer is refused', async () => {
    const first = await readPhone(till, holder)
    const second = await answerOf(till, first.id, holder)
    expect(second.request.message).not.toBe(first.request.message)
    expect(outcome(await pass(till, first.id, first.answer))).toBe('400 invalid_wallet_response')
    expect(outcome(await pass(till, first.id, second.answer))).toBe('200')
  })

  test('P20: a session takes twelve codes, one a second after the sixth, and repeats cost nothing', async () => {
    const own = await startWithTenant({ rateLimitScale: 1 })
    const { id } = await createVerification(own.app, own.key)
    const codes = await Promise.all(Array.from({ length: 13 }, async () => (await createPhone()).code))
    for (const code of codes.slice(0, 6)) expect(outcome(await scan(own, id, code))).toBe('200')
    for (let i = 0; i < 10; i++) expect(outcome(await scan(own, id, codes[5]))).toBe('200')
    const refused = await scan(own, id, codes[6])
    expect([outcome(refused), refused.headers.get('retry-after')]).toEqual(['429 rate_limit_exceeded', '1'])
    for (const code of codes.slice(6, 12)) {
      own.app.clock.advance(1000)
      expect(outcome(await scan(own, id, code))).toBe('200')
    }
    own.app.clock.advance(60_000)
    expect(outcome(await scan(own, id, codes[12]))).toBe('429 rate_limit_exceeded')
    expect(outcome(await scan(own, id, codes[11]))).toBe('200')
    await own.app.stop()
  })
})

test('P43: a certificate that signs from now on changes no byte of a repeat, and signs what the next phone is asked', async () => {
  const own = await startWithTenant()
  const ask = async (phone: { code: string }, id?: string) => {
    const made = id ?? (await createVerification(own.app, own.key, { template: 'driving_licence' })).id
    return { id: made, message: (await scan(own, made, phone.code)).body.message }
  }
  const [one, two] = [await createPhone(), await createPhone()]
  const { id, message } = await ask(one)
  expect(await one.open(bytesOf(message))).toMatchObject({ documents: [{ readerAuth: undefined }], readers: [] })
  await getCertificate(own.app)
  expect(await ask(one, id)).toEqual({ id, message })
  const { version, documents, readerAuthAll } = await two.open(bytesOf((await ask(two)).message))
  expect({ version, documents, readerAuthAll }).toMatchObject({ version: '1.0', readerAuthAll: undefined })
  expect(documents.map(({ readerAuth }) => readerAuth !== undefined)).toEqual([true])
  await own.app.stop()
})

test('a session that may be shown in one format only, which phones do not show in person, is not asked', async () => {
  const { code } = await createPhone()
  const asked = async (formats: string[]) => outcome(await scan(shop, (await create({ formats }, shop)).id, code))
  expect(await asked(['dc+sd-jwt'])).toBe('422 not_askable_in_person')
  expect(await asked(['mso_mdoc'])).toBe('200')
})

describe('the order of refusals', () => {
  const ROUTES = ['request', 'response', 'failure'] as const

  test.each(ROUTES)(
    'P21: a stranger and a foreign caller of in-person-%s are refused before the body is looked at',
    async act => {
      const { id } = await create()
      const other = await app.tenant()
      const revoked = await pair(app, key)
      await app.call('DELETE', `/v1/devices/${revoked.device.id}`, { key })
      const callers: [string, string | undefined, string][] = [
        ['nobody', undefined, '401 invalid_api_key'],
        ['a revoked till', revoked.access_token, '401 invalid_api_key'],
        ['a key without the scope', await app.key(tenantId, { scopes: ['verifications:read'] }), '403 insufficient_scope'],
        ['another till', (await pair(app, key)).access_token, '404 session_not_found'],
        ['another tenant', other.key, '404 session_not_found'],
        ['a live key', await app.key(tenantId, { environment: 'live' }), '404 session_not_found'],
      ]
      for (const [who, by, expected] of callers) {
        const refused = await callRoute(app, id, act, { key: by, raw: 'x', headers: { 'content-type': 'text/plain' } })
        expect([who, outcome(refused)]).toEqual([who, expected])
      }
    },
  )

  test('P21: a till whose token has expired is refused', async () => {
    const own = await startWithTenant()
    const { access_token } = await pair(own.app, own.key)
    const { id } = await createVerification(own.app, access_token)
    own.app.clock.advance(3_600_000)
    for (const act of ROUTES)
      expect(outcome(await callRoute(own.app, id, act, { key: access_token }))).toBe('401 api_key_expired')
    await own.app.stop()
  })

  test('P22: an answered, cancelled, expired or erased session is refused before the body is looked at', async () => {
    const own = await startWithTenant()
    const make = (body: object = {}) => createVerification(own.app, own.key, body)
    const { exchange: _, verification } = await verifyWith(own.app, own.key, 'adult')
    const [cancelled, expired, erased] = [await make(), await make({ ttl_seconds: 60 }), await make()]
    await own.app.call('POST', `/v1/verifications/${cancelled.id}/cancel`, { key: own.key })
    await own.app.call('DELETE', `/v1/verifications/${erased.id}`, { key: own.key })
    own.app.clock.advance(61_000)
    const ended: [string, string][] = [
      [verification.id, '409 session_already_responded'],
      [cancelled.id, '410 session_expired'],
      [expired.id, '410 session_expired'],
      [erased.id, '404 session_not_found'],
    ]
    for (const act of ['request', 'response'] as const)
      for (const [id, expected] of ended)
        expect(outcome(await callRoute(own.app, id, act, { key: own.key, raw: 'x' }))).toBe(expected)
    await own.app.stop()
  })

  test('P22: what phones do not show in person, and what a redirect releases, is 422; oidc_info is asked', async () => {
    const { code } = await createPhone()
    const sdJwt = await create({ template: undefined, query: { credentials: [sdJwtQuery('pid', [['family_name']])] } }, shop)
    const redirected = await create({ redirect_url: 'https://shop.example/done', release: 'on_redeem' }, shop)
    const oidc = await create(
      { template: undefined, query: { credentials: [mdocQuery('mdl', [[MDL_NAMESPACE, 'oidc_info']])] } },
      shop,
    )
    expect(outcome(await scan(shop, sdJwt.id, code))).toBe('422 not_askable_in_person')
    const { body, status } = await scan(shop, redirected.id, code)
    expect([status, body.error?.message]).toEqual([
      422,
      'This session is released by its redirect, so it cannot be answered in person.',
    ])
    expect(outcome(await scan(shop, oidc.id, code))).toBe('200')
  })

  test('a query that cannot be asked in person comes before what the phone offers, and a code that cannot be read before both', async () => {
    const sdJwt = await create({ template: undefined, query: { credentials: [sdJwtQuery('pid', [['family_name']])] } }, shop)
    const { code } = await createPhone({ mode: 'central' })
    const asked = (engagement: string) => scan(shop, sdJwt.id, engagement, { transports: ['nfc'] })
    expect(outcome(await asked(code))).toBe('422 not_askable_in_person')
    expect(outcome(await asked('mdoc:x'))).toBe('400 invalid_engagement')
  })

  const bodies: [string, object, string][] = [
    ['nothing', { body: {} }, '400 invalid_request'],
    ['a number as code', { body: { engagement: 1 } }, '400 invalid_request'],
    ['no transports', { body: { engagement: 'mdoc:x', transports: [] } }, '400 invalid_request'],
    ['an unknown transport', { body: { engagement: 'mdoc:x', transports: ['wifi'] } }, '400 invalid_request'],
    ['a handover', { body: { engagement: 'mdoc:x', handover: { nfc: { select: 'AA' } } } }, '400 invalid_request'],
    ['no JSON', { raw: 'x', headers: { 'content-type': 'application/json' } }, '400 invalid_request'],
    ['64 KiB and a byte', { raw: ' '.repeat(65_537), headers: { 'content-type': 'application/json' } }, '413 invalid_request'],
    ['an empty code', { body: { engagement: '' } }, '400 invalid_engagement'],
    ['the code of a wallet', { body: { engagement: 'openid4vp://?client_id=x' } }, '400 invalid_engagement'],
    ['a code of 60,000 characters', { body: { engagement: `mdoc:${'A'.repeat(60_000)}` } }, '400 invalid_engagement'],
  ]
  test.each(bodies)('a body with %s is refused', async (_, call, expected) => {
    const { id } = await create()
    expect(outcome(await callRoute(app, id, 'request', { key: till.key, ...call }))).toBe(expected)
    expect(hasEntry(app, id)).toBe(false)
  })
})

describe('a phone that the caller cannot reach', () => {
  const TILL = { transports: ['ble_peripheral_server'] }
  const offering = (methods: unknown): Promise<{ code: string }> =>
    createPhone({ change: members => members.set(2, methods as never) })
  const ble = (options: [number, unknown][]) => [[2, 1, new Map(options)]]

  test('P14, P16: by central client mode only it is 422 for a till, which says what both can do; both modes are served', async () => {
    const { id } = await create()
    const central = await createPhone({ mode: 'central' })
    const { status, body } = await scan(till, id, central.code, TILL)
    expect([status, body.error?.code, body.error?.message]).toEqual([
      422,
      'engagement_not_supported',
      'The phone offers ble_central_client; the caller can only do ble_peripheral_server.',
    ])
    expect(eventsOf(app, id)).toEqual(['in_person_refused'])
    const { body: both } = await scan(till, id, (await createPhone({ mode: 'both' })).code, TILL)
    expect(both.transports.map(({ type }) => type)).toEqual(['ble_peripheral_server'])
    const { body: all } = await scan(till, id, central.code)
    expect(all.transports).toEqual([{ type: 'ble_central_client', service: expect.any(String), ident: expect.any(String) }])
  })

  const unreachable: [string, unknown][] = [
    ['P15: NFC alone', [[1, 1, new Map([[0, 255]])]]],
    ['P16: no method', []],
    ['P17: a mode without its UUID', ble([[0, true]])],
    [
      'P17: a UUID of 15 bytes',
      ble([
        [0, true],
        [10, new Uint8Array(15)],
      ]),
    ],
    [
      'P17: a UUID as text',
      ble([
        [0, true],
        [10, 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'],
      ]),
    ],
    [
      'a method of another version',
      [
        [
          2,
          2,
          new Map<number, unknown>([
            [0, true],
            [10, new Uint8Array(16)],
          ]),
        ],
      ],
    ],
    ['Wi-Fi Aware alone', [[3, 1, new Map()]]],
  ]
  test.each(unreachable)('%s is 422 for a till, and is served for a transport of its own', async (_, methods) => {
    const { id } = await create()
    const { code } = await offering(methods)
    expect(outcome(await scan(till, id, code, TILL))).toBe('422 engagement_not_supported')
    const { status, body } = await scan(till, id, code, { transports: ['other'] })
    expect([status, body.transports]).toEqual([200, []])
  })

  test('P18: a key on an unknown curve is 422, and the timeline says so', async () => {
    const { id } = await create()
    const brainpool = new Map<number, unknown>([
      [1, 2],
      [-1, 256],
      [-2, new Uint8Array(32)],
      [-3, new Uint8Array(32)],
    ])
    const { code } = await createPhone({ change: members => members.set(1, [1, embedded(brainpool as never)]) })
    const { status, body } = await scan(till, id, code)
    expect([status, body.error?.message]).toEqual([422, 'The phone uses a key on a curve that this service does not know.'])
    expect(eventsOf(app, id)).toEqual(['in_person_refused'])
  })
})
