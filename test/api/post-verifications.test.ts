import { describe, expect, test } from 'bun:test'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { type Answer, type Call, type ErrorBody, NOON, outcome, startApp, startWithTenant, until } from '../helpers/app.ts'
import { words } from '../helpers/words.ts'

const QUERY = {
  credentials: [
    { id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: [{ path: ['family_name'] }] },
  ],
}

const { app, ...tenant } = await startWithTenant({ resolve: resolveFixed })

async function resolveFixed(host: string): Promise<string[]> {
  const known: Record<string, string[]> = {
    'hooks.shop.example': ['93.184.215.14'],
    'inside.shop.example': ['10.0.0.8'],
    'mixed.shop.example': ['93.184.215.14', '169.254.169.254'],
  }
  const addresses = known[host]
  if (!addresses) throw new Error('NXDOMAIN')
  return addresses
}

const create = (body: unknown, call: Call = {}) =>
  app.call<Verification & ErrorBody>('POST', '/v1/verifications', { key: tenant.key, body, ...call })

const used = async () =>
  (await app.call<{ verifications_created: number }>('GET', '/v1/usage', { key: tenant.key })).body.verifications_created

async function refused(answer: Answer<ErrorBody> | Promise<Answer<ErrorBody>>, status: number, code: string, message?: RegExp) {
  const { status: given, body } = await answer
  expect([given, body.error?.code]).toEqual([status, code])
  expect(Object.keys(body)).toEqual(['error'])
  expect(Object.keys(body.error)).toEqual(['code', 'message'])
  if (message) expect(body.error.message).toMatch(message)
}

describe('an accepted request', () => {
  test('a creation answers 201 with a pending session: wallet_uri, request_uri, created_at and expires_at, and nothing else', async () => {
    const { status, body } = await create({ template: 'age_over_18' })
    expect(status).toBe(201)
    expect(Object.keys(body).sort()).toEqual(words('created_at expires_at id request_uri status template wallet_uri'))
    expect(body.id).toMatch(/^vs_[0-9A-Za-z]{22}$/)
    expect(body.status).toBe('pending')
    expect(body.template).toBe('age_over_18')
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(300_000)
  })

  test('a creation has the session in Location and its page in Link, on a replay too', async () => {
    const call = { headers: { 'idempotency-key': 'located' } }
    const first = await create({ template: 'age_over_18' }, call)
    const again = await create({ template: 'age_over_18' }, call)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    for (const { headers } of [first, again]) {
      expect(headers.get('location')).toBe(`/v1/verifications/${first.body.id}`)
      expect(headers.get('link')).toBe(`<https://verify.example/v/${first.body.id}>; rel="alternate"; type="text/html"`)
    }
    expect((await create({ template: 'age_over_18', query: QUERY })).headers.get('location')).toBeNull()
  })

  test('Location has the path of the public address, which a proxy strips from requests', async () => {
    const { app: below, key } = await startWithTenant({ config: { publicUrl: 'https://shop.example/verify' } })
    const { headers, body } = await below.call<Verification>('POST', '/v1/verifications', {
      key,
      body: { template: 'age_over_18' },
    })
    expect(headers.get('location')).toBe(`/verify/v1/verifications/${body.id}`)
  })

  test('a creation echoes metadata, purpose and redirect_url, and never webhook_url', async () => {
    const given = {
      metadata: { order: '17', '': 'empty key' },
      purpose: 'To sell wine 🍷',
      redirect_url: 'https://shop.example/done?x=1#top',
    }
    const { status, body, text } = await create({
      template: 'age_over_18',
      webhook_url: 'https://hooks.shop.example/in',
      ...given,
    })
    expect(status).toBe(201)
    expect(body).toMatchObject(given)
    expect(text).not.toContain('hooks.shop.example')
  })

  test('the wallet_uri has client_id and request_uri only, the latter equal to the member request_uri', async () => {
    const { body } = await create({ template: 'identity_basic' })
    const uri = new URL(body.wallet_uri ?? '')
    expect(`${uri.protocol}//${uri.host}${uri.pathname}`).toBe('openid4vp://')
    expect([...uri.searchParams.keys()]).toEqual(['client_id', 'request_uri'])
    expect(uri.searchParams.get('client_id')).toMatch(/^x509_hash:[\w-]{43}$/)
    expect(uri.searchParams.get('request_uri')).toBe(body.request_uri ?? '')
    expect(body.request_uri).toBe(`https://verify.example/wallet/request/${body.id}`)
  })

  test('the EU age app gets its request by value under av://', async () => {
    const { body } = await create({ template: 'eu_av_age_18', purpose: 'Age check' })
    const uri = new URL(body.wallet_uri ?? '')
    const response = `https://verify.example/wallet/response/${body.id}`
    expect(`${uri.protocol}//${uri.host}`).toBe('av://authorize')
    expect(Object.fromEntries(uri.searchParams)).toMatchObject({
      client_id: `redirect_uri:${response}`,
      response_uri: response,
      response_type: 'vp_token',
      response_mode: 'direct_post',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
    })
    const query = JSON.parse(uri.searchParams.get('dcql_query') ?? '')
    expect(query.credential_sets).toEqual([{ options: [['proof_of_age']], purpose: 'Age check' }])
    expect(body).not.toHaveProperty('request_uri')
  })

  test('a creation may give an explicit query instead of a template', async () => {
    const { status, body } = await create({ query: QUERY })
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('template')
  })

  test.each([...BUILTIN_TEMPLATES.keys()])('a creation may name the built-in template %s', async template => {
    expect((await create({ template })).status).toBe(201)
  })

  test('a creation may name a template of its own tenant, not of another', async () => {
    const other = await app.tenant()
    await saveTemplate(app.deps, { tenantId: tenant.id, key: 'club', title: 'Club', query: QUERY as never }, 'test')
    expect((await create({ template: 'club' })).status).toBe(201)
    await refused(create({ template: 'club' }, { key: other.key }), 422, 'unknown_template')
  })

  test('a creation consumes one unit of the daily quota', async () => {
    const before = await used()
    await create({ template: 'age_over_18' })
    expect(await used()).toBe(before + 1)
  })

  test('a creation returns the budgets that are left', async () => {
    const { app: limited, key } = await startWithTenant({ rateLimitScale: 1 }, { name: 'Shop', dailyQuota: 7 })
    const { headers } = await limited.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
    expect(headers.get('ratelimit-policy')).toBe('"key";q=100;w=2, "daily";q=7;w=86400')
    expect(headers.get('ratelimit')).toBe('"key";r=99;t=1, "daily";r=6;t=43200')
  })
})

describe('both sides of every limit', () => {
  const metadata = (keys: number, key = 'k', value = 'v') =>
    Object.fromEntries(Array.from({ length: keys }, (_, i) => [`${key}${i}`, value]))
  const claims = (count: number) => ({
    credentials: [{ ...QUERY.credentials[0], claims: Array.from({ length: count }, (_, i) => ({ path: [`c${i}`] })) }],
  })
  const credentials = (count: number) => ({
    credentials: Array.from({ length: count }, (_, i) => ({ ...QUERY.credentials[0], id: `c${i}` })),
  })
  const possession = (isProven: boolean) => ({
    query: { credentials: [{ ...QUERY.credentials[0], require_cryptographic_holder_binding: isProven }] },
  })
  const template = 'age_over_18'

  test.each([
    ['ttl_seconds 60', { template, ttl_seconds: 60 }],
    ['ttl_seconds 3600', { template, ttl_seconds: 3600 }],
    ['purpose of 1 character', { template, purpose: 'x' }],
    ['purpose of 300 characters', { template, purpose: 'x'.repeat(300) }],
    ['purpose of 300 characters outside the basic plane', { template, purpose: '🍷'.repeat(300) }],
    ['50 metadata keys', { template, metadata: metadata(50) }],
    ['no metadata keys', { template, metadata: {} }],
    ['a metadata key of 64 characters', { template, metadata: { ['k'.repeat(64)]: 'v' } }],
    ['a metadata value of 500 characters', { template, metadata: { k: 'v'.repeat(500) } }],
    ['an empty metadata value', { template, metadata: { k: '' } }],
    ['metadata keys with line breaks', { template, metadata: { 'a\nb': 'v', '\r': 'v', '\u2028': 'v', '\u2029': 'v' } }],
    ['a query of 20 credentials', { query: credentials(20) }],
    ['a query of 100 claims', { query: claims(100) }],
    ['a query that asks for a proof of possession', possession(true)],
  ])('%s is accepted', async (_, body) => {
    expect((await create(body)).status).toBe(201)
  })

  test.each([
    ['ttl_seconds 59', { template, ttl_seconds: 59 }, /^ttl_seconds: /],
    ['ttl_seconds 3601', { template, ttl_seconds: 3601 }, /^ttl_seconds: /],
    ['ttl_seconds 60.5', { template, ttl_seconds: 60.5 }, /^ttl_seconds: /],
    ['ttl_seconds "60"', { template, ttl_seconds: '60' }, /^ttl_seconds: /],
    ['ttl_seconds null', { template, ttl_seconds: null }, /^ttl_seconds: /],
    ['an empty template', { template: '' }, /^template: expected a string of 1 to 64 characters/],
    ['a template of 65 characters', { template: 'x'.repeat(65) }, /^template: expected a string of 1 to 64 characters/],
    ['an empty purpose', { template, purpose: '' }, /^purpose: expected a string of 1 to 300 characters/],
    ['a purpose of 301 characters', { template, purpose: 'x'.repeat(301) }, /^purpose: /],
    ['a purpose of 301 characters outside the basic plane', { template, purpose: '🍷'.repeat(301) }, /^purpose: /],
    ['a purpose that is a number', { template, purpose: 7 }, /^purpose: /],
    ['51 metadata keys', { template, metadata: metadata(51) }, /^metadata: /],
    ['a metadata key of 65 characters', { template, metadata: { ['k'.repeat(65)]: 'v' } }, /^metadata/],
    ['a metadata value of 501 characters', { template, metadata: { k: 'v'.repeat(501) } }, /^metadata\.k: /],
    ['a metadata value that is a number', { template, metadata: { k: 7 } }, /^metadata\.k: /],
    ['a metadata value that is a number, under a key with a line break', { template, metadata: { '\n': 7 } }, /^metadata\.\n: /],
    ['metadata that is an array', { template, metadata: [] }, /^metadata: /],
    ['a query without credentials', { query: {} }, /^query\.credentials: /],
    ['a query with no credential', { query: { credentials: [] } }, /^query\.credentials: /],
    ['a query of 21 credentials', { query: credentials(21) }, /^query\.credentials: /],
    ['a query of 101 claims', { query: claims(101) }, /^query\.credentials\[0\]\.claims: /],
    [
      'a query no wallet could answer',
      { query: { credentials: [{ id: 'a', format: 'jpeg', meta: {} }] } },
      /^query\.credentials\[0\]\.format: /,
    ],
    ['an unknown field', { template, tempalte: 'x' }, /^tempalte: /],
    [
      'a query whose answers prove no possession',
      possession(false),
      /^query\.credentials\[0\]\.require_cryptographic_holder_binding: /,
    ],
    ['an unknown field in the query', { query: { ...QUERY, purpose: 'x' } }, /^query\.purpose: /],
    ['a webhook_url that is no URI', { template, webhook_url: 'shop' }, /^webhook_url: expected an absolute URI/],
    ['a redirect_url that is no URI', { template, redirect_url: '/done' }, /^redirect_url: expected an absolute URI/],
    ['a redirect_url that would run as code', { template, redirect_url: 'javascript:alert(1)' }, /^redirect_url: /],
    ['neither template nor query', {}, /exactly one of template and query/],
    ['both template and query', { template, query: QUERY }, /exactly one of template and query/],
    ['an array as body', [], /^body: /],
    ['null as body', null, /^body: /],
    ['a string as body', 'x', /^body: /],
  ])('%s is 400 invalid_request, naming the place, and nothing is charged', async (_, body, message) => {
    const before = await used()
    await refused(create(body), 400, 'invalid_request', message)
    expect(await used()).toBe(before)
  })
})

describe('templates and destinations', () => {
  test('a template that is not built in and not of the tenant is 422 unknown_template', async () => {
    for (const template of ['nope', '__proto__', 'constructor', 'x'.repeat(64)])
      await refused(create({ template }), 422, 'unknown_template')
  })

  const FORBIDDEN_WEBHOOKS = words(`
    http://127.0.0.1/hook http://2130706433/ https://localhost/hook https://10.1.2.3/hook https://192.168.0.10/hook
    http://169.254.169.254/latest/meta-data http://[::1]:8080/ http://[fe80::1]/ http://[::ffff:10.0.0.1]/
    https://inside.shop.example/hook https://mixed.shop.example/hook https://user:secret@hooks.shop.example/
    ftp://hooks.shop.example/ https://hooks.shop.example:22/
  `)
  test.each(FORBIDDEN_WEBHOOKS)('the webhook_url %s is 422 invalid_webhook_url', async webhook_url => {
    const before = await used()
    await refused(create({ template: 'age_over_18', webhook_url }), 422, 'invalid_webhook_url', /^webhook_url: /)
    expect(await used()).toBe(before)
  })

  test.each([
    'https://hooks.shop.example/in',
    'http://hooks.shop.example:8080/in?a=b',
    'https://93.184.215.14/in',
    'https://not-yet.shop.example/',
  ])('the webhook_url %s is accepted (a name that does not resolve yet is decided at delivery)', async webhook_url => {
    expect((await create({ template: 'age_over_18', webhook_url })).status).toBe(201)
  })

  test.each([
    'https://shop.example/\ncb',
    'https://shop.example/a b',
    'https://shop.example/ü',
    'https://shop.example\\@evil.example',
    'https://shop.example/%2',
    'https://shop.example/#a#b',
    'https:shop.example',
    'https:///done',
  ])('the redirect_url and webhook_url %j is no URI (RFC 3986): 400', async url => {
    for (const field of ['redirect_url', 'webhook_url'])
      await refused(create({ template: 'age_over_18', [field]: url }), 400, 'invalid_request', /2048 characters/)
  })

  test('a redirect_url may have 2048 characters, not 2049', async () => {
    const ofLength = (length: number) =>
      create({ template: 'age_over_18', redirect_url: 'https://shop.example/'.padEnd(length, 'x') })
    expect((await ofLength(2048)).status).toBe(201)
    await refused(ofLength(2049), 400, 'invalid_request', /2048 characters/)
  })

  test.each([
    'https://shop.example/done',
    'http://localhost:4000/done',
    'com.example.shop://done',
    'com.example.shop:done',
    "https://shop.example:8443/a/%C3%BC;x=1,2/?q=a+b&c[]=d!$'()*~#top-2?",
    'https://[2001:db8::1]/',
  ])('the redirect_url %s is accepted', async redirect_url => {
    expect((await create({ template: 'age_over_18', redirect_url })).status).toBe(201)
  })

  test('an operator can allow one private destination, and only that one', async () => {
    const lan = await startApp({ config: { egressAllow: [{ address: '192.168.10.20', prefix: 32, port: 8443 }] } })
    const { key } = await lan.tenant()
    const to = (webhook_url: string) =>
      lan.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18', webhook_url } })
    expect((await to('https://192.168.10.20:8443/hook')).status).toBe(201)
    expect((await to('https://192.168.10.21:8443/hook')).status).toBe(422)
    expect((await to('https://192.168.10.20:8444/hook')).status).toBe(422)
  })
})

describe('a live key', () => {
  test('webhook_url must be https, and the refusal says what to do', async () => {
    const { key, liveKey } = await app.tenant()
    const to = (webhook_url: string, by: string) =>
      app.call<ErrorBody>('POST', '/v1/verifications', { key: by, body: { template: 'age_over_18', webhook_url } })
    const { status, body } = await to('http://shop.example.com/hook', liveKey)
    expect([status, body.error.code]).toEqual([422, 'invalid_webhook_url'])
    expect(body.error.message).toStartWith('webhook_url: ')
    expect(body.error.message).toMatch(/begin the URL with https:\/\/.*operator/)
    expect((await to('https://shop.example.com/hook', liveKey)).status).toBe(201)
    expect((await to('http://shop.example.com/hook', key)).status).toBe(201)
  })

  test('webhook_url may be http where the operator opened its address', async () => {
    const lan = await startApp({ config: { egressAllow: [{ address: '192.168.10.20', prefix: 32, port: 8080 }] } })
    const { liveKey } = await lan.tenant()
    const body = { template: 'age_over_18', webhook_url: 'http://192.168.10.20:8080/hook' }
    expect((await lan.call('POST', '/v1/verifications', { key: liveKey, body })).status).toBe(201)
  })
})

describe('Idempotency-Key', () => {
  const repeat = (key: string, body: unknown = { template: 'age_over_18', metadata: { a: '1', b: '2' } }, call: Call = {}) =>
    create(body, { headers: { 'idempotency-key': key, 'content-type': 'application/json' }, ...call })

  test('rule 1: the same key with the same body replays the original 201, marked, and creates and charges nothing further', async () => {
    const first = await repeat('rule-1')
    const before = await used()
    const again = await repeat('rule-1')
    expect([first.status, again.status]).toEqual([201, 201])
    expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([null, 'true'])
    expect(again.text).toBe(first.text)
    expect(await used()).toBe(before)
  })

  test('a body with its members in another order is the same body', async () => {
    const first = await repeat('order', { template: 'age_over_18', metadata: { a: '1', b: '2' } })
    const again = await repeat('order', { metadata: { b: '2', a: '1' }, template: 'age_over_18' })
    expect(again.body.id).toBe(first.body.id)
  })

  test('rule 2: the same key with a different body answers 422 idempotency_key_reused', async () => {
    await repeat('rule-2')
    await refused(repeat('rule-2', { template: 'age_over_18' }), 422, 'idempotency_key_reused')
    const longer = { template: 'age_over_18', metadata: { a: '1', b: '2' }, ttl_seconds: 300 }
    await refused(repeat('rule-2', longer), 422, 'idempotency_key_reused')
  })

  test('rule 3: a retry while the first request is still running answers 409 with Retry-After', async () => {
    const lookUp = Promise.withResolvers<string[]>()
    let lookUps = 0
    // Only the first request waits: one that came past it would be answered.
    const resolve = async () => (lookUps++ === 0 ? await lookUp.promise : ['93.184.215.14'])
    const { app: slow, key } = await startWithTenant({ resolve })
    const call = {
      key,
      body: { template: 'age_over_18', webhook_url: 'https://hooks.shop.example/' },
      headers: { 'idempotency-key': 'slow' },
    }
    const first = slow.call('POST', '/v1/verifications', call)
    await until(async () => lookUps === 1)
    const second = await slow.call<ErrorBody>('POST', '/v1/verifications', call)
    expect([outcome(second), second.headers.get('retry-after')]).toEqual(['409 idempotency_key_in_flight', '30'])
    slow.clock.advance(29_500)
    expect((await slow.call('POST', '/v1/verifications', call)).headers.get('retry-after')).toBe('1')
    const other = await slow.call<ErrorBody>('POST', '/v1/verifications', { ...call, body: { template: 'age_over_18' } })
    expect(other.body.error.code).toBe('idempotency_key_reused')
    lookUp.resolve(['93.184.215.14'])
    expect((await first).status).toBe(201)
    expect((await slow.call('POST', '/v1/verifications', call)).headers.get('idempotent-replayed')).toBe('true')
  })

  test('an Idempotency-Key is taken for 24 hours, exclusive', async () => {
    const { app: own, key } = await startWithTenant()
    const call = { key, body: { template: 'age_over_18' }, headers: { 'idempotency-key': 'day' } }
    const first = await own.call<Verification>('POST', '/v1/verifications', call)
    own.clock.set(NOON + 24 * 3_600_000 - 1)
    expect((await own.call<Verification>('POST', '/v1/verifications', call)).body.id).toBe(first.body.id)
    own.clock.set(NOON + 24 * 3_600_000)
    const later = await own.call<Verification>('POST', '/v1/verifications', call)
    expect(later.status).toBe(201)
    expect(later.body.id).not.toBe(first.body.id)
  })

  test('a replay works with the quota spent, and after the session has expired', async () => {
    const { app: own, key } = await startWithTenant({}, { name: 'Shop', dailyQuota: 1 })
    const call = { key, body: { template: 'age_over_18' }, headers: { 'idempotency-key': 'spent' } }
    const first = await own.call('POST', '/v1/verifications', call)
    own.clock.advance(3_600_000)
    const again = await own.call('POST', '/v1/verifications', call)
    expect([again.status, again.text]).toEqual([201, first.text])
  })

  test('a refusal is not stored under its Idempotency-Key: the repeat is a new request', async () => {
    const { app: own, id, key } = await startWithTenant()
    const call = { key, body: { template: 'soon' }, headers: { 'idempotency-key': 'refused' } }
    expect((await own.call('POST', '/v1/verifications', call)).status).toBe(422)
    await saveTemplate(own.deps, { tenantId: id, key: 'soon', title: 'Soon', query: QUERY as never }, 'test')
    expect((await own.call('POST', '/v1/verifications', call)).status).toBe(201)
  })

  test('other tenants and environments may use the same Idempotency-Key', async () => {
    const other = await app.tenant()
    const ids = await Promise.all(
      [tenant.key, tenant.liveKey, other.key].map(async key => (await repeat('shared', undefined, { key })).body.id),
    )
    expect(new Set(ids).size).toBe(3)
  })

  test('an Idempotency-Key survives a roll of the API key and a restart', async () => {
    const { app: own, id, key } = await startWithTenant()
    const call = { body: { template: 'age_over_18' }, headers: { 'idempotency-key': 'restart' } }
    const first = await own.call('POST', '/v1/verifications', { key, ...call })
    const successor = await own.key(id)
    await own.stop()
    const again = await startApp({ dir: own.dir })
    expect((await again.call('POST', '/v1/verifications', { key: successor, ...call })).text).toBe(first.text)
  })

  test.each(['x', '!~', 'a'.repeat(255), crypto.randomUUID()])('the Idempotency-Key %p is accepted', async key => {
    expect((await repeat(key)).status).toBe(201)
  })

  test.each([
    ['empty', ''],
    ['256 characters long', 'a'.repeat(256)],
    ['with a space', 'a b'],
    ['with a tab', 'a\tb'],
    ['outside ASCII', 'ké'],
    ['repeated', 'one, two'],
  ])('that is %s is 400 invalid_idempotency_key', async (_, key) => {
    await refused(repeat(key), 400, 'invalid_idempotency_key')
  })

  test('the syntax of an Idempotency-Key is checked before the body', async () => {
    await refused(repeat('a b', undefined, { raw: '{' }), 400, 'invalid_idempotency_key')
  })
})

describe('the daily quota', () => {
  test('a spent daily quota is 429 quota_exceeded with the seconds until UTC midnight, and is full again there', async () => {
    const own = await startApp({ now: Date.parse('2026-03-04T23:59:58.500Z') })
    const { key } = await own.tenant({ name: 'Shop', dailyQuota: 2 })
    const make = () => own.call<ErrorBody>('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
    expect([(await make()).status, (await make()).status]).toEqual([201, 201])
    const third = await make()
    await refused(third, 429, 'quota_exceeded')
    expect(third.headers.get('retry-after')).toBe('2')
    own.clock.set(Date.parse('2026-03-05T00:00:00.000Z'))
    expect((await make()).status).toBe(201)
  })

  test('the daily quota is checked last: any other refusal comes first', async () => {
    const { key } = await app.tenant({ name: 'Shop', dailyQuota: 0 })
    await refused(create({ template: 'nope' }, { key }), 422, 'unknown_template')
    await refused(create({ template: 'age_over_18', webhook_url: 'http://10.0.0.1/' }, { key }), 422, 'invalid_webhook_url')
    await refused(create({ template: 'nope', webhook_url: 'http://10.0.0.1/' }, { key }), 422, 'unknown_template')
  })
})

test('created_at is strictly increasing per tenant even when the clock stands still or steps back', async () => {
  const { app: own, key } = await startWithTenant()
  const make = async () =>
    (await own.call<Verification>('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).body.created_at
  const times = [await make(), await make(), await make()]
  own.clock.advance(-60_000)
  times.push(await make())
  expect(times).toEqual([0, 1, 2, 3].map(ms => new Date(NOON + ms).toISOString()))
})
