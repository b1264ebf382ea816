// Codes and tokens: who may exchange a code, once, and what a token reads.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import { removeClient, rollSecret } from '../../src/oidc/clients.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import {
  answerIn,
  answerLogin,
  basic,
  begin,
  challengeOf,
  comeBack,
  exchange,
  issuerPath,
  logIn,
  makeClient,
  newVerifier,
  type Party,
  type TokenAnswer,
  userinfo,
} from '../helpers/oidc.ts'

afterAll(cleanUp)

let app: TestApp
let tenant: string
let key: string
let party: Party

beforeAll(async () => {
  app = await startApp()
  ;({ id: tenant, key } = await app.tenant())
  party = await makeClient({ app, tenant })
})

const outcomeOf = ({ status, body }: TokenAnswer): string => `${status} ${body.error ?? ''}`.trim()
const GRANT = '400 invalid_grant'

async function codeFor(of: Party, asked: Record<string, string | undefined> = {}) {
  const begun = await begin(of, asked)
  const response = await answerLogin(of, begun)
  const { body } = await comeBack(begun, response)
  return { code: answerIn(body.location).code!, verifier: begun.verifier, id: begun.id }
}

describe('PKCE', () => {
  test.each([
    ['no verifier', undefined],
    ['another verifier', newVerifier()],
    ['the challenge itself', 'challenge'],
    ['a short verifier', 'x'.repeat(42)],
    ['a long verifier', 'x'.repeat(129)],
  ])('with %s spends the code', async (_, sent) => {
    const { code, verifier } = await codeFor(party)
    const wrong = sent === 'challenge' ? challengeOf(verifier) : sent
    expect(outcomeOf(await exchange(party, { code, verifier: wrong }))).toBe(GRANT)
    expect(outcomeOf(await exchange(party, { code, verifier }))).toBe(GRANT)
  })

  test('a verifier of less than 43 characters is refused, even where it fits the challenge', async () => {
    const short = 'x'.repeat(42)
    const { code } = await codeFor(party, { code_challenge: challengeOf(short) })
    expect(outcomeOf(await exchange(party, { code, verifier: short }))).toBe(GRANT)
  })

  test('of an optional client is checked where it was begun with, and refused where it was not', async () => {
    const own = await makeClient({ app, tenant }, { pkce: 'optional' })
    const without = { code_challenge: undefined, code_challenge_method: undefined }
    const plain = await codeFor(own, without)
    expect(outcomeOf(await exchange(own, { code: plain.code }))).toBe('200')
    const downgraded = await codeFor(own, without)
    expect(outcomeOf(await exchange(own, { code: downgraded.code, verifier: downgraded.verifier }))).toBe(GRANT)
    const given = await codeFor(own)
    expect(outcomeOf(await exchange(own, { code: given.code }))).toBe(GRANT)
  })
})

describe('a code', () => {
  test('twenty times at once gives tokens once', async () => {
    const { code, verifier } = await codeFor(party)
    const all = await Promise.all(Array.from({ length: 20 }, () => exchange(party, { code, verifier })))
    expect(all.map(outcomeOf).sort()).toEqual(['200', ...Array(19).fill(GRANT)].sort())
  })

  test('that comes again ends the token, and leaves a record', async () => {
    const { code, verifier } = await codeFor(party)
    const { access_token } = (await exchange(party, { code, verifier })).body
    expect((await userinfo(party, access_token)).status).toBe(200)
    expect(outcomeOf(await exchange(party, { code, verifier }))).toBe(GRANT)
    expect((await userinfo(party, access_token)).status).toBe(401)
    await linkEntries(app.deps)
    const [{ n } = { n: 0 }] = rowsOf<{ n: number }>(
      app,
      "SELECT count(*) AS n FROM audit_records WHERE action = 'oidc.code_replayed'",
    )
    expect(Number(n)).toBeGreaterThan(0)
  })

  test('lives for a minute', async () => {
    const { code, verifier } = await codeFor(party)
    app.clock.advance(60_000)
    expect(outcomeOf(await exchange(party, { code, verifier }))).toBe(GRANT)
  })

  test('is for its client and its issuer, and those who only know it do not spend it', async () => {
    const { code, verifier } = await codeFor(party)
    const other = await makeClient({ app, tenant })
    expect(outcomeOf(await exchange(other, { code, verifier }))).toBe(GRANT)
    const live = await makeClient({ app, tenant, environment: 'live' })
    expect(outcomeOf(await exchange(live, { code, verifier }))).toBe(GRANT)
    expect(outcomeOf(await exchange({ ...party, environment: 'live' }, { code, verifier }))).toBe('401 invalid_client')
    const wrong = { authorization: basic(party.client.id, `ocs_${'x'.repeat(46)}`) }
    expect(outcomeOf(await exchange(party, { code, verifier, headers: wrong }))).toBe('401 invalid_client')
    expect(outcomeOf(await exchange(party, { code, verifier }))).toBe('200')
  })

  test.each(['https://shop.example/other', ''])('is for its redirect address, not for %j', async redirect_uri => {
    const { code, verifier } = await codeFor(party)
    expect(outcomeOf(await exchange(party, { code, verifier, form: { redirect_uri } }))).toBe(GRANT)
    expect(outcomeOf(await exchange(party, { code, verifier }))).toBe(GRANT)
  })

  test.each([undefined, 'x', 'A'.repeat(43), 'A'.repeat(4000)])('that was never made is refused: %j', async code => {
    expect(outcomeOf(await exchange(party, { code, verifier: newVerifier() }))).toBe(code ? GRANT : '400 invalid_request')
  })
})

describe('a token request', () => {
  test.each([
    [{ grant_type: '' }, '400 invalid_request'],
    [{ grant_type: 'client_credentials' }, '400 unsupported_grant_type'],
    [{ grant_type: 'refresh_token' }, '400 unsupported_grant_type'],
    [{ code: '' }, '400 invalid_request'],
  ])('with %j is refused', async (form, expected) => {
    const refused = await exchange(party, { code: 'A'.repeat(43), form: form as Record<string, string> })
    expect(outcomeOf(refused)).toBe(expected)
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect(refused.body.error_description).toBeString()
  })

  test('is a form of 16 KiB at most, in which each member is once', async () => {
    const path = `${issuerPath(party)}/token`
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: basic(party.client.id, party.client.client_secret!),
    }
    const send = async (raw: string, type = headers['content-type']) =>
      await app.call<{ error: unknown }>('POST', path, { raw, headers: { ...headers, 'content-type': type } })
    const twice = await send('grant_type=authorization_code&grant_type=authorization_code&code=x')
    expect([twice.status, twice.body.error]).toEqual([400, 'invalid_request'])
    const json = await send('{}', 'application/json')
    expect([json.status, json.body.error]).toEqual([400, 'invalid_request'])
    expect((await send(`grant_type=authorization_code&code=${'x'.repeat(17_000)}`)).status).toBe(413)
    expect((await app.call('GET', path)).status).toBe(405)
  })

  test('from a page of another origin is preflighted', async () => {
    for (const name of ['token', 'userinfo', 'jwks', '.well-known/openid-configuration']) {
      const { status, headers } = await app.call('OPTIONS', `${issuerPath(party)}/${name}`)
      expect([status, headers.get('access-control-allow-origin'), headers.get('access-control-allow-headers')]).toEqual([
        204,
        '*',
        'authorization, content-type',
      ])
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
  })
})

describe('client authentication', () => {
  const id = (of: Party) => of.client.id
  const secret = (of: Party) => of.client.client_secret ?? ''
  type Sent = { headers?: Record<string, string>; form?: Record<string, string> }
  const WAYS: [string, 'client_secret' | 'none', (of: Party) => Sent, string][] = [
    ['Basic', 'client_secret', of => ({ headers: { authorization: basic(id(of), secret(of)) } }), '200'],
    [
      'Basic in small letters',
      'client_secret',
      of => ({ headers: { authorization: basic(id(of), secret(of)).replace('Basic', 'basic') } }),
      '200',
    ],
    [
      'Basic and its client_id',
      'client_secret',
      of => ({ headers: { authorization: basic(id(of), secret(of)) }, form: { client_id: id(of) } }),
      '200',
    ],
    ['the form', 'client_secret', of => ({ headers: {}, form: { client_id: id(of), client_secret: secret(of) } }), '200'],
    [
      'a Basic with U+0000 in its id',
      'client_secret',
      of => ({ headers: { authorization: basic(`${id(of)}\0`, secret(of)) } }),
      '401 invalid_client',
    ],
    ['nothing but the id', 'client_secret', of => ({ headers: {}, form: { client_id: id(of) } }), '401 invalid_client'],
    ['nothing', 'client_secret', () => ({ headers: {} }), '401 invalid_client'],
    [
      'a wrong secret',
      'client_secret',
      of => ({ headers: {}, form: { client_id: id(of), client_secret: `${secret(of)}x` } }),
      '401 invalid_client',
    ],
    [
      'two ways',
      'client_secret',
      of => ({ headers: { authorization: basic(id(of), secret(of)) }, form: { client_secret: secret(of) } }),
      '400 invalid_request',
    ],
    [
      'another client_id',
      'client_secret',
      of => ({ headers: { authorization: basic(id(of), secret(of)) }, form: { client_id: 'oc_test_x' } }),
      '401 invalid_client',
    ],
    [
      'a Bearer',
      'client_secret',
      of => ({ headers: { authorization: `Bearer ${secret(of)}` }, form: { client_id: id(of), client_secret: secret(of) } }),
      '401 invalid_client',
    ],
    ['broken Basic', 'client_secret', () => ({ headers: { authorization: 'Basic !!!' } }), '401 invalid_client'],
    [
      'an assertion',
      'client_secret',
      of => ({
        headers: {},
        form: {
          client_id: id(of),
          client_assertion: 'e30.e30.x',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        },
      }),
      '401 invalid_client',
    ],
    [
      'a secret and an assertion',
      'client_secret',
      of => ({ headers: { authorization: basic(id(of), secret(of)) }, form: { client_assertion: 'x' } }),
      '401 invalid_client',
    ],
    [
      'an unknown client',
      'client_secret',
      of => ({ headers: { authorization: basic('oc_test_unknown', secret(of)) } }),
      '401 invalid_client',
    ],
    ['its id', 'none', of => ({ headers: {}, form: { client_id: id(of) } }), '200'],
    [
      'its id and a secret',
      'none',
      of => ({ headers: {}, form: { client_id: id(of), client_secret: 'x' } }),
      '401 invalid_client',
    ],
    ['Basic without a secret', 'none', of => ({ headers: { authorization: basic(id(of), '') } }), '401 invalid_client'],
  ]
  test.each(WAYS)('by %s of a client with %s', async (_, auth, sent, expected) => {
    const own = await makeClient({ app, tenant }, { auth })
    const { code, verifier } = await codeFor(own)
    const { headers = {}, form } = sent(own)
    const answer = await exchange(own, { code, verifier, headers, ...(form && { form }) })
    expect(outcomeOf(answer)).toBe(expected)
    if (answer.status === 401)
      expect(answer.headers.get('www-authenticate')).toBe(headers.authorization ? 'Basic realm="OpenID client"' : null)
  })

  test('takes the old secret for its grace, and none of a removed client', async () => {
    const own = await makeClient({ app, tenant })
    const rolled = await rollSecret(app.deps, own.client.id, '1h', 'test')
    const withNew = { ...own, client: rolled }
    expect(outcomeOf(await exchange(own, await codeFor(own)))).toBe('200')
    expect(outcomeOf(await exchange(withNew, await codeFor(own)))).toBe('200')
    app.clock.advance(3_600_000)
    expect(outcomeOf(await exchange(own, await codeFor(own)))).toBe('401 invalid_client')
    const last = await codeFor(own)
    const { access_token } = (await exchange(withNew, await codeFor(own))).body
    const open = await begin(own)
    await removeClient(app.deps, own.client.id, 'test')
    expect(outcomeOf(await exchange(withNew, last))).toBe('401 invalid_client')
    expect((await userinfo(own, access_token)).status).toBe(401)
    expect((await comeBack(open)).status).toBe(400)
  })
})

describe('an access token', () => {
  test('reads the claims for ten minutes, by GET and by POST', async () => {
    const { tokens } = await logIn(party)
    const { access_token } = tokens.body
    const path = `${issuerPath(party)}/userinfo`
    const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
    const byHeader = await app.call('POST', path, { headers: { authorization: `Bearer ${access_token}` } })
    const byForm = await app.call('POST', path, { raw: `access_token=${access_token}`, headers: FORM })
    const byGet = await userinfo(party, access_token)
    expect([byHeader.status, byForm.status, byGet.status]).toEqual([200, 200, 200])
    expect(byHeader.body).toEqual(byGet.body)
    expect(byForm.body).toEqual(byGet.body)
    app.clock.advance(600_000)
    expect((await userinfo(party, access_token)).status).toBe(401)
  })

  test('is refused in the address, twice, in another issuer, and when it is none', async () => {
    const { tokens } = await logIn(party)
    const { access_token } = tokens.body
    await makeClient({ app, tenant, environment: 'live' })
    const path = `${issuerPath(party)}/userinfo`
    const headers = { authorization: `Bearer ${access_token}` }
    const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await app.call('GET', `${path}?access_token=${access_token}`)).status).toBe(401)
    expect((await app.call('POST', path, { raw: `access_token=${access_token}`, headers: { ...FORM, ...headers } })).status).toBe(
      400,
    )
    expect((await app.call('GET', path.replace('/test/', '/live/'), { headers })).status).toBe(401)
    for (const other of ['x', `${access_token.slice(0, -1)}x`, key, tokens.body.id_token, `${access_token} x`]) {
      const { status, headers: answered } = await app.call('GET', path, { headers: { authorization: `Bearer ${other}` } })
      expect([other, status, answered.get('www-authenticate')]).toEqual([other, 401, 'Bearer error="invalid_token"'])
    }
    const basic = await app.call('GET', path, { headers: { authorization: `Basic ${access_token}` } })
    expect([basic.status, basic.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    const doubled = `access_token=${access_token}&access_token=x`
    expect(await app.call('POST', path, { raw: doubled, headers: FORM })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
    const fields = Array.from({ length: 40 }, (_, i) => `f${i}=x`).join('&')
    expect(await app.call('POST', path, { raw: fields, headers: FORM })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
    expect((await userinfo(party, access_token)).status).toBe(200)
  })

  test('reads nothing once the verification was erased', async () => {
    const { begun, tokens } = await logIn(party)
    expect((await app.call('DELETE', `/v1/verifications/${begun.id}`, { key })).status).toBe(200)
    const { status, headers } = await userinfo(party, tokens.body.access_token)
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
    expect(rowsOf(app, 'SELECT id FROM oidc_logins WHERE verification_id = ?', begun.id)).toEqual([])
  })

  test('is not there for a code of an erased verification', async () => {
    const { code, verifier, id } = await codeFor(party)
    await app.call('DELETE', `/v1/verifications/${id}`, { key })
    expect(outcomeOf(await exchange(party, { code, verifier }))).toBe(GRANT)
  })
})

describe('budgets', () => {
  test('of a client are fifty token requests at once, and of a token ten reads of its claims', async () => {
    const limited = await startApp({ rateLimitScale: 1 })
    const own = await makeClient({ app: limited, tenant: (await limited.tenant()).id })
    const { tokens } = await logIn(own)
    const reads = []
    for (let i = 0; i < 11; i++) reads.push((await userinfo(own, tokens.body.access_token)).status)
    expect(reads).toEqual([...Array(10).fill(200), 429])
    // One was the log-in's.
    const exchanges = []
    for (let i = 0; i < 50; i++) exchanges.push((await exchange(own, { code: 'x', verifier: newVerifier() })).status)
    expect(exchanges).toEqual([...Array(49).fill(400), 429])
    const other = await makeClient({ app: limited, tenant: (await limited.tenant()).id })
    expect((await exchange(other, { code: 'x', verifier: newVerifier() })).status).toBe(400)
  })

  test('of an address are thirty wrong secrets', async () => {
    const limited = await startApp({ rateLimitScale: 1 })
    const own = await makeClient({ app: limited, tenant: (await limited.tenant()).id })
    const wrong = { ...own, client: { ...own.client, client_secret: 'ocs_wrong' } }
    const statuses = []
    for (let i = 0; i < 60; i++) statuses.push((await exchange(wrong, { code: 'x', verifier: newVerifier() })).status)
    expect(statuses).toEqual([...Array(30).fill(401), ...Array(30).fill(429)])
  })
})
