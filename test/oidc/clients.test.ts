// Clients of the OpenID provider by the command line, and what their issuer publishes.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { linkEntries } from '../../src/audit/link.ts'
import { rotateKeys, turnKeys } from '../../src/oidc/keys.ts'
import type { Client, SigningKey } from '../../src/oidc/schema.ts'
import { sealIssuersAgain } from '../../src/oidc/seal-again.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { sealAgain } from '../../src/upkeep/seal-again.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { rowsOf } from '../helpers/database.ts'

afterAll(cleanUp)

const DAY_MS = 86_400_000

const WITH_NUMBER = {
  credentials: [
    {
      id: 'pid',
      format: 'dc+sd-jwt',
      meta: { vct_values: ['urn:eudi:pid:1'] },
      claims: [{ path: ['personal_administrative_number'] }],
    },
  ],
} as const

type Made = Client & { client_secret: string }

let app: TestApp
let tenant: string

beforeAll(async () => {
  // Commands have the machine's clock.
  app = await startApp({ now: Date.now() })
  tenant = (await app.tenant()).id
})

const OF = [
  '--env',
  'test',
  '--name',
  'Wine shop',
  '--redirect-uri',
  'https://shop.example/callback',
  '--template',
  'age_over_18',
]
const create = (...more: string[]) => vidimusJson<Made>(app.dir, 'client', 'create', '--tenant', tenant, ...OF, ...more)
const refusalOf = async (...args: string[]) => (await vidimus(app.dir, ['client', ...args])).stderr

const path = (environment: string, own = tenant) => `/oidc/${own}/${environment}`
const discovery = (environment: string, own = tenant) =>
  app.call<Record<string, unknown>>('GET', `${path(environment, own)}/.well-known/openid-configuration`)
const jwks = (environment: string, own = tenant) => app.call<{ keys: JWK[] }>('GET', `${path(environment, own)}/jwks`)

describe('an issuer', () => {
  test('does not exist before its first client, in another environment, or under another name', async () => {
    const fresh = (await app.tenant()).id
    for (const answer of [
      await discovery('test', fresh),
      await jwks('test', fresh),
      await discovery('staging'),
      await jwks('test', 'ten_x'),
    ])
      expect([answer.status, answer.body]).toMatchObject([404, { error: { code: 'not_found' } }])
    await create()
    expect((await discovery('test')).status).toBe(200)
    expect((await discovery('live')).status).toBe(404)
  })

  test('publishes exactly what it does', async () => {
    await create()
    const { headers, body } = await discovery('test')
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const issuer = `https://verify.example/oidc/${tenant}/test`
    const { claims_supported, ...rest } = body
    expect(rest).toEqual({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      scopes_supported: ['openid', ...[...BUILTIN_TEMPLATES.keys()].map(key => `vidimus:${key}`)],
      acr_values_supported: ['urn:vidimus:acr:test'],
      claim_types_supported: ['normal'],
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      ui_locales_supported: ['en', 'de', 'es', 'fr', 'it', 'nl', 'pl'],
      service_documentation: 'https://verify.example/docs/openid-connect',
    })
    expect(claims_supported).toEqual([...new Set(claims_supported as string[])])
    expect(claims_supported).toContain('sub')
    expect(claims_supported).toContain('age_over_18')
    expect(claims_supported).not.toContain('picture')
  })

  test('is closed by VIDIMUS_OIDC=off', async () => {
    const closed = await startApp({ config: { hasOidc: false } })
    const own = (await closed.tenant()).id
    await vidimusJson(closed.dir, 'client', 'create', '--tenant', own, ...OF)
    for (const name of ['jwks', '.well-known/openid-configuration'])
      expect((await closed.call('GET', `/oidc/${own}/test/${name}`)).status).toBe(404)
  })
})

describe('keys', () => {
  test('are one of each algorithm, named by their thumbprints, without private members', async () => {
    const own = (await app.tenant()).id
    await vidimusJson(app.dir, 'client', 'create', '--tenant', own, ...OF)
    const { headers, body } = await jwks('test', own)
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body.keys.map(({ alg }) => alg).sort()).toEqual(['ES256', 'RS256'])
    for (const key of body.keys) {
      expect(key.kid).toBe(await calculateJwkThumbprint(key))
      expect(Object.keys(key).sort()).toEqual(
        (key.kty === 'RSA' ? ['alg', 'e', 'kid', 'kty', 'n', 'use'] : ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']).sort(),
      )
      expect(key.use).toBe('sig')
      if (key.n) expect(Buffer.from(key.n, 'base64url').length).toBe(256)
    }
  })

  test('of tenants and environments are different ones', async () => {
    const own = (await app.tenant()).id
    await vidimusJson(app.dir, 'client', 'create', '--tenant', own, ...OF)
    await vidimusJson(app.dir, 'client', 'create', '--tenant', own, ...OF.map(word => (word === 'test' ? 'live' : word)))
    const all = await Promise.all([jwks('test'), jwks('test', own), jwks('live', own)])
    const kids = all.flatMap(({ body }) => body.keys.map(({ kid }) => kid))
    expect(new Set(kids).size).toBe(6)
  })

  test('are followed by the next after 90 days, which is published a day before, and removed a day after', async () => {
    const turning = await startApp({ now: Date.now() })
    const own = (await turning.tenant()).id
    await vidimusJson(turning.dir, 'client', 'create', '--tenant', own, ...OF)
    turning.clock.set(Date.now() + 1000)
    const read = async () => {
      await turnKeys(turning.deps)
      const { body } = await turning.call<{ keys: JWK[] }>('GET', `/oidc/${own}/test/jwks`)
      const { kid } = await turning.deps.tokenSigners({ tenantId: own, environment: 'test' }, 'ES256')
      return { published: body.keys.filter(({ alg }) => alg === 'ES256').map(key => key.kid), used: kid }
    }
    const first = await read()
    expect(first.published).toEqual([first.used])
    turning.clock.advance(89 * DAY_MS - 60_000)
    expect(await read()).toEqual(first)
    turning.clock.advance(120_000)
    const announced = await read()
    expect(announced).toEqual({ published: [first.used, expect.any(String)], used: first.used })
    turning.clock.advance(DAY_MS)
    const next = await read()
    expect(next.published).toEqual(announced.published)
    expect(next.used).toBe(announced.published[1]!)
    turning.clock.advance(DAY_MS)
    expect(await read()).toEqual({ published: [next.used], used: next.used })
    await linkEntries(turning.deps)
    const [turned] = rowsOf<{ n: number }>(turning, "SELECT count(*) AS n FROM audit_records WHERE action = 'oidc.keys_turned'")
    expect(Number(turned!.n)).toBe(1)
  })

  test('turned by a command stay published for a day, and a leaked one does not', async () => {
    const own = (await app.tenant()).id
    await vidimusJson(app.dir, 'client', 'create', '--tenant', own, ...OF)
    const issuer = { tenantId: own, environment: 'test' } as const
    const [before] = (await jwks('test', own)).body.keys
    const of = ['--tenant', own, '--env', 'test']
    const { data } = await vidimusJson<{ data: SigningKey[] }>(app.dir, 'client', 'keys', ...of, '--rotate')
    expect(data).toHaveLength(4)
    expect(data.find(({ kid }) => kid === before!.kid)!.remove_at).not.toBeNull()
    const left = await vidimusJson<{ data: SigningKey[] }>(app.dir, 'client', 'keys', ...of, '--rotate', '--drop-old')
    expect(left.data).toHaveLength(2)
    expect(left.data.map(({ kid }) => kid)).not.toContain(before!.kid!)
    expect((await jwks('test', own)).body.keys.map(({ kid }) => kid).sort()).toEqual(left.data.map(({ kid }) => kid).sort())
    app.clock.set(Date.now() + 1000)
    const { kid } = await app.deps.tokenSigners(issuer, 'RS256')
    expect(left.data.map(key => key.kid)).toContain(kid)
    expect(await refusalOf('keys', ...of, '--drop-old')).toContain('--drop-old is for --rotate')
    await expect(rotateKeys(app.deps, { tenantId: own, environment: 'live' }, { dropOld: false, actor: 'test' })).rejects.toThrow(
      'no log-in client',
    )
  })
})

test('keys and the secret of an issuer are sealed again by "rekey --data"', async () => {
  const first = await startApp({ now: Date.now() })
  const own = (await first.tenant()).id
  await vidimusJson(first.dir, 'client', 'create', '--tenant', own, ...OF)
  const sealed = () =>
    rowsOf<{ sealed: Uint8Array }>(first, 'SELECT sealed FROM oidc_keys UNION ALL SELECT sealed FROM oidc_issuers').map(
      row => row.sealed[0],
    )
  expect(sealed()).toEqual([0, 0, 0])
  await first.stop()
  await vidimusJson(first.dir, 'rekey', '--data')
  const app = await startApp({ dir: first.dir, now: Date.now() + 1000 })
  await sealAgain(app.deps, tx => sealIssuersAgain(app.deps, tx))
  expect(sealed()).toEqual([1, 1, 1])
  expect((await app.deps.tokenSigners({ tenantId: own, environment: 'test' }, 'RS256')).key.type).toBe('private')
})

describe('a client', () => {
  test('is made with careful defaults, and its secret is shown once', async () => {
    const { client_secret, secrets, created_at, id, ...client } = await create()
    expect(id).toMatch(/^oc_test_[0-9A-Za-z]{22}$/)
    expect(client_secret).toMatch(/^ocs_[0-9A-Za-z]{46}$/)
    expect(secrets).toEqual([{ prefix: client_secret.slice(0, 12), created_at: expect.any(String), expires_at: null }])
    expect(client).toEqual({
      environment: 'test',
      issuer: `http://localhost:3000/oidc/${tenant}/test`,
      name: 'Wine shop',
      redirect_uris: ['https://shop.example/callback'],
      templates: ['age_over_18'],
      auth: 'client_secret',
      id_token_alg: 'RS256',
      pkce: 'required',
      subject: 'session',
      id_token_claims: false,
      cross_device: 'allowed',
      logins_per_hour: 200,
      keep_results: false,
    })
    expect(created_at).toEndWith('Z')
    const shown = await vidimusJson<Client>(app.dir, 'client', 'show', id)
    expect(JSON.stringify(shown)).not.toContain(client_secret)
    const rows = rowsOf<Record<string, unknown>>(app, 'SELECT * FROM oidc_client_secrets')
    expect(JSON.stringify(rows)).not.toContain(client_secret)
  })

  test('with a subject claim refuses log-ins across devices unless it says otherwise', async () => {
    await saveTemplate(app.deps, { tenantId: tenant, key: 'account', title: 'Account', query: WITH_NUMBER }, 'test')
    const of = [...OF.slice(0, 6), '--template', 'account', '--subject', 'claim:personal_administrative_number']
    const make = (...more: string[]) => vidimusJson<Made>(app.dir, 'client', 'create', '--tenant', tenant, ...of, ...more)
    expect((await make()).cross_device).toBe('refused')
    expect((await make('--cross-device', 'allowed')).cross_device).toBe('allowed')
  })

  test('has two secrets while an old one is rolled, and one when it ends now', async () => {
    const { id, client_secret: first } = await create()
    const roll = (old: string) => vidimusJson<Made>(app.dir, 'client', 'secret', id, '--old-expires', old)
    const second = await roll('24h')
    expect(second.secrets.map(({ prefix }) => prefix)).toEqual([second.client_secret.slice(0, 12), first.slice(0, 12)])
    const third = await roll('1h')
    expect(third.secrets.map(({ prefix }) => prefix)).toEqual(
      [third.client_secret, second.client_secret].map(each => each.slice(0, 12)),
    )
    const fourth = await roll('now')
    expect(fourth.secrets.map(({ prefix }) => prefix)).toEqual([fourth.client_secret.slice(0, 12)])
  })

  test('is changed, listed and removed, and each leaves a record without a secret', async () => {
    const { id, client_secret } = await create()
    const set = ['client', 'set', id, '--name', 'Bottles', '--id-token-alg', 'ES256', '--auth', 'none', '--purpose', 'none']
    expect(await vidimusJson<Client>(app.dir, ...set)).toMatchObject({ name: 'Bottles', id_token_alg: 'ES256', secrets: [] })
    const { data } = await vidimusJson<{ data: Client[] }>(app.dir, 'client', 'list', '--tenant', tenant)
    expect(data.find(each => each.id === id)).toMatchObject({ name: 'Bottles', auth: 'none' })
    expect(await refusalOf('secret', id)).toContain('has no secret')
    await vidimusJson(app.dir, 'client', 'remove', id)
    expect(await refusalOf('show', id)).toContain('there is no client')
    expect(await refusalOf('remove', id)).toContain('No log-in client')
    await linkEntries(app.deps)
    const actions = rowsOf<{ action: string }>(
      app,
      "SELECT DISTINCT action FROM audit_records WHERE action LIKE 'client.%' ORDER BY 1",
    )
    expect(actions.map(({ action }) => action)).toEqual([
      'client.changed',
      'client.created',
      'client.removed',
      'client.secret_rolled',
    ])
    expect(app.logs.join()).not.toContain(client_secret)
  })

  test.each([
    [['--template', 'no_such_template'], 'templates: there is no template no_such_template'],
    [['--subject', 'claim:family_name'], 'subject: family_name is not unique'],
    [['--subject', 'claim:email'], 'subject: email is not unique'],
    [['--subject', 'claim:document_number'], 'subject: document_number is not asked for, in the template age_over_18'],
    [['--subject', 'person'], 'subject: '],
    [['--pkce', 'optional', '--auth', 'none'], 'pkce: "optional" is for clients with a secret only'],
    [['--logins-per-hour', '0'], '--logins-per-hour'],
    [['--name', 'evil\u202eshop'], '--name'],
  ])('%j is refused with the name of the member', async (more, message) => {
    const given = OF.flatMap((word, i) => (more.includes(word) || more.includes(OF[i - 1]!) ? [] : [word]))
    expect(await refusalOf('create', '--tenant', tenant, ...given, ...more)).toContain(message)
  })

  test('is one of fifty at most in its environment', async () => {
    const own = (await app.tenant()).id
    for (let i = 0; i < 50; i++) expect((await vidimus(app.dir, ['client', 'create', '--tenant', own, ...OF])).exitCode).toBe(0)
    expect(await refusalOf('create', '--tenant', own, ...OF)).toContain('50 log-in clients')
    const live = OF.map(word => (word === 'test' ? 'live' : word))
    expect((await vidimus(app.dir, ['client', 'create', '--tenant', own, ...live])).exitCode).toBe(0)
  }, 60_000)
})

describe('a redirect address', () => {
  const WEB = [
    'https://shop.example/cb',
    'https://shop.example',
    'https://shop.example:8443/cb?x=1',
    'http://192.168.1.20/cb',
    'http://nas.local/cb',
  ]
  const LOOPBACK = ['http://127.0.0.1/cb', 'http://localhost:8080/cb', 'http://[::1]/cb']
  const APPS = ['com.example.shop:/cb', 'com.example.shop://login']
  const NEVER = [
    'http://shop.example/cb',
    'https://shop.example/cb#x',
    'https://shop.example/cb#',
    'https://*.shop.example/cb',
    'https://user@shop.example/cb',
    'https://user:pass@shop.example/cb',
    'HTTPS://shop.example/cb',
    'https:shop.example/cb',
    'https:///cb',
    '//shop.example/cb',
    '/cb',
    'shop.example/cb',
    'https://shop.example/c b',
    'https://shop.example/\\evil',
    'https://shöp.example/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'openid4vp://authorize',
    'shop:/cb',
    `https://shop.example/${'x'.repeat(2049)}`,
  ]
  const table = [
    ...WEB.map(uri => [uri, true, true, true] as const),
    ...LOOPBACK.map(uri => [uri, true, false, true] as const),
    ...APPS.map(uri => [uri, false, false, true] as const),
    ...NEVER.map(uri => [uri, false, false, false] as const),
  ]
  test.each(table)('%s is registered as the table says', async (uri, withSecretInTest, withSecretInLive, withoutSecret) => {
    const made = async (env: string, auth: string) => {
      const call = ['--env', env, '--auth', auth, '--name', 'Shop', '--redirect-uri', uri, '--template', 'age_over_18']
      const { exitCode, stderr } = await vidimus(app.dir, ['client', 'create', '--tenant', own, ...call])
      if (exitCode !== 0) expect(stderr).toContain('redirect_uris: ')
      return exitCode === 0
    }
    const own = (await app.tenant()).id
    expect([await made('test', 'client_secret'), await made('live', 'client_secret'), await made('live', 'none')]).toEqual([
      withSecretInTest,
      withSecretInLive,
      withoutSecret,
    ])
  })
})
