// The request route of the browser's wallet call: rows D1 to D16.
import { describe, expect, test } from 'bun:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { parseNetworks } from '../../src/egress/addresses.ts'
import { removeOrigin } from '../../src/tenants/origins.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, outcome, startApp, startWithTenant } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { answerOf, ask, listOrigin, ORIGIN, presentThrough, tell } from '../helpers/dc.ts'
import { holderOf } from '../helpers/wallet.ts'

const { app, key, liveKey, id: tenantId } = await startWithTenant()
await listOrigin(app, tenantId)
const holder = await holderOf(app)
const create = (body: object = {}) => createVerification(app, key, body)
const SD_JWT = {
  template: undefined,
  query: {
    credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: [{ path: ['age'] }] }],
  },
}

describe('the request that a page gets', () => {
  test('origin, environment, end and requests, and no other properties', async () => {
    const created = await create()
    const { status, body, headers } = await ask(app, created.id)
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['environment', 'expires_at', 'origin', 'requests'])
    expect(body).toMatchObject({ origin: ORIGIN, environment: 'test', expires_at: created.expires_at })
    expect(body.requests.map(({ protocol }) => protocol)).toEqual(['openid4vp-v1-unsigned', 'org-iso-mdoc'])
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  test('nonce and keys stay the same for one origin, and differ from those of another and of the QR code', async () => {
    const created = await create()
    await listOrigin(app, tenantId, 'https://two.example')
    const [first, again, other] = [
      await ask(app, created.id),
      await ask(app, created.id),
      await ask(app, created.id, { origin: 'https://two.example' }),
    ]
    expect(again.body).toEqual(first.body)
    const parts = ({ body }: typeof first) => {
      const { nonce, client_metadata } = body.requests[0]!.data as {
        nonce: string
        client_metadata: { jwks: { keys: [{ kid: string; x: string }] } }
      }
      return [nonce, client_metadata.jwks.keys[0].x, client_metadata.jwks.keys[0].kid, body.requests[1]!.data.encryptionInfo]
    }
    const qr = decodeJwt((await app.call('GET', `/wallet/request/${created.id}`)).text)
    const all = [
      ...parts(first),
      ...parts(other),
      qr.nonce,
      (qr.client_metadata as { jwks: { keys: [{ x: string }] } }).jwks.keys[0].x,
    ]
    expect(new Set(all).size).toBe(all.length)
  })

  test('a preflight of a JSON body is answered with 204', async () => {
    for (const route of ['request', 'response']) {
      const { status, headers } = await app.call('OPTIONS', `/wallet/dc/${route}/vs_x`, {
        headers: { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
      })
      expect(status).toBe(204)
      const shown = ['allow-origin', 'allow-methods', 'allow-headers', 'max-age'].map(name =>
        headers.get(`access-control-${name}`),
      )
      expect(shown).toEqual(['*', 'POST', 'content-type', '600'])
    }
  })

  test('only what the browser takes is asked, in our order', async () => {
    const created = await create()
    const protocolsFor = async (protocols: string[]) =>
      (await ask(app, created.id, { body: { protocols } })).body.requests.map(({ protocol }) => protocol)
    expect(await protocolsFor(['org-iso-mdoc'])).toEqual(['org-iso-mdoc'])
    expect(await protocolsFor(['org-iso-mdoc', 'openid4vp-v1-unsigned', 'nonsense'])).toEqual([
      'openid4vp-v1-unsigned',
      'org-iso-mdoc',
    ])
  })

  test('D11: only unknown protocols, or Annex C for an SD-JWT, give an empty list and no entry', async () => {
    const [age, sdJwt] = [await create(), await create(SD_JWT)]
    expect((await ask(app, age.id, { body: { protocols: ['openid4vp', 'org.iso.mdoc'] } })).body.requests).toEqual([])
    expect((await ask(app, sdJwt.id, { body: { protocols: ['org-iso-mdoc'] } })).body.requests).toEqual([])
    expect(
      rowsOf(app, 'SELECT sealed_dc_requests AS kept FROM verification_sessions WHERE id IN (?, ?)', age.id, sdJwt.id),
    ).toEqual([{ kept: null }, { kept: null }])
    expect((await ask(app, sdJwt.id)).body.requests.map(({ protocol }) => protocol)).toEqual(['openid4vp-v1-unsigned'])
  })

  test('the EU age app is asked by Annex C alone', async () => {
    const { body } = await ask(app, (await create({ template: 'eu_av_age_18' })).id)
    expect(body.requests.map(({ protocol }) => protocol)).toEqual(['org-iso-mdoc'])
  })

  test('D15: a query that browsers would refuse is not asked by Annex C, and the rest is offered', async () => {
    const claims = [{ path: ['org.iso.18013.5.1', 'oidc_info'] }]
    const query = { credentials: [{ id: 'mdl', format: 'mso_mdoc', meta: { doctype_value: 'org.iso.18013.5.1.mDL' }, claims }] }
    const { body } = await ask(app, (await create({ template: undefined, query })).id)
    expect(body.requests.map(({ protocol }) => protocol)).toEqual(['openid4vp-v1-unsigned'])
  })
})

describe('the setting VIDIMUS_DC_API', () => {
  const modes: ['auto' | 'signed' | 'unsigned' | 'iso' | 'off', string[]][] = [
    ['auto', ['openid4vp-v1-unsigned', 'org-iso-mdoc']],
    ['signed', ['openid4vp-v1-signed', 'org-iso-mdoc']],
    ['unsigned', ['openid4vp-v1-unsigned', 'org-iso-mdoc']],
    ['iso', ['org-iso-mdoc']],
    ['off', []],
  ]
  test.each(modes)('%s asks by %j', async (mode, protocols) => {
    const other = await startWithTenant({ config: { dcApi: { mode, googleRpMetadata: 'AAAA' } } })
    const created = await createVerification(other.app, other.key)
    const { body } = await ask(other.app, created.id, { origin: 'https://verify.example' })
    expect(body.requests.map(({ protocol }) => protocol)).toEqual(protocols as never)
    const signed = body.requests.find(({ protocol }) => protocol === 'openid4vp-v1-signed')
    if (!signed) return
    const { request } = signed.data as { request: string }
    expect(decodeProtectedHeader(request)).toMatchObject({
      typ: 'oauth-authz-req+jwt',
      alg: 'ES256',
      iat: decodeJwt(request).iat!,
    })
    expect(decodeJwt(request)).toMatchObject({
      expected_origins: ['https://verify.example'],
      response_mode: 'dc_api.jwt',
      client_metadata: { gw_rp_metadata_bytes: 'AAAA' },
    })
    await other.app.stop()
  })
})

describe('origins that may ask', () => {
  const refused: [string, string | null][] = [
    ['D1: without an Origin header', null],
    ['D2: from a frame whose origin is null', 'null'],
    ['D3: from an unlisted origin', 'https://other.example'],
    ['D5: from another port', `${ORIGIN}:8443`],
    ['D5: from the same name in upper case', 'https://SHOP.example'],
    ['D5: from the same name with a slash', `${ORIGIN}/`],
    ['D5: from the same name with a dot', 'https://shop.example.'],
    ['D5: over http', 'http://shop.example'],
    ['from an app, which has no pages', `android:apk-key-hash:${'a'.repeat(43)}`],
  ]
  test.each(refused)('%s a request is 403 origin_not_allowed', async (_, origin) => {
    const { id } = await create()
    expect(outcome(await ask(app, id, { origin }))).toBe('403 origin_not_allowed')
  })

  test('D4, D6: an origin of the other environment, or of another tenant, is 403', async () => {
    const other = await app.tenant()
    await listOrigin(app, other.id, 'https://elsewhere.example')
    await listOrigin(app, tenantId, 'https://live.example', 'live')
    const { id } = await create()
    for (const origin of ['https://elsewhere.example', 'https://live.example'])
      expect(outcome(await ask(app, id, { origin }))).toBe('403 origin_not_allowed')
    const live = await createVerification(app, liveKey)
    expect(outcome(await ask(app, live.id, { origin: 'https://live.example' }))).toBe('200')
    expect(outcome(await ask(app, live.id))).toBe('403 origin_not_allowed')
  })

  test("the service's own pages need no entry", async () => {
    expect(outcome(await ask(app, (await create()).id, { origin: 'https://verify.example' }))).toBe('200')
  })

  test('D7-D9: an unknown, answered, cancelled or expired session comes before the origin', async () => {
    const [answered, cancelled, expired] = [await create(), await create(), await create({ ttl_seconds: 60 })]
    expect((await presentThrough(app, answered.id, holder)).status).toBe(200)
    await app.call('POST', `/v1/verifications/${cancelled.id}/cancel`, { key })
    const other = { origin: 'https://other.example', body: 'no object' }
    expect(outcome(await ask(app, 'vs_unknown', other))).toBe('404 session_not_found')
    expect(outcome(await ask(app, answered.id, other))).toBe('409 session_already_responded')
    expect(outcome(await ask(app, cancelled.id, other))).toBe('410 session_expired')
    app.clock.advance(61_000)
    expect(outcome(await ask(app, expired.id, other))).toBe('410 session_expired')
  })

  const bodies: [string, object, string][] = [
    ['an unknown member', { body: { protocols: [], other: 1 } }, '400 invalid_request'],
    ['9 protocols', { body: { protocols: Array(9).fill('x') } }, '400 invalid_request'],
    ['a name of 65 characters', { body: { protocols: ['x'.repeat(65)] } }, '400 invalid_request'],
    ['no JSON', { body: undefined, raw: 'x', headers: { 'content-type': 'application/json' } }, '400 invalid_request'],
    ['another type', { body: undefined, raw: '{}', headers: { 'content-type': 'text/plain' } }, '400 invalid_request'],
    [
      '64 KiB and a byte',
      { body: undefined, raw: ' '.repeat(65_537), headers: { 'content-type': 'application/json' } },
      '413 invalid_request',
    ],
  ]
  test.each(bodies)('D10: a body with %s is refused, after the origin', async (_, call, expected) => {
    const { id } = await create()
    expect(outcome(await ask(app, id, call))).toBe(expected)
    expect(outcome(await ask(app, id, { ...call, origin: 'https://other.example' }))).toBe('403 origin_not_allowed')
  })

  test('8 protocols of 64 characters are taken', async () => {
    expect(outcome(await ask(app, (await create()).id, { body: { protocols: Array(8).fill('x'.repeat(64)) } }))).toBe('200')
  })

  test('D14: after an origin is removed its answer is still taken, and a new request is 403', async () => {
    const own = await app.tenant()
    await listOrigin(app, own.id)
    const created = await createVerification(app, own.key)
    const answer = await answerOf(app, created.id, holder)
    await removeOrigin(app.deps, { tenantId: own.id, environment: 'test' }, ORIGIN, 'test')
    expect(outcome(await ask(app, created.id))).toBe('403 origin_not_allowed')
    expect((await tell(app, created.id, answer)).body).toMatchObject({ status: 'completed' })
  })
})

test('D12: 200 requests at once, of one origin and of 20, make one nonce and key for each origin, and lose none', async () => {
  const own = await app.tenant()
  const origins = Array.from({ length: 20 }, (_, i) => `https://shop-${i}.example`)
  for (const origin of origins) await listOrigin(app, own.id, origin)
  const { id } = await createVerification(app, own.key)
  const asking = [...origins, ...Array(179).fill(origins[0]), 'https://verify.example'] as string[]
  const told = await Promise.all(asking.map(async origin => ({ origin, told: await ask(app, id, { origin }) })))
  expect(new Set(told.map(({ told: { status } }) => status))).toEqual(new Set([200]))
  const nonces = told.map(({ origin, told: { body } }) => `${origin} ${(body.requests[0]!.data as { nonce: string }).nonce}`)
  expect(new Set(nonces).size).toBe(21)
  for (const origin of [...origins, 'https://verify.example']) {
    const { body } = await ask(app, id, { origin })
    expect(nonces).toContain(`${origin} ${(body.requests[0]!.data as { nonce: string }).nonce}`)
  }
})

test('D13: one client that asks too often gets 429, and another client is not affected', async () => {
  const limited = await startWithTenant({ rateLimitScale: 1, config: { trustedProxies: parseNetworks('127.0.0.1') } })
  await listOrigin(limited.app, limited.id)
  const { id } = await createVerification(limited.app, limited.key)
  const by = (client: string) => ask(limited.app, id, { headers: { 'x-forwarded-for': client } })
  const told = new Set<string>()
  for (let i = 0; i < 61; i++) told.add(outcome(await by('203.0.113.7')))
  expect([...told]).toEqual(['200', '429 rate_limit_exceeded'])
  expect(outcome(await by('203.0.113.8'))).toBe('200')
  await limited.app.stop()
})

describe('a caller with a key', () => {
  const askWith = (id: string, by: string | undefined, body: unknown = { origin: ORIGIN }) =>
    app.call<{ requests: unknown[] }>('POST', `/v1/verifications/${id}/dc-request`, { key: by, body })

  test('a server gets the same requests as the page', async () => {
    const { id } = await create()
    const page = await ask(app, id)
    expect((await askWith(id, key)).body).toEqual(page.body as never)
  })

  test("D16: another tenant's or environment's session is 404, a key without the scope 403, an unlisted origin 403", async () => {
    const { id } = await create()
    const other = await app.tenant()
    expect(outcome(await askWith(id, other.key))).toBe('404 session_not_found')
    expect(outcome(await askWith(id, liveKey))).toBe('404 session_not_found')
    expect(outcome(await askWith(id, undefined))).toBe('401 invalid_api_key')
    const reader = await app.key(tenantId, { scopes: ['verifications:read'] })
    expect(outcome(await askWith(id, reader))).toBe('403 insufficient_scope')
    expect(outcome(await askWith(id, key, { origin: 'https://other.example' }))).toBe('403 origin_not_allowed')
    expect(outcome(await askWith(id, key, {}))).toBe('400 invalid_request')
  })

  test('an app of Android can be asked for through a server', async () => {
    const origin = `android:apk-key-hash:${'b'.repeat(43)}`
    await listOrigin(app, tenantId, origin)
    const { id } = await create()
    const { body } = await askWith(id, key, { origin })
    expect(body).toMatchObject({ origin })
  })
})

test('the timeline tells once for each origin who asked', async () => {
  const { id } = await create()
  await ask(app, id)
  await ask(app, id)
  await ask(app, id, { origin: 'https://verify.example' })
  const events = rowsOf<{ event: string }>(app, 'SELECT event FROM verification_events WHERE verification_id = ?', id)
  expect(events.map(({ event }) => event)).toEqual(['dc_requested', 'dc_requested'])
  expect((await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body.status).toBe('pending')
})

test('entries are gone when a session is answered, cancelled or expired', async () => {
  const own = await startApp()
  const { key: ownKey, id: ownId } = await own.tenant()
  await listOrigin(own, ownId)
  const sessions = await Promise.all([0, 1, 2].map(() => createVerification(own, ownKey, { ttl_seconds: 60 })))
  for (const { id } of sessions) await ask(own, id)
  const kept = () => rowsOf<{ n: number }>(own, 'SELECT count(sealed_dc_requests) AS n FROM verification_sessions')[0]!.n
  expect(kept()).toBe(3)
  await presentThrough(own, sessions[0]!.id, await holderOf(own))
  expect(kept()).toBe(2)
  await own.call('POST', `/v1/verifications/${sessions[1]!.id}/cancel`, { key: ownKey })
  expect(kept()).toBe(1)
  own.clock.advance(61_000)
  await sweepExpired(own.deps)
  expect(kept()).toBe(0)
  await own.stop()
})
