// Access to every route: for nobody, a user of another tenant, a viewer, a member and an owner.
import { afterAll, expect, test } from 'bun:test'
import { createTenant } from '../../src/tenants/settings.ts'
import { cleanUp, createVerification, startWithTenant, type TestApp } from '../helpers/app.ts'
import { type Browser, joinMember, openBrowser, outcome, PASSWORD, setUpOwner } from '../helpers/dashboard.ts'
import { askRoute, BODIES, dashboardRoutes, ENVIRONMENTAL, nameOf, QUERY, type Route } from '../helpers/dashboard-routes.ts'
import { rowsOf } from '../helpers/database.ts'
import { filesContaining } from '../helpers/files.ts'
import { logOf, type Receiver, receive, startAppFor, startTenantFor, untilAttempted } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

const OPEN = [
  'GET /entrance',
  'POST /link',
  'POST /setup',
  'POST /choose-password',
  'POST /login',
  'POST /login/second-factor',
  'POST /login/passkey/challenge',
  'POST /login/passkey',
  'POST /mail/confirm',
]
const OWNERS = [
  'POST /tenants/:tenant/log-in-keys/turn',
  'POST /tenants/:tenant/verifications/empty',
  'POST /tenants',
  'GET /users',
  'POST /users',
  'PUT /users/:id/role',
  'POST /users/:id/reset',
  'DELETE /users/:id',
  'PUT /security/rule',
  'GET /sign-ins',
  'GET /installation',
  'POST /health',
  'GET /pairing-locks',
  'DELETE /pairing-locks/:id',
  'POST /trust',
  'DELETE /trust/:id',
  'POST /trust/sources',
  'POST /trust/sources/check',
  'DELETE /trust/sources/:id',
  'POST /trust/sources/:id/refresh',
  'POST /trust/sources/:id/pins',
  'DELETE /trust/sources/:id/pins',
  'POST /trust/blocks',
  'DELETE /trust/blocks',
  'POST /trust/revocation/refresh',
  'POST /trust/bundle',
  'GET /signing',
  'GET /signing/tenants',
  'GET /signing/csr',
  'POST /signing/csr',
  'POST /signing',
  'DELETE /signing',
  'DELETE /signing/next',
  'GET /registrations',
  'POST /registrations',
  'DELETE /registrations/:id',
  'GET /mail',
  'PUT /mail/address',
  'DELETE /mail/address',
  'POST /mail/test',
  'POST /users/:id/mail-link',
  'GET /audit',
  'GET /audit/people',
  'GET /audit/verification',
  'POST /audit/verification',
  'POST /audit/export',
]

/** A verification with a delivered webhook. */
async function sendResult(app: TestApp, key: string, receiver: Receiver) {
  const { verification } = await verifyWith(app, key, 'adult', { body: { webhook_url: receiver.url() } })
  await untilAttempted(app, verification.id, 1)
  return { verification: verification.id, delivery: logOf(app, verification.id).delivery?.id ?? '' }
}

const receiver = receive()
const { app, ...shop } = await startTenantFor([receiver])
const bakery = await app.tenant({ name: 'Bakery' })
const boss = await setUpOwner(app)
const mia = await joinMember(app, shop.id, 'mia')
const vera = await joinMember(app, shop.id, 'vera', 'viewer')
const bob = await joinMember(app, bakery.id, 'bob')
const routes = dashboardRoutes(app)
const key = await mia.post<{ api_key: { id: string } }>(`/tenants/${shop.id}/keys`, BODIES['POST /tenants/:tenant/keys'])
const till = BODIES['POST /tenants/:tenant/devices']
const device = await mia.post<{ device: { id: string } }>(`/tenants/${shop.id}/devices?environment=test`, till)
await mia.put(`/tenants/${shop.id}/templates/membership`, { title: 'Member', query: QUERY })
const sent = await sendResult(app, shop.key, receiver)
const client = await mia.post<{ id: string }>(`/tenants/${shop.id}/clients`, BODIES['POST /tenants/:tenant/clients'])
const things = {
  ...sent,
  key: key.body.api_key.id,
  client: client.body.id,
  device: device.body.device.id,
  template: 'membership',
}

afterAll(cleanUp)

const ask = (browser: Browser, route: Route, tenant: string, environment = 'test') =>
  askRoute(browser, route, { ...things, tenant, environment })

test('the table of this file has every dashboard route', () => {
  const names = routes.map(nameOf).toSorted()
  expect(names.filter(name => OPEN.includes(name))).toEqual(OPEN.toSorted())
  expect(names.filter(name => OWNERS.includes(name))).toEqual(OWNERS.toSorted())
  expect(routes.filter(({ path }) => path.includes(':tenant')).length).toBe(55)
})

test('every route but those for log-in answers 401 without a session and with an unknown cookie', async () => {
  for (const route of routes.filter(each => !OPEN.includes(nameOf(each)))) {
    expect([nameOf(route), outcome(await ask(openBrowser(app), route, shop.id))]).toEqual([nameOf(route), '401 not_logged_in'])
    const stranger = openBrowser(app)
    stranger.state.cookie = `__Host-session=${'x'.repeat(43)}`
    expect([nameOf(route), outcome(await ask(stranger, route, shop.id))]).toEqual([nameOf(route), '401 not_logged_in'])
  }
})

test('a user of another tenant gets the 404 of an unknown tenant on every route of a tenant', async () => {
  for (const route of routes.filter(({ path }) => path.includes(':tenant'))) {
    const foreign = await ask(bob, route, shop.id)
    const missing = await ask(bob, route, 'ten_0000000000000000')
    expect([nameOf(route), outcome(foreign)]).toEqual([nameOf(route), '404 tenant_not_found'])
    expect(foreign.text).toBe(missing.text)
    expect([nameOf(route), outcome(await ask(boss, route, 'ten_0000000000000000'))]).toEqual([
      nameOf(route),
      '404 tenant_not_found',
    ])
  }
})

test('a member gets 403 on every route that is for owners', async () => {
  for (const route of routes.filter(each => OWNERS.includes(nameOf(each))))
    expect([nameOf(route), outcome(await ask(mia, route, shop.id))]).toEqual([nameOf(route), '403 owner_required'])
})

/** A viewer's own account. */
const OWN = [
  'POST /logout',
  'POST /reauthenticate',
  'POST /reauthenticate/challenge',
  'POST /password',
  'DELETE /sessions/:id',
  'DELETE /sessions',
  'POST /security/codes',
  'POST /security/codes/start',
  'DELETE /security/codes',
  'POST /security/passkeys/challenge',
  'POST /security/passkeys',
  'DELETE /security/passkeys/:id',
  'POST /security/recovery-codes',
]

test('a viewer reads what a member reads except what holders presented, and changes nothing but their own account', async () => {
  const others = routes.filter(each => ![...OPEN, ...OWNERS, ...OWN].includes(nameOf(each)))
  for (const route of others) {
    const isRefused = route.method !== 'GET'
    const answer = await ask(vera, route, shop.id)
    if (isRefused) expect([nameOf(route), outcome(answer)]).toEqual([nameOf(route), '403 viewer_refused'])
    else expect([nameOf(route), answer.status]).toEqual([nameOf(route), (await ask(mia, route, shop.id)).status])
    expect([nameOf(route), answer.text.includes('age_over_18":true')]).toEqual([nameOf(route), false])
  }
  for (const route of routes.filter(each => OWNERS.includes(nameOf(each))))
    expect([nameOf(route), outcome(await ask(vera, route, shop.id))]).toEqual([nameOf(route), '403 owner_required'])
  const seen = await ask(vera, { method: 'GET', path: '/tenants/:tenant/verifications/:id' }, shop.id)
  expect(seen.body as unknown).toMatchObject({ verification: { status: 'completed' } })
  expect(seen.text).not.toContain('"claims":{')
  expect(seen.text).not.toContain('"claims_read","actor":"dashboard:vera"')
  expect((await vera.post('/reauthenticate', { password: PASSWORD })).status).toBe(200)
})

test('a viewer sees what was asked for without the values that it had to have', async () => {
  const meta = { vct_values: ['urn:eudi:pid:1'] }
  const claims = [{ path: ['nationalities', null], values: ['DE', 'AT'] }, { path: ['given_name'] }]
  const query = { credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta, claims }] }
  const { id } = await createVerification(app, shop.key, { template: undefined, query })
  const path = `/tenants/${shop.id}/verifications/${id}?environment=test`
  const whole = (await mia.get<{ query: unknown }>(path)).body.query
  expect(whole).toMatchObject(query)
  const seen = (await vera.get<{ query: unknown }>(path)).body.query
  const paths = claims.map(({ path }) => ({ path }))
  expect(seen).toEqual({ credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta, claims: paths }] })
})

test('a viewer gets no link that answers a session or leads back to its order, at any door, before and after the answer', async () => {
  const body = { redirect_url: 'https://shop.example/thanks?order=4711' }
  const open = await createVerification(app, shop.key, body)
  const ended = (await verifyWith(app, shop.key, 'adult', { body })).verification
  const pathOf = (id: string) => `/tenants/${shop.id}/verifications/${id}?environment=test`
  const whole = (await mia.get<{ verification: object }>(pathOf(open.id))).body.verification
  expect(whole).toMatchObject({ ...body, wallet_uri: open.wallet_uri, request_uri: open.request_uri })
  const seen = (await vera.get<{ verification: object }>(pathOf(open.id))).body.verification
  expect(Object.keys(seen)).toEqual(Object.keys(whole).filter(name => !/^(wallet_uri|request_uri|redirect_url)$/.test(name)))
  const reads = routes.filter(({ method, path }) => method === 'GET' && path.includes(':tenant'))
  for (const verification of [open.id, ended.id])
    for (const route of reads) {
      const { text } = await askRoute(vera, route, { ...things, verification, tenant: shop.id, environment: 'test' })
      for (const link of ['wallet_uri', 'request_uri', 'redirect_url', 'openid4vp:', '/wallet/request/', 'order=4711'])
        expect([nameOf(route), link, text.includes(link)]).toEqual([nameOf(route), link, false])
    }
})

test('a role counts from the next request on', async () => {
  const { data } = (await boss.get<{ data: { id: string; name: string; role: string }[] }>('/users')).body
  const { id, role } = data.find(({ name }) => name === 'vera')!
  expect(role).toBe('viewer')
  const check = () => vera.post(`/tenants/${shop.id}/template-check`, { query: QUERY })
  expect((await boss.put(`/users/${id}/role`, { role: 'member' })).body as unknown).toMatchObject({ role: 'member' })
  expect((await check()).status).toBe(200)
  await boss.put(`/users/${id}/role`, { role: 'viewer' })
  expect(outcome(await check())).toBe('403 viewer_refused')
  const owner = data.find(({ name }) => name === 'olivia')!
  expect(outcome(await boss.put(`/users/${owner.id}/role`, { role: 'viewer' }))).toBe('400 invalid_request')
})

test('an owner invites a second owner, who has no tenant, and makes an owner of a member', async () => {
  const refused = await Promise.all([
    boss.post('/users', { name: 'otto', role: 'owner', tenant: shop.id }),
    boss.post('/users', { name: 'otto', role: 'member' }),
    boss.post('/users', { name: 'otto' }),
  ])
  expect(refused.map(outcome)).toEqual(['400 invalid_request', '400 invalid_request', '400 invalid_request'])
  const invited = await boss.post<{ user: { id: string } }>('/users', { name: 'otto', role: 'owner' })
  expect(invited.body.user).toMatchObject({ name: 'otto', role: 'owner', tenant: null, status: 'invited' })
  expect(outcome(await vera.post('/users', { name: 'eve', role: 'owner' }))).toBe('403 owner_required')
  const mona = await boss.post<{ user: { id: string } }>('/users', { name: 'mona', tenant: shop.id })
  const made = await boss.put(`/users/${mona.body.user.id}/role`, { role: 'owner' })
  expect(made.body as unknown).toMatchObject({ name: 'mona', role: 'owner', tenant: null })
  for (const { body } of [invited, mona]) expect((await boss.delete(`/users/${body.user.id}`)).status).toBe(200)
})

test('items of another tenant or environment are 404 under one’s own tenant', async () => {
  const items = routes.filter(({ path }) => /:tenant\/.*:(id|key)/.test(path) && !path.includes('/templates/'))
  expect(items.length).toBe(13)
  for (const route of items) {
    expect([nameOf(route), (await ask(bob, route, bakery.id)).status]).toEqual([nameOf(route), 404])
    if (!/\/(keys|clients)\//.test(route.path))
      expect([nameOf(route), (await ask(mia, route, shop.id, 'live')).status]).toEqual([nameOf(route), 404])
  }
  expect(outcome(await bob.delete(`/tenants/${bakery.id}/templates/membership`))).toBe('404 template_not_found')
  const lists = await Promise.all(
    ['verifications', 'deliveries', 'devices']
      .map(path => `${path}?environment=test`)
      .concat('keys', 'clients', 'audit')
      .map(path => bob.get(`/tenants/${bakery.id}/${path}`)),
  )
  for (const { text } of lists) for (const thing of [...Object.values(things), shop.id]) expect(text).not.toContain(thing)
})

test('only an owner sets a tenant’s name, plan, quota and app schemes; members set its retention', async () => {
  const path = `/tenants/${shop.id}`
  expect(outcome(await mia.put(path, { quota_override: 1_000_000 }))).toBe('403 owner_required')
  expect(outcome(await mia.put(path, { name: 'Still', plan: 'large' }))).toBe('403 owner_required')
  expect(outcome(await mia.put(path, { name: 'Corner shop' }))).toBe('403 owner_required')
  expect(outcome(await mia.put(path, {}))).toBe('400 invalid_request')
  for (const name of ['Shop\u202e', 'Sh\u0007op', ' \u200b '])
    expect(outcome(await boss.put(path, { name }))).toBe('400 invalid_request')
  expect((await mia.put(path, { retention_days: 7 })).body as unknown).toMatchObject({ name: 'Shop', retention_days: 7 })
  expect((await boss.put(path, { name: ' Corner shop ' })).body as unknown).toMatchObject({
    name: 'Corner shop',
    plan: 'standard',
    daily_quota: 10_000,
    quota_override: null,
    retention_days: 7,
  })
  expect((await boss.put(path, { quota_override: 5, plan: 'trial' })).body as unknown).toMatchObject({ daily_quota: 5 })
  expect((await boss.put(path, { quota_override: null, retention_days: null })).body as unknown).toMatchObject({
    daily_quota: 100,
    retention_days: null,
  })
  await boss.put(path, { plan: 'standard' })
  expect(outcome(await mia.put(path, { app_schemes: ['shop-app'] }))).toBe('403 owner_required')
  expect(outcome(await mia.put(path, { app_schemes: [], retention_days: 9 }))).toBe('403 owner_required')
  const listed = await boss.put(path, { app_schemes: ['shop-app', 'Wine'] })
  expect(listed.body as unknown).toMatchObject({ app_schemes: ['shop-app', 'wine'], retention_days: null })
  for (const scheme of ['javascript', 'smb', 'vscode', 'intent.shop', 'x', 'shop app'])
    expect(outcome(await boss.put(path, { app_schemes: [scheme] }))).toBe('400 invalid_request')
  expect((await boss.put(path, { app_schemes: [] })).body as unknown).toMatchObject({ app_schemes: [] })
})

test('requests are counted per user: everything, and changes more strictly', async () => {
  const { app: limited, ...tenant } = await startWithTenant({ rateLimitScale: 1 })
  const [one, two] = [await setUpOwner(limited), await joinMember(limited, tenant.id, 'mia')]
  const answers = []
  for (let i = 0; i < 101; i++) answers.push((await one.get('/tenants')).status)
  expect(answers).toEqual([...Array(100).fill(200), 429])
  expect((await two.get('/tenants')).status).toBe(200)
  limited.clock.advance(60_000)
  const changes = []
  for (let i = 0; i < 61; i++) changes.push((await one.post(`/tenants/${tenant.id}/template-check`, { query: QUERY })).status)
  expect(changes).toEqual([...Array(60).fill(200), 429])
})

test('no answer to a GET, no file and no log holds a secret: not keys, codes, cookies, tokens, passwords or their hashes', async () => {
  const receiver = receive()
  const own = await startAppFor([receiver])
  const { webhookSecret, tenant } = await createTenant(own.deps, { name: 'Shop' }, 'test')
  const owner = await setUpOwner(own)
  const at = `/tenants/${tenant.id}`
  const made = await owner.post<{ key: string; api_key: { id: string } }>(`${at}/keys`, BODIES['POST /tenants/:tenant/keys'])
  const rolled = await owner.post<{ key: string }>(`${at}/keys/${made.body.api_key.id}/roll`, { old_expires: '1h' })
  const till = await owner.post<{ pairing_code: string; device: { id: string } }>(
    `${at}/devices?environment=test`,
    BODIES['POST /tenants/:tenant/devices'],
  )
  const invited = await owner.post<{ url: string }>('/users', { name: 'mia', tenant: tenant.id })
  const sent = await sendResult(own, await own.key(tenant.id), receiver)
  const rotated = await owner.post<{ webhook_secret: string }>(`${at}/webhook-secret/rotate?environment=test`)
  const rows = rowsOf<{ password: string; hash: string }>(
    own,
    'SELECT password, s.hash FROM dashboard_users JOIN dashboard_sessions s ON s.user_id = dashboard_users.id',
  )
  const secrets = {
    key: made.body.key,
    rolled: rolled.body.key,
    code: till.body.pairing_code,
    link: invited.body.url.split('=').at(-1) ?? '',
    cookie: owner.state.cookie?.split('=')[1] ?? '',
    webhookSecret,
    rotatedSecret: rotated.body.webhook_secret,
    password: PASSWORD,
  }
  for (const secret of Object.values(secrets)) expect(secret.length).toBeGreaterThan(8)
  const texts: string[] = []
  for (const { path, method } of routes.filter(each => each.method === 'GET')) {
    const id = path.includes('verifications') ? sent.verification : sent.delivery
    const filled = path.replace(':tenant', tenant.id).replace(':id', id).replace(':key', 'age_over_18')
    for (const environment of ['test', 'live']) {
      const answer = await owner.send(method, `${filled}${ENVIRONMENTAL.test(path) ? `?environment=${environment}` : ''}`)
      texts.push(answer.text)
      const mayMiss = environment === 'live' || path === '/trust/sources/:id'
      if (answer.status !== 200) expect([path, answer.status, mayMiss]).toEqual([path, 404, true])
    }
  }
  const exported = await owner.post('/audit/export')
  expect(exported.status).toBe(200)
  texts.push(exported.text)
  await own.stop()
  for (const [name, secret] of [
    ...Object.entries(secrets),
    ...rows.flatMap(
      ({ password, hash }) =>
        [
          ['password hash', password],
          ['session hash', hash],
        ] as const,
    ),
  ]) {
    for (const text of texts) expect([name, text.includes(secret)]).toEqual([name, false])
    expect([name, own.logs.some(line => line.includes(secret))]).toEqual([name, false])
    if (!name.endsWith('hash')) expect([name, filesContaining(own.dir, secret)]).toEqual([name, []])
  }
  // The CSRF token is in the session's own response only.
  const csrf = owner.state.csrf ?? ''
  expect(texts.filter(text => text.includes(csrf))).toHaveLength(2)
  expect(filesContaining(own.dir, csrf)).toEqual([])
})
