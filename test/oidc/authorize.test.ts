// Authorization requests: what each parameter may be, and where a refusal leads.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import {
  answerIn,
  authorizePath,
  begin,
  CALLBACK,
  challengeOf,
  issuerPath,
  makeClient,
  newVerifier,
  type Party,
  pageOf,
} from '../helpers/oidc.ts'

afterAll(cleanUp)

const CHALLENGE = challengeOf(newVerifier())
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }

let app: TestApp
let tenant: string
let party: Party

beforeAll(async () => {
  app = await startApp()
  tenant = (await app.tenant()).id
  party = await makeClient({ app, tenant }, { templates: ['age_over_18', 'age_over_21'] })
})

type Way = 'GET' | 'POST'

/** The same request as an address or as a form. */
function ask(way: Way, path: string) {
  const [address = '', query = ''] = path.split('?')
  if (way === 'GET') return app.call('GET', path)
  return app.call('POST', address, { raw: query, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
}

const countSessions = () => Number(rowsOf<{ n: number }>(app, 'SELECT count(*) AS n FROM verification_sessions')[0]!.n)

/** 4,096 characters of address leave room for a state of 1,024. */
const TABLE: [string, Record<string, string | undefined>, string][] = [
  ['form_post', { response_mode: 'form_post' }, 'invalid_request'],
  ['fragment', { response_mode: 'fragment' }, 'invalid_request'],
  ['no response_type', { response_type: undefined }, 'invalid_request'],
  ['an empty response_type', { response_type: '' }, 'invalid_request'],
  ['the implicit flow', { response_type: 'id_token' }, 'unsupported_response_type'],
  ['a hybrid flow', { response_type: 'code id_token' }, 'unsupported_response_type'],
  ['a request object', { request: 'eyJhbGciOiJub25lIn0..' }, 'request_not_supported'],
  ['a request_uri', { request_uri: 'https://shop.example/request' }, 'request_uri_not_supported'],
  ['a registration', { registration: '{}' }, 'registration_not_supported'],
  ['no scope', { scope: undefined }, 'invalid_scope'],
  ['no openid', { scope: 'profile email' }, 'invalid_scope'],
  ['two templates', { scope: 'openid vidimus:age_over_18 vidimus:age_over_21' }, 'invalid_scope'],
  ['the template of others', { scope: 'openid vidimus:age_over_65' }, 'invalid_scope'],
  ['no code_challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
  ['a method without a challenge', { code_challenge: undefined }, 'invalid_request'],
  ['a challenge without a method', { code_challenge_method: undefined }, 'invalid_request'],
  ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['a short challenge', { code_challenge: CHALLENGE.slice(1) }, 'invalid_request'],
  ['a challenge in base64', { code_challenge: `${CHALLENGE.slice(1)}+` }, 'invalid_request'],
  ['prompt none', { prompt: 'none' }, 'login_required'],
  ['prompt none with others', { prompt: 'none login' }, 'invalid_request'],
  ['a negative max_age', { max_age: '-1' }, 'invalid_request'],
  ['a broken max_age', { max_age: '1.5' }, 'invalid_request'],
  ['a long state', { state: 's'.repeat(1025) }, 'invalid_request'],
  ['a long nonce', { nonce: 'n'.repeat(513) }, 'invalid_request'],
  ['U+0000', { nonce: 'a\0b' }, 'invalid_request'],
]

describe.each<Way>(['GET', 'POST'])('an authorization request by %s', way => {
  test.each(TABLE)('with %s goes back to the client with the error', async (_, asked, error) => {
    const before = countSessions()
    const answer = await ask(way, authorizePath(party, { ...PKCE, ...asked }))
    // A form is refused at the door for U+0000.
    if (way === 'POST' && asked.nonce?.includes('\0')) return void expect(answer.status).toBe(400)
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toStartWith(`${CALLBACK}?`)
    const { error_description, ...rest } = answerIn(answer.headers.get('location'))
    expect(error_description).toMatch(/^[\x20-\x7e]+$/)
    const state: Record<string, string> = asked.state ? {} : { state: 'state-1' }
    expect(rest).toEqual({ error, ...state, iss: `https://verify.example${issuerPath(party)}` })
    expect(countSessions()).toBe(before)
  })

  test.each([
    ...['response_type', 'scope', 'state', 'nonce', 'code_challenge', 'prompt'],
    // Known ones that change nothing.
    ...['login_hint', 'id_token_hint', 'display', 'acr_values', 'claims', 'claims_locales'],
  ])('with %s twice is refused', async name => {
    const answer = await ask(way, `${authorizePath(party, PKCE)}&${name}=x&${name}=x`)
    expect(answerIn(answer.headers.get('location')).error).toBe('invalid_request')
  })

  test.each([
    ['no client_id', { client_id: undefined }, 'unknown_client'],
    ['an unknown client', { client_id: 'oc_test_0000000000000000000000' }, 'unknown_client'],
    ['a client in capitals', { client_id: 'OC_TEST' }, 'unknown_client'],
    ['a client of a thousand characters', { client_id: 'oc_test_'.repeat(125) }, 'unknown_client'],
    ['no redirect_uri', { redirect_uri: undefined }, 'redirect_uri_mismatch'],
    ['another redirect_uri', { redirect_uri: 'https://evil.example/<script>' }, 'redirect_uri_mismatch'],
  ])('with %s gets a page that leads nowhere and repeats nothing', async (_, asked, reason) => {
    const answer = await ask(way, authorizePath(party, { ...PKCE, state: 'a-state-of-mine', ...asked }))
    expect(answer.status).toBe(400)
    expect(answer.headers.get('location')).toBeNull()
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect(answer.text).toContain(`data-reason="${reason}"`)
    for (const sent of ['evil', 'script>alert', 'a-state-of-mine', party.client.id]) expect(answer.text).not.toContain(sent)
    expect(answer.text).not.toMatch(/<a\s/)
  })

  test('with client_id or redirect_uri twice never goes back', async () => {
    for (const [name, reason] of [
      ['client_id', 'unknown_client'],
      ['redirect_uri', 'redirect_uri_mismatch'],
    ]) {
      const answer = await ask(way, `${authorizePath(party, PKCE)}&${name}=${encodeURIComponent(CALLBACK)}`)
      expect([answer.status, answer.text.includes(`data-reason="${reason}"`)]).toEqual([400, true])
    }
  })

  test('begins a log-in, whatever it says besides', async () => {
    const extra = {
      login_hint: 'x',
      id_token_hint: 'x',
      display: 'popup',
      acr_values: 'x',
      claims: '{"x":',
      claims_locales: 'de',
      foo: 'bar',
      prompt: 'login consent',
      max_age: '0',
      response_mode: 'query',
      state: 's'.repeat(1024),
      nonce: 'n'.repeat(512),
    }
    const answer = await ask(way, authorizePath(party, { ...PKCE, ...extra }))
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toMatch(/^https:\/\/verify\.example\/v\/vs_\w{22}$/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    const [login, ...page] = answer.headers.getSetCookie()
    const own = `Path=${issuerPath(party)}/return/ol_\\w{22}; Max-Age=1200; HttpOnly; SameSite=Lax; Secure`
    expect(login).toMatch(new RegExp(`^__Secure-login=[\\w-]{43}; ${own}$`))
    for (const each of page)
      expect(each).toMatch(/^__Secure-page=[\w-]{43}; Path=\/(v|wallet\/dc\/re(quest|sponse))\/vs_\w+; Max-Age=1200; /)
  })
})

describe('a redirect address', () => {
  const OTHERS = [
    'https://shop.example/callback/',
    'https://shop.example/Callback',
    'https://SHOP.example/callback',
    'https://shop.example//callback',
    'https://shop.example/./callback',
    'https://shop.example/%63allback',
    'https://shop.example/callback?',
    'https://shop.example/callback?x=1',
    'https://shop.example/callback#',
    'https://shop.example/callback#x',
    'https://shop.example:443/callback',
    'https://user@shop.example/callback',
    'https://shop.example@evil.example/callback',
    'https://shop.example\\@evil.example/callback',
    'https://shop.example.evil.example/callback',
    'https://shop.example/callback/../evil',
    'http://shop.example/callback',
    '//shop.example/callback',
    ' https://shop.example/callback',
    'https://shop.example/callback ',
    'https://xn--shp-sna.example/callback',
    'javascript:alert(1)',
  ]
  test.each(OTHERS)('%j is not the registered one', async redirect_uri => {
    const answer = await app.call('GET', authorizePath(party, { ...PKCE, redirect_uri }))
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
  })

  test('of a loopback host that was registered without a port may have any port, and nothing else', async () => {
    const own = await makeClient({ app, tenant }, { redirect_uris: ['http://127.0.0.1/cb', 'http://localhost:8080/cb'] })
    const statusOf = async (redirect_uri: string) => (await app.call('GET', authorizePath(own, { ...PKCE, redirect_uri }))).status
    for (const uri of ['http://127.0.0.1/cb', 'http://127.0.0.1:49152/cb', 'http://localhost:8080/cb'])
      expect([uri, await statusOf(uri)]).toEqual([uri, 303])
    for (const uri of [
      'http://127.0.0.1:49152/cb/',
      'http://127.0.0.1:99999/cb',
      'http://127.0.0.1:/cb',
      'http://127.0.0.2:80/cb',
      'http://localhost:8081/cb',
      'http://localhost/cb',
      'http://[::1]:80/cb',
      'http://127.0.0.1:80@evil.example/cb',
      'https://127.0.0.1:49152/cb',
    ])
      expect([uri, await statusOf(uri)]).toEqual([uri, 400])
  })

  test('keeps its own query', async () => {
    const uri = 'https://shop.example/callback?shop=1'
    const own = await makeClient({ app, tenant }, { redirect_uris: [uri] })
    const answer = await app.call('GET', authorizePath(own, { ...PKCE, redirect_uri: uri, prompt: 'none' }))
    expect(answer.headers.get('location')).toStartWith(`${uri}&error=login_required&`)
  })

  test('that was refused is shown to whoever runs the client, at most once a minute', async () => {
    const own = await makeClient({ app, tenant })
    const refused = (redirect_uri: string) => app.call('GET', authorizePath(own, { ...PKCE, redirect_uri }))
    const kept = () =>
      JSON.parse(
        rowsOf<{ last_refusal: string }>(app, 'SELECT last_refusal FROM oidc_clients WHERE id = ?', own.client.id)[0]!
          .last_refusal,
      )
    await refused('https://other.example/one')
    await refused('https://other.example/two')
    expect(kept()).toEqual({ at: app.clock.now(), reason: 'redirect_uri_mismatch', redirect_uri: 'https://other.example/one' })
    app.clock.advance(60_000)
    await refused('https://other.example/two')
    expect(kept()).toMatchObject({ redirect_uri: 'https://other.example/two' })
  })
})

describe('an issuer', () => {
  test('does not know the clients of other tenants and environments, nor removed ones', async () => {
    const other = (await app.tenant()).id
    const foreign = await makeClient({ app, tenant: other })
    const live = await makeClient({ app, tenant, environment: 'live' })
    for (const id of [foreign.client.id, live.client.id]) {
      const answer = await app.call('GET', authorizePath(party, { ...PKCE, client_id: id }))
      expect([answer.status, answer.text.includes('data-reason="unknown_client"')]).toEqual([400, true])
    }
  })

  test('without a client is nowhere, by any of its routes', async () => {
    const none = (await app.tenant()).id
    const at = { ...party, tenant: none }
    expect((await app.call('GET', authorizePath(at, PKCE))).status).toBe(404)
    for (const name of ['token', 'userinfo'])
      expect(
        (
          await app.call('POST', `/oidc/${none}/test/${name}`, {
            raw: '',
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          })
        ).status,
      ).toBe(404)
  })
})

test('U+0000 in an address is refused as if it was another character', async () => {
  const unknown = await app.call('GET', authorizePath(party, { ...PKCE, client_id: `${party.client.id}\0` }))
  expect([unknown.status, unknown.text.includes('data-reason="unknown_client"')]).toEqual([400, true])
  const elsewhere = await app.call('GET', authorizePath(party, { ...PKCE, redirect_uri: `${CALLBACK}\0` }))
  expect([elsewhere.status, elsewhere.text.includes('data-reason="redirect_uri_mismatch"')]).toEqual([400, true])
  const own = { 'sec-fetch-site': 'same-origin' }
  for (const path of ['return/ol_%00', 'return/ol_x%00x'])
    expect((await app.call('POST', `${issuerPath(party)}/${path}`, { body: {}, headers: own })).status).toBeOneOf([400, 404])
  expect((await app.call('GET', authorizePath(party).replace('/test/', '%00/test/'))).status).toBe(404)
  const state = await app.call('GET', authorizePath(party, { ...PKCE, state: '\0' }))
  expect(answerIn(state.headers.get('location')).error).toBe('invalid_request')
})

test('an optional client begins without PKCE', async () => {
  const own = await makeClient({ app, tenant }, { pkce: 'optional' })
  const answer = await app.call('GET', authorizePath(own))
  expect(answer.headers.get('location')).toContain('/v/vs_')
})

test('HEAD and OPTIONS begin nothing', async () => {
  const before = countSessions()
  for (const method of ['HEAD', 'OPTIONS']) {
    const answer = await app.call(method, authorizePath(party, PKCE))
    expect(answer.headers.get('location')).toBeNull()
    expect(answer.headers.getSetCookie()).toEqual([])
  }
  expect(countSessions()).toBe(before)
})

test('an address of more than 4,096 characters and a form of more than 8 KiB are refused', async () => {
  expect((await app.call('GET', authorizePath(party, { ...PKCE, login_hint: 'x'.repeat(4096) }))).status).toBe(414)
  expect((await ask('POST', authorizePath(party, { ...PKCE, login_hint: 'x'.repeat(8192) }))).status).toBe(413)
})

describe('budgets', () => {
  test('an address that begins too many log-ins gets a page with 429', async () => {
    const limited = await startApp({ rateLimitScale: 1 })
    const own = await makeClient({ app: limited, tenant: (await limited.tenant()).id })
    const statuses = []
    for (let i = 0; i < 32; i++) statuses.push((await limited.call('GET', authorizePath(own, PKCE))).status)
    expect(statuses.filter(status => status === 303)).toHaveLength(30)
    const answer = await limited.call('GET', authorizePath(own, PKCE))
    expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.text).toContain('data-reason="rate_limit_exceeded"')
  })

  test('a client begins as many log-ins an hour as it may, and a day as its tenant may', async () => {
    const limited = await startApp({ rateLimitScale: 1 })
    const few = (await limited.tenant({ name: 'Few', dailyQuota: 4 })).id
    const own = await makeClient({ app: limited, tenant: few }, { logins_per_hour: 3 })
    const errorOf = async (of: Party) =>
      answerIn((await limited.call('GET', authorizePath(of, PKCE))).headers.get('location')).error
    const all = []
    for (let i = 0; i < 4; i++) all.push(await errorOf(own))
    expect(all).toEqual([undefined, undefined, undefined, 'temporarily_unavailable'])
    const other = await makeClient({ app: limited, tenant: few })
    expect([await errorOf(other), await errorOf(other)]).toEqual([undefined, 'temporarily_unavailable'])
    limited.clock.advance(3_600_000)
    expect(await errorOf(own)).toBe('temporarily_unavailable')
  })
})

test('a page under a path, on plain http, has cookies of that path without the prefix', async () => {
  const under = await startApp({ config: { publicUrl: 'http://localhost:3000/check' } })
  const own = await makeClient({ app: under, tenant: (await under.tenant()).id })
  const answer = await under.call('GET', authorizePath(own, PKCE))
  expect(answer.headers.get('location')).toStartWith('http://localhost:3000/check/v/vs_')
  expect(answer.headers.getSetCookie()[0]).toMatch(
    /^vidimus-login=[\w-]{43}; Path=\/check\/oidc\/[^;]+; Max-Age=1200; HttpOnly; SameSite=Lax$/,
  )
})

test('the page of a log-in names the client', async () => {
  expect(await pageOf(await begin(party))).toMatchObject({ login: { client: 'Wine shop' } })
})
