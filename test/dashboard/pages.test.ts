// The data of the dashboard's pages, through their routes.
import { beforeAll, describe, expect, test } from 'bun:test'
import type { ApiKey } from '../../src/dashboard/developers/keys/schema.ts'
import { readAttention } from '../../src/dashboard/overview/overview.ts'
import type { Overview } from '../../src/dashboard/overview/schema.ts'
import type { TrustAnchor } from '../../src/dashboard/settings/trust/schema.ts'
import type { Template, TemplateCheck } from '../../src/dashboard/templates/schema.ts'
import type { PairableDevice } from '../../src/dashboard/tills/schema.ts'
import type { VerificationDetail, VerificationPage } from '../../src/dashboard/verifications/schema.ts'
import type { TillDevice } from '../../src/devices/schema.ts'
import { addAnchors } from '../../src/trust/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, createVerification, type ErrorBody, type startApp, startWithTenant, type TestApp, until } from '../helpers/app.ts'
import { CertificateRequest, issue, issueAuthority, pemOf } from '../helpers/certificates.ts'
import { type Browser, outcome, setUpOwner } from '../helpers/dashboard.ts'
import { rowsOf } from '../helpers/database.ts'
import { FORM, openSession, postTo } from '../helpers/exchange.ts'
import { verifyWith } from '../helpers/wallet.ts'

const DAY_MS = 86_400_000

type Place = { app: TestApp; boss: Browser; shop: Awaited<ReturnType<TestApp['tenant']>>; at: string }

async function place(options: Parameters<typeof startApp>[0] = {}, tenant?: Parameters<TestApp['tenant']>[0]): Promise<Place> {
  const { app, ...shop } = await startWithTenant(options, tenant)
  return { app, shop, boss: await setUpOwner(app), at: `/tenants/${shop.id}` }
}

describe('the overview', () => {
  const overviewOf = async ({ boss, at }: Place, environment: string) =>
    (await boss.get<Overview>(`${at}/overview?environment=${environment}`)).body

  const codes = ({ attention }: Overview) => attention.map(({ code }) => code)

  test('the overview shows today’s usage and the last ten verifications of one environment', async () => {
    const here = await place()
    const made: Verification[] = []
    for (let i = 0; i < 12; i++) made.push(await createVerification(here.app, here.shop.key))
    const live = await createVerification(here.app, here.shop.liveKey)
    const overview = await overviewOf(here, 'test')
    expect(overview.usage).toMatchObject({ day: '2026-03-04', verifications_created: 13, daily_quota: 10_000 })
    expect(overview.recent.map(({ id }) => id)).toEqual(
      made
        .toReversed()
        .slice(0, 10)
        .map(({ id }) => id),
    )
    expect((await overviewOf(here, 'live')).recent.map(({ id }) => id)).toEqual([live.id])
  })

  test('the overview warns of missing anchors and a self-made certificate when live is used', async () => {
    const here = await place()
    expect(codes(await overviewOf(here, 'test'))).toEqual(['no_trust_anchors', 'certificate_self_made'])
    const keys = (await here.boss.get<{ data: ApiKey[] }>(`${here.at}/keys`)).body.data
    const live = keys.find(({ environment }) => environment === 'live')
    await here.boss.delete(`${here.at}/keys/${live?.id}`)
    expect(codes(await overviewOf(here, 'test'))).toEqual([])
    expect(codes(await overviewOf(here, 'live'))).toEqual(['no_trust_anchors', 'certificate_self_made'])
    const pem = pemOf((await issueAuthority()).der)
    await here.boss.post('/trust', { environment: 'test', pem })
    expect(codes(await overviewOf(here, 'live'))).toContain('no_trust_anchors')
    await here.boss.post('/trust', { environment: 'live', pem })
    expect(codes(await overviewOf(here, 'live'))).toEqual(['certificate_self_made'])
  })

  test('the overview warns of certificates that end within 30 days', async () => {
    const here = await place()
    const { not_after } = (await here.boss.get<{ not_after: string }>('/signing')).body
    const pem = pemOf((await issueAuthority({ notBefore: here.app.clock.now(), notAfter: Date.parse(not_after) - DAY_MS })).der)
    await addAnchors(here.app.deps, { pem, environment: 'live', label: 'Issuer' }, 'test')
    here.app.clock.set(Date.parse(not_after) - 31 * DAY_MS)
    await here.boss.logIn('olivia')
    expect(codes(await overviewOf(here, 'live'))).toEqual(['certificate_self_made'])
    here.app.clock.advance(1)
    expect((await overviewOf(here, 'live')).attention[0]).toMatchObject({ code: 'trust_anchor_expires', label: 'Issuer' })
    here.app.clock.set(Date.parse(not_after) - 30 * DAY_MS)
    await here.boss.logIn('olivia')
    expect(codes(await overviewOf(here, 'live'))).not.toContain('certificate_expires')
    here.app.clock.advance(1)
    expect((await overviewOf(here, 'live')).attention).toContainEqual({ code: 'certificate_expires', not_after, days_left: 29 })
  })

  test('the overview warns from 80 % of the quota on', async () => {
    const here = await place({}, { name: 'Small', dailyQuota: 10 })
    for (let i = 0; i < 7; i++) await createVerification(here.app, here.shop.key)
    expect(codes(await overviewOf(here, 'test'))).not.toContain('quota_nearly_used')
    await createVerification(here.app, here.shop.key)
    expect((await overviewOf(here, 'test')).attention).toContainEqual({ code: 'quota_nearly_used', used: 8, daily_quota: 10 })
  })

  test('the overview warns of a public URL that phones cannot reach', async () => {
    const here = await place()
    for (const [publicUrl, expected] of [
      ['https://verify.example', []],
      ['http://verify.example', ['public_url_not_https']],
      ['http://localhost:3000', ['public_url_local']],
      ['https://[::1]:3000', ['public_url_local']],
      ['https://127.0.0.2', ['public_url_local']],
    ] as const) {
      const usage = { day: '', verifications_created: 0, daily_quota: 1, remaining: 1, recent: [] }
      const deps = { ...here.app.deps, config: { ...here.app.deps.config, publicUrl } }
      const attention = await readAttention(deps, { tenantId: here.shop.id, environment: 'live', usage })
      expect(attention.map(({ code }) => code).filter(code => code.startsWith('public_url'))).toEqual([...expected])
    }
  })

  test('the overview names tills whose pairing code lapsed, until they are revoked', async () => {
    const here = await place()
    const till = { name: 'Till 1', allowed_templates: ['age_over_18'], pairing_ttl_seconds: 60 }
    const made = await here.boss.post<{ device: { id: string } }>(`${here.at}/devices?environment=test`, till)
    here.app.clock.advance(59_999)
    expect(codes(await overviewOf(here, 'test'))).not.toContain('pairing_lapsed')
    here.app.clock.advance(1)
    expect((await overviewOf(here, 'test')).attention).toContainEqual({
      code: 'pairing_lapsed',
      device_id: made.body.device.id,
      name: 'Till 1',
      lapsed_at: '2026-03-04T12:01:00.000Z',
    })
    expect(codes(await overviewOf(here, 'live'))).not.toContain('pairing_lapsed')
    await here.boss.delete(`${here.at}/devices/${made.body.device.id}?environment=test`)
    expect(codes(await overviewOf(here, 'test'))).not.toContain('pairing_lapsed')
  })
})

describe('verifications', () => {
  const pageOf = async ({ boss, at }: Place, query: string) =>
    (await boss.get<VerificationPage>(`${at}/verifications?environment=test&${query}`)).body

  test('verifications are listed newest first, and pages skip and repeat nothing', async () => {
    const here = await place()
    const made = []
    for (let i = 0; i < 7; i++) made.push((await createVerification(here.app, here.shop.key, { metadata: { n: String(i) } })).id)
    await createVerification(here.app, here.shop.liveKey)
    const seen: string[] = []
    let query = 'limit=3'
    for (let pages = 0; pages < 9; pages++) {
      const { data, next_before } = await pageOf(here, query)
      seen.push(...data.map(({ id }) => id))
      if (next_before === null) break
      query = `limit=3&before=${next_before}`
    }
    expect(seen).toEqual(made.toReversed())
    expect((await pageOf(here, 'limit=7')).next_before).toBeNull()
    expect((await pageOf(here, 'limit=1')).data[0]).toMatchObject({ status: 'pending', metadata: { n: '6' } })
  })

  test('verifications are filtered by current status and by template', async () => {
    const here = await place()
    const { app, shop } = here
    const old = await createVerification(app, shop.key, { ttl_seconds: 60 })
    app.clock.advance(60_000)
    const { verification: adult } = await verifyWith(app, shop.key, 'adult')
    const { verification: minor } = await verifyWith(app, shop.key, 'minor', { body: { template: 'age_over_21' } })
    const open = await createVerification(app, shop.key, { template: 'age_over_21' })
    const idsOf = async (query: string) => (await pageOf(here, query)).data.map(({ id }) => id)
    expect(await idsOf('status=expired')).toEqual([old.id])
    expect(await idsOf('status=completed')).toEqual([adult.id])
    expect(await idsOf('status=failed')).toEqual([minor.id])
    expect(await idsOf('status=pending')).toEqual([open.id])
    expect(await idsOf('template=age_over_21')).toEqual([open.id, minor.id])
    expect(await idsOf('template=age_over_21&status=failed')).toEqual([minor.id])
    expect(await idsOf('template=none')).toEqual([])
    expect((await pageOf(here, 'status=failed')).data[0]?.error?.code).toBe('claim_not_satisfied')
    for (const query of ['status=other', 'limit=0', 'before=yesterday', 'unknown=1'])
      expect(outcome(await here.boss.get(`${here.at}/verifications?environment=test&${query}`))).toBe('400 invalid_request')
    expect(outcome(await here.boss.get(`${here.at}/verifications`))).toBe('400 invalid_request')
  })

  test('a verification is shown as the API returns it, with its query and its events in order', async () => {
    const here = await place()
    const session = await openSession(
      { app: here.app, key: here.shop.key },
      { template: 'age_over_18', purpose: 'To sell you wine' },
    )
    here.app.clock.advance(5)
    const { id } = session.created
    // Shown twice: only the first time is an event.
    for (let i = 0; i < 2; i++) expect((await call(here.app.url, 'GET', `/v/${id}/data`)).status).toBe(200)
    await until(async () => rowsOf(here.app, "SELECT 1 FROM verification_events WHERE event = 'qr_shown'").length === 1)
    await postTo(session, 'response=nonsense', FORM)
    here.app.clock.advance(5)
    const { body } = await here.boss.get<VerificationDetail>(`${here.at}/verifications/${id}?environment=test`)
    const { body: verification } = await call<Verification>(here.app.url, 'GET', `/v1/verifications/${id}`, {
      key: here.shop.key,
    })
    expect(body.verification).toEqual(verification)
    expect(body.environment).toBe('test')
    expect(body.query).toMatchObject({ credentials: expect.any(Array) })
    expect(body.timeline).toEqual([
      { at: '2026-03-04T12:00:00.000Z', event: 'created', actor: here.shop.key.slice(0, 12) },
      { at: '2026-03-04T12:00:00.000Z', event: 'request_fetched', method: 'get' },
      { at: '2026-03-04T12:00:00.005Z', event: 'qr_shown' },
      { at: '2026-03-04T12:00:00.005Z', event: 'response_unreadable', reason: expect.stringContaining('response') },
    ])
    here.app.clock.advance(300_000)
    const late = (await here.boss.get<VerificationDetail>(`${here.at}/verifications/${id}?environment=test`)).body
    expect(late.timeline.at(-1)).toEqual({ at: '2026-03-04T12:05:00.000Z', event: 'expired' })
  })

  test('an answered verification shows every check of every credential, passed ones too, and the anchor', async () => {
    const here = await place()
    const { verification } = await verifyWith(here.app, here.shop.key, 'expired')
    const { body } = await here.boss.get<VerificationDetail>(`${here.at}/verifications/${verification.id}?environment=test`)
    const posted = body.timeline.find(each => each.event === 'response_posted')
    expect(posted).toMatchObject({ status: 'failed', error: 'credential_expired' })
    const [credential] = posted?.event === 'response_posted' ? posted.credentials : []
    const checks = credential?.checks ?? []
    expect(credential?.trust).toEqual({ anchor: 'sandbox' })
    expect(checks).toContainEqual(expect.objectContaining({ check: 'issuer_signature', status: 'pass' }))
    expect(checks).toContainEqual(expect.objectContaining({ check: 'validity', status: 'fail', detail: expect.any(String) }))
    expect(JSON.stringify(checks)).not.toContain('"failure"')
  })

  test('a tried-out verification is a test session by the user, and counts as usage', async () => {
    const here = await place({}, { name: 'Small', dailyQuota: 3 })
    const before = await createVerification(here.app, here.shop.key)
    const made = await here.boss.post<Verification>(`${here.at}/verifications`, { template: 'age_over_18', purpose: 'A trial' })
    expect(made.body).toMatchObject({ status: 'pending', template: 'age_over_18', purpose: 'A trial' })
    const detail = (await here.boss.get<VerificationDetail>(`${here.at}/verifications/${made.body.id}?environment=test`)).body
    expect(detail.timeline[0]).toMatchObject({ event: 'created', actor: 'dashboard:olivia' })
    // No two sessions of a tenant have the same time, however they are created.
    const next = await createVerification(here.app, here.shop.key)
    expect([before, made.body, next].map(({ created_at }) => Date.parse(created_at) - here.app.clock.now())).toEqual([0, 1, 2])
    expect(outcome(await here.boss.post(`${here.at}/verifications`, { template: 'age_over_18' }))).toBe('429 quota_exceeded')
    expect(outcome(await here.boss.post(`${here.at}/verifications`, { template: 'none' }))).toBe('422 unknown_template')
  })
})

describe('API keys', () => {
  test('an API key is made with scopes, environment and expiry, shown once, and works', async () => {
    const here = await place()
    const body = { environment: 'live', scopes: ['verifications:create'], label: 'web shop', expires_days: 90 }
    const made = await here.boss.post<{ key: string; api_key: ApiKey }>(`${here.at}/keys`, body)
    expect(made.body.api_key).toMatchObject({
      prefix: made.body.key.slice(0, 12),
      environment: 'live',
      label: 'web shop',
      status: 'active',
      expires_at: '2026-06-02T12:00:00.000Z',
    })
    const list = await here.boss.get<{ data: ApiKey[] }>(`${here.at}/keys`)
    expect(list.body.data).toContainEqual(made.body.api_key)
    expect((await createVerification(here.app, made.body.key)).status).toBe('pending')
    for (const wrong of [{ expires_days: 31 }, { scopes: [] }, { scopes: ['everything'] }, { environment: 'prod' }, { more: 1 }])
      expect(outcome(await here.boss.post(`${here.at}/keys`, { ...body, ...wrong }))).toBe('400 invalid_request')
  })

  test('an API key is rolled with a grace for the old one, and revoked permanently', async () => {
    const here = await place()
    const body = { environment: 'test', scopes: ['verifications:create'], expires_days: null }
    const made = (await here.boss.post<{ key: string; api_key: ApiKey }>(`${here.at}/keys`, body)).body
    const rolled = (
      await here.boss.post<{ key: string; api_key: ApiKey }>(`${here.at}/keys/${made.api_key.id}/roll`, { old_expires: '1h' })
    ).body
    const works = async (key: string) =>
      (await here.app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).status
    expect([await works(made.key), await works(rolled.key)]).toEqual([201, 201])
    const gone = await here.boss.delete<ApiKey>(`${here.at}/keys/${rolled.api_key.id}`)
    expect(gone.body).toMatchObject({ id: rolled.api_key.id, status: 'revoked' })
    expect(await here.boss.delete<ApiKey>(`${here.at}/keys/${rolled.api_key.id}`)).toMatchObject({ status: 200, body: gone.body })
    here.app.clock.advance(3_600_000)
    expect([await works(made.key), await works(rolled.key)]).toEqual([401, 401])
    await here.boss.logIn('olivia')
    const { data } = (await here.boss.get<{ data: ApiKey[] }>(`${here.at}/keys`)).body
    expect(data.find(({ id }) => id === made.api_key.id)?.status).toBe('expired')
    const again = await here.boss.post(`${here.at}/keys/${made.api_key.id}/roll`, { old_expires: 'now' })
    expect(outcome(again)).toBe('404 key_not_found')
  })
})

test('a device asks in every way, until its ways are chosen; keys see none of them', async () => {
  const here = await place()
  const at = `${here.at}/devices`
  const till = { name: 'Till 1', allowed_templates: ['age_over_18'] }
  const register = (more: object) => here.boss.post<PairableDevice>(`${at}?environment=test`, { ...till, ...more })
  const { device } = (await register({})).body
  expect(device.ways).toEqual(['qr', 'in_person', 'dc_api'])
  expect((await register({ ways: ['in_person'] })).body.device.ways).toEqual(['in_person'])
  const change = (ways: unknown) => here.boss.put<TillDevice>(`${at}/${device.id}?environment=test`, { ways })
  const changed = await change(['dc_api', 'in_person'])
  expect(changed.body).toMatchObject({ ...till, ways: ['dc_api', 'in_person'] })
  for (const ways of [[], ['qr', 'qr'], ['nfc'], 'qr', null]) expect(outcome(await change(ways))).toBe('400 invalid_request')
  const listed = await here.boss.get<{ data: TillDevice[] }>(`${at}?environment=test`)
  expect(listed.body.data.map(({ ways }) => ways)).toEqual([['in_person'], ['dc_api', 'in_person']])
  const { key } = here.shop
  expect((await here.app.call('GET', '/v1/devices', { key })).text).not.toContain('ways')
  const named = await here.app.call('PATCH', `/v1/devices/${device.id}`, { key, body: { ways: ['qr'] } })
  expect(outcome(named)).toBe('400 invalid_request')
})

test('devices are registered with a code and a link for its QR code, and the code pairs', async () => {
  const here = await place()
  const body = { name: 'Till 1', allowed_templates: ['age_over_18'] }
  const made = await here.boss.post<{ device: { id: string }; pairing_code: string; pairing_url: string }>(
    `${here.at}/devices?environment=live`,
    body,
  )
  expect(made.body.pairing_url).toBe(`https://verify.example/till#pair=${made.body.pairing_code}`)
  const paired = await here.app.call('POST', '/v1/devices/enroll', { body: { pairing_code: made.body.pairing_code } })
  expect(paired.status).toBe(200)
  const list = await here.boss.get<{ data: { id: string; status: string }[] }>(`${here.at}/devices?environment=live`)
  expect(list.body.data).toMatchObject([{ id: made.body.device.id, status: 'active' }])
  const at = `${here.at}/devices/${made.body.device.id}`
  const changed = await here.boss.put<{ name: string }>(`${at}?environment=live`, { name: 'Till 2' })
  expect(changed.body.name).toBe('Till 2')
  const again = await here.boss.post<{ pairing_code: string; pairing_url: string }>(`${at}/pairing?environment=live`, {})
  expect(again.body.pairing_url).toBe(`https://verify.example/till#pair=${again.body.pairing_code}`)
  expect((await here.boss.get<{ data: unknown[] }>(`${here.at}/devices?environment=test`)).body.data).toEqual([])
  expect(outcome(await here.boss.delete(`${here.at}/devices/${made.body.device.id}?environment=test`))).toBe(
    '404 device_not_found',
  )
  const revoked = await here.boss.delete(`${here.at}/devices/${made.body.device.id}?environment=live`)
  expect(revoked.body as unknown).toMatchObject({ status: 'revoked' })
})

describe('templates', () => {
  let here: Place
  beforeAll(async () => {
    here = await place()
  })

  const sdJwt = (...paths: (string | null)[][]) => ({
    credentials: [
      { id: 'c', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: paths.map(path => ({ path })) },
    ],
  })
  const check = async (query: unknown, rules?: unknown) =>
    (await here.boss.post<TemplateCheck>(`${here.at}/template-check`, { query, rules })).body
  const hintsOf = async (query: unknown) =>
    (await check(query)).hints.map(({ code, claim }) => [code, claim].filter(Boolean).join(' '))

  test('built-in templates are listed with the merged claims they ask for', async () => {
    const { data } = (await here.boss.get<{ data: Template[] }>(`${here.at}/templates`)).body
    const age = data.find(({ key }) => key === 'age_over_18')
    expect(age).toMatchObject({ builtin: true, age_over: 18, purpose: 'To check that you are 18 or over', hints: [] })
    expect(new Set(age?.asks.flatMap(({ claims }) => claims))).toEqual(new Set(['age_over_18']))
    const address = data.find(({ key }) => key === 'address')
    for (const { claims } of address?.asks ?? []) expect(claims).toContain('address.postal_code')
    expect(data.every(({ builtin }) => builtin)).toBe(true)
  })

  test('own templates are saved, used, changed and deleted; built-in ones cannot be', async () => {
    const path = `${here.at}/templates/membership`
    const saved = await here.boss.put<Template>(path, { title: 'Member', query: sdJwt(['level']) })
    expect(saved.body).toMatchObject({ key: 'membership', builtin: false, title: 'Member', profile: null })
    expect((await createVerification(here.app, here.shop.key, { template: 'membership' })).template).toBe('membership')
    await here.boss.put(path, { title: 'Member 2', query: sdJwt(['level']), profile: 'plain' })
    const { data } = (await here.boss.get<{ data: Template[] }>(`${here.at}/templates`)).body
    expect(data.at(-1)).toMatchObject({ key: 'membership', title: 'Member 2', profile: 'plain' })
    expect((await here.boss.delete(path)).status).toBe(200)
    expect(outcome(await here.boss.delete(path))).toBe('404 template_not_found')
    for (const method of ['PUT', 'DELETE'])
      expect(
        outcome(
          await here.boss.send(method, `${here.at}/templates/age_over_18`, {
            body: method === 'PUT' ? { title: 'x', query: sdJwt(['a']) } : {},
          }),
        ),
      ).toBe('409 builtin_template')
    const wrong = await here.boss.put(path, { title: 'x', query: { credentials: [{ id: 'c', format: 'jwt_vc' }] } })
    expect(wrong.body.error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('query.credentials[0].format'),
    })
  })

  test('a template check returns the first problem with its path', async () => {
    for (const query of [
      null,
      'text',
      7,
      [],
      {},
      { credentials: [] },
      { credentials: [{ id: 'c', format: 'dc+sd-jwt', meta: {} }] },
    ]) {
      const { problem, asks, hints } = await check(query)
      expect(problem).toEqual({ path: expect.any(String), reason: expect.any(String) })
      expect([asks, hints]).toEqual([[], []])
    }
    expect(await check(sdJwt(['family_name'], ['age_equal_or_over', '18'], ['nationalities', null]))).toEqual({
      problem: null,
      rules_problem: null,
      effective_rules: [{ claim: 'age_over_18', is: true }],
      asks: [
        {
          credential: 'c',
          format: 'dc+sd-jwt',
          types: ['urn:eudi:pid:1'],
          claims: ['family_name', 'age_over_18', 'nationalities'],
        },
      ],
      hints: [],
      // One national type of four: the builder always names all that can answer.
      choice: null,
    })
  })

  test('a template check includes the rules', async () => {
    const query = sdJwt(['age_equal_or_over', '18'])
    expect(await check(query, [{ claim: 'level', is: true }])).toMatchObject({
      problem: null,
      rules_problem: { path: '[0].claim', reason: expect.stringContaining('never delivers "level"') },
      effective_rules: [],
    })
    expect(await check(query, [])).toMatchObject({ problem: null, rules_problem: null, effective_rules: [] })
  })

  test('templates keep rules and purpose, and one with an impossible rule is refused with the reason', async () => {
    const path = `${here.at}/templates/ruled`
    const query = sdJwt(['level'], ['active'])
    const rules = [{ claim: 'active', is: true }]
    const saved = await here.boss.put<Template>(path, { title: 'Member', query, rules, purpose: 'To let you in' })
    expect(saved.body).toMatchObject({ rules, saved_rules: rules, purpose: 'To let you in' })
    const wrong = await here.boss.put(path, { title: 'Member', query, rules: [{ claim: 'age', is: true }] })
    expect(wrong.body.error).toEqual({
      code: 'invalid_request',
      message: 'rules[0].claim: The query never delivers "age" as a merged claim; a rule can be on level, active.',
    })
    const { data } = (await here.boss.get<{ data: Template[] }>(`${here.at}/templates`)).body
    expect(data.find(({ key }) => key === 'ruled')).toMatchObject({ rules, purpose: 'To let you in' })
    await here.boss.put(path, { title: 'Member', query })
    const after = (await here.boss.get<{ data: Template[] }>(`${here.at}/templates`)).body
    expect(after.data.find(({ key }) => key === 'ruled')).toMatchObject({ saved_rules: null, rules: [], purpose: null })
    await here.boss.delete(path)
  })

  test('a template that somebody saved or deleted since it was read is not saved over', async () => {
    const query = sdJwt(['level'])
    const path = `${here.at}/templates/shared`
    const first = await here.boss.put<Template>(path, { title: 'First', query, seen_at: null })
    expect(first.status).toBe(200)
    expect(outcome(await here.boss.put(path, { title: 'Also new', query, seen_at: null }))).toBe('409 template_changed')
    here.app.clock.advance(1000)
    const seen_at = first.body.updated_at
    const second = await here.boss.put<Template>(path, { title: 'Second', query, seen_at })
    expect(second.body.title).toBe('Second')
    expect(outcome(await here.boss.put(path, { title: 'Late', query, seen_at }))).toBe('409 template_changed')
    const { body } = await here.boss.get<{ data: Template[] }>(`${here.at}/templates`)
    expect(body.data.find(({ key }) => key === 'shared')?.title).toBe('Second')
    await here.boss.delete(path)
    const gone = await here.boss.put(path, { title: 'Gone', query, seen_at: second.body.updated_at })
    expect(outcome(gone)).toBe('409 template_changed')
  })

  test.each([' ', '\u00a0 \u3000', '\u200b\u2060', '\u3164'])(
    'refuse a title and a purpose in which nothing can be seen: %j',
    async text => {
      const query = sdJwt(['level'])
      for (const body of [
        { title: text, query },
        { title: 'x', query, purpose: text },
      ])
        expect(outcome(await here.boss.put(`${here.at}/templates/blank`, body))).toBe('400 invalid_request')
    },
  )

  test.each(['line\nbreak', 'bell\u0007', 'turned \u202e round', 'isolated \u2066 text', 'separated\u2028lines'])(
    'refuse a title and a purpose with control characters or changes of direction: %j',
    async text => {
      const query = sdJwt(['level'])
      const path = `${here.at}/templates/odd`
      for (const body of [
        { title: text, query },
        { title: 'x', query, purpose: text },
      ])
        expect(outcome(await here.boss.put(path, body))).toBe('400 invalid_request')
      const purposeOf = { key: here.shop.key, body: { template: 'age_over_18', purpose: text } }
      const answer = await here.app.call<ErrorBody>('POST', '/v1/verifications', purposeOf)
      expect(outcome(answer)).toBe('400 invalid_request')
      expect(answer.body.error.message).toMatch(
        /^purpose: .*on one line, without control characters, invisible ones or changes of direction$/,
      )
    },
  )

  test('templates get hints where they could ask for less', async () => {
    expect(await hintsOf(sdJwt(['birthdate']))).toEqual(['age_instead_of_birthdate birthdate'])
    expect(await hintsOf(sdJwt(['birthdate'], ['family_name']))).toEqual([])
    expect(await hintsOf(sdJwt(['family_name'], ['picture']))).toEqual(['portrait picture'])
    expect(await hintsOf(sdJwt(['document_number']))).toEqual(['identifier document_number'])
    const six = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => [name])
    expect(await hintsOf(sdJwt(...six))).toEqual([])
    expect(await hintsOf(sdJwt(...six, ['g']))).toEqual(['many_claims'])
    const { claims: _, ...whole } = sdJwt(['a']).credentials[0]!
    expect(await hintsOf({ credentials: [whole] })).toEqual(['whole_document'])
    const mdoc = {
      id: 'm',
      format: 'mso_mdoc',
      meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
      claims: [
        { path: ['org.iso.18013.5.1', 'birth_date'], intent_to_retain: true },
        { path: ['org.iso.18013.5.1', 'portrait'], intent_to_retain: false },
      ],
    }
    expect(await hintsOf({ credentials: [mdoc] })).toEqual(['age_instead_of_birthdate birthdate', 'portrait picture'])
  })
})

describe('the installation', () => {
  test('trust anchors are added from PEM, shown with subject and dates, and removed', async () => {
    const here = await place()
    const [root, other] = [
      await issueAuthority({ name: 'C=NL, O=Issuer, CN=Issuer Root' }),
      await issueAuthority({ name: 'CN=Other Root' }),
    ]
    const pem = pemOf(root.der) + pemOf(other.der)
    const added = await here.boss.post<{ data: TrustAnchor[] }>('/trust', {
      environment: 'live',
      pem,
      trusted_for: 'org.iso.18013.5.1.mDL',
      use: 'status',
    })
    expect(added.body.data).toHaveLength(2)
    expect(added.body.data[0]).toMatchObject({
      label: 'Issuer Root',
      use: 'status',
      subject: 'C=NL, O=Issuer, CN=Issuer Root',
      mode: 'auto',
      trusted_for: 'org.iso.18013.5.1.mDL',
      not_after: expect.stringMatching(/Z$/),
      fingerprint_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const id = added.body.data[0]?.id ?? ''
    expect((await here.boss.delete(`/trust/${id}`)).status).toBe(200)
    expect(outcome(await here.boss.delete(`/trust/${id}`))).toBe('404 anchor_not_found')
    expect((await here.boss.get<{ data: TrustAnchor[] }>('/trust')).body.data).toHaveLength(1)
    const wrong = await here.boss.post('/trust', { environment: 'live', pem: 'no certificate' })
    expect(wrong.body.error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('pem') })
  })

  test.each(['line\nbreak', 'turned \u202e round', 'separated\u2028lines'])(
    'the label of a trust anchor and of an API key has no control characters or changes of direction: %j',
    async label => {
      const here = await place()
      const pem = pemOf((await issueAuthority()).der)
      const key = { environment: 'test', scopes: ['verifications:read'], expires_days: null }
      for (const answer of [
        await here.boss.post('/trust', { environment: 'live', pem, label }),
        await here.boss.post(`${here.at}/keys`, { ...key, label }),
      ])
        expect(answer.body.error).toMatchObject({
          code: 'invalid_request',
          message: expect.stringMatching(/^label: .*without control characters, invisible ones or changes of direction$/),
        })
      expect((await here.boss.post(`${here.at}/keys`, { ...key, label: '' })).status).toBe(201)
    },
  )

  test('a certificate that is trusted already, or twice in one text, is refused, and nothing of the text is added', async () => {
    const here = await place()
    const [root, other] = [pemOf((await issueAuthority()).der), pemOf((await issueAuthority()).der)]
    const add = (pem: string, more: object = {}) => here.boss.post('/trust', { environment: 'live', pem, ...more })
    const anchors = async () => (await here.boss.get<{ data: TrustAnchor[] }>('/trust')).body.data
    expect((await add(other + root + root)).body.error).toEqual({
      code: 'invalid_request',
      message: 'pem: the certificate of Test Root is in the file twice; give it once',
    })
    expect(await anchors()).toEqual([])
    expect((await add(root)).status).toBe(201)
    const id = (await anchors())[0]?.id
    expect((await add(other + root, { mode: 'pkix' })).body.error).toEqual({
      code: 'invalid_request',
      message: `pem: Test Root is trusted in live sessions for every type already (${id}); remove it first`,
    })
    expect(await anchors()).toHaveLength(1)
    expect((await add(root, { trusted_for: 'urn:eudi:pid:1' })).status).toBe(201)
    expect((await add(root, { environment: 'test' })).status).toBe(201)
  })

  test('the certificate and its request are shown, and one that does not fit is refused with the reason', async () => {
    const here = await place()
    expect((await here.boss.get('/signing')).body as unknown).toMatchObject({ is_self_made: true, expires_soon: false })
    expect((await here.boss.get<{ csr: string }>('/signing/csr')).body.csr).toStartWith('-----BEGIN CERTIFICATE REQUEST-----')
    const foreign = pemOf((await issueAuthority({ notBefore: here.app.clock.now() - DAY_MS })).der)
    const refused = await here.boss.post('/signing', { chain: foreign })
    expect(refused.body.error).toEqual({
      code: 'invalid_request',
      message: expect.stringContaining('is for none of the keys here; put the leaf first'),
      reason: { code: 'key_not_here', values: {} },
    })
    expect(refused.text).not.toContain('PRIVATE KEY')
  })

  test('an imported certificate is used from the next session on', async () => {
    const here = await place()
    const clientId = async () =>
      new URL((await createVerification(here.app, here.shop.key)).wallet_uri ?? '').searchParams.get('client_id')
    const before = await clientId()
    const request = new CertificateRequest((await here.boss.get<{ csr: string }>('/signing/csr')).body.csr)
    const issuer = await issueAuthority({ notBefore: here.app.clock.now() - DAY_MS })
    const keys = { ...issuer.keys, publicKey: await request.publicKey.export() }
    const leaf = await issue({ name: 'CN=localhost', issuer, keys, notBefore: here.app.clock.now() - DAY_MS })
    const imported = await here.boss.post<{ client_id: string }>('/signing', { chain: pemOf(leaf.der) + pemOf(issuer.der) })
    expect(imported.status).toBe(200)
    expect(await clientId()).toBe(imported.body.client_id)
    expect(imported.body.client_id).not.toBe(before ?? '')
  })

  test('settings from the environment are shown', async () => {
    const here = await place()
    expect((await here.boss.get('/installation')).body as unknown).toMatchObject({
      version: expect.stringMatching(/^\d/),
      public_url: 'https://verify.example',
      wallet_profile: 'haip',
      egress_allow: [],
    })
  })
})
