// A whole log-in, and what the client learns of the person.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { VerificationDetail } from '../../src/dashboard/verifications/schema.ts'
import { cleanUp, NOON, startApp, type TestApp } from '../helpers/app.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import {
  answerIn,
  answerLogin,
  begin,
  CALLBACK,
  comeBack,
  exchange,
  issuerPath,
  logIn,
  makeClient,
  type Party,
  pageOf,
  readIdToken,
  userinfo,
} from '../helpers/oidc.ts'

afterAll(cleanUp)

let app: TestApp
let tenant: string
let party: Party

beforeAll(async () => {
  app = await startApp()
  tenant = (await app.tenant()).id
  party = await makeClient({ app, tenant })
})

describe('a log-in', () => {
  test('leads from the client over page and wallet to tokens', async () => {
    const begun = await begin(party)
    expect(await pageOf(begun)).toMatchObject({ status: 'pending', asked_by: expect.any(String), login: { client: 'Wine shop' } })
    const response = await answerLogin(party, begun)
    const { status, body } = await comeBack(begun, response)
    expect(status).toBe(200)
    expect(body.location).toStartWith(`${CALLBACK}?`)
    const { code, ...rest } = answerIn(body.location)
    expect(rest).toEqual({ state: 'state-1', iss: `https://verify.example${issuerPath(party)}` })
    expect(code).toMatch(/^[\w-]{43}$/)

    const answer = await exchange(party, { code, verifier: begun.verifier })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('pragma')).toBe('no-cache')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    const { access_token, id_token, ...others } = answer.body
    expect(others).toEqual({ token_type: 'Bearer', expires_in: 600, scope: 'openid vidimus:age_over_18' })
    expect(access_token).toMatch(/^vo_[0-9A-Za-z]{38}$/)

    const { header, claims } = await readIdToken(party, id_token)
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) })
    const at_hash = createHash('sha256').update(access_token).digest().subarray(0, 16).toString('base64url')
    expect(claims).toEqual({
      iss: `https://verify.example${issuerPath(party)}`,
      sub: expect.stringMatching(/^[\w-]{43}$/),
      aud: party.client.id,
      iat: NOON / 1000,
      exp: NOON / 1000 + 300,
      auth_time: NOON / 1000,
      nonce: 'nonce-1',
      acr: 'urn:vidimus:acr:test',
      amr: ['pop'],
      at_hash,
      txn: begun.id,
    })

    const info = await userinfo(party, access_token)
    expect(info.status).toBe(200)
    expect(info.headers.get('cache-control')).toBe('no-store')
    expect(info.headers.get('access-control-allow-origin')).toBe('*')
    expect(info.body).toEqual({ sub: claims.sub!, age_over_18: true })
  })

  test('on another phone, by the QR code, comes back through the page that showed it', async () => {
    const begun = await begin(party)
    const response = await answerLogin(party, begun, { by: 'qr_uri' })
    const { body } = await comeBack(begun, response)
    expect((await exchange(party, { code: answerIn(body.location).code, verifier: begun.verifier })).status).toBe(200)
  })

  test('has another sub each time, and no nonce where none was sent', async () => {
    const [first, second] = [await logIn(party), await logIn(party, { asked: { nonce: undefined, state: undefined } })]
    const claims = await Promise.all([first, second].map(({ tokens }) => readIdToken(party, tokens.body.id_token)))
    expect(claims[0]!.claims.sub).not.toBe(claims[1]!.claims.sub)
    expect(claims[1]!.claims).not.toHaveProperty('nonce')
    expect(second.answer).not.toHaveProperty('state')
  })

  test('is signed by ES256, and has claims in the ID token, for a client that says so', async () => {
    const own = await makeClient({ app, tenant }, { id_token_alg: 'ES256', id_token_claims: true })
    const { tokens } = await logIn(own)
    const { header, claims } = await readIdToken(own, tokens.body.id_token)
    expect(header).toMatchObject({ alg: 'ES256' })
    expect(claims).toMatchObject({ age_over_18: true, aud: own.client.id })
  })

  test('asks the template of its scope, in the language and for the purpose of the client', async () => {
    const own = await makeClient({ app, tenant }, { templates: ['age_over_18', 'age_over_21'], purpose: 'to sell you wine' })
    const begun = await begin(own, { scope: 'openid profile vidimus:age_over_21', ui_locales: 'sv de-AT en' })
    expect(await pageOf(begun)).toMatchObject({ purpose: 'to sell you wine', login: { client: 'Wine shop', language: 'de' } })
    const response = await answerLogin(own, begun)
    const { body } = await comeBack(begun, response)
    const tokens = await exchange(own, { code: answerIn(body.location).code, verifier: begun.verifier })
    expect(tokens.body.scope).toBe('openid vidimus:age_over_21')
    expect((await userinfo(own, tokens.body.access_token)).body).toMatchObject({ age_over_21: true })
  })
})

test('log-ins and refusals are counted, and the log names the client without a secret', async () => {
  const own = await startApp()
  const shop = (await own.tenant()).id
  const client = await makeClient({ app: own, tenant: shop })
  const { tokens } = await logIn(client)
  await comeBack(await begin(client))
  await exchange(client, { code: 'x' })
  await userinfo(client, 'x')
  const figures = await own.deps.metrics.render()
  for (const line of [
    'vidimus_oidc_logins_total{environment="test",outcome="started"} 2',
    'vidimus_oidc_logins_total{environment="test",outcome="returned"} 1',
    'vidimus_oidc_logins_total{environment="test",outcome="refused"} 1',
    'vidimus_oidc_refusals_total{endpoint="token",error="invalid_grant"} 1',
    'vidimus_oidc_refusals_total{endpoint="userinfo",error="invalid_token"} 1',
  ])
    expect(figures).toContain(line)
  const log = own.logs.join('\n')
  expect(log).toContain(`"event":"oidc.token_issued","tenant":"${shop}","detail":"${client.client.id}"`)
  expect(log).not.toContain(tokens.body.access_token)
})

test('the timeline of a log-in says what the client was given', async () => {
  const boss = await setUpOwner(app, 'olivia')
  const { begun, tokens } = await logIn(party)
  await userinfo(party, tokens.body.access_token)
  await userinfo(party, tokens.body.access_token)
  const { body } = await boss.get<VerificationDetail>(`/tenants/${tenant}/verifications/${begun.id}?environment=test`)
  const of = { at: expect.any(String), client: party.client.id }
  expect(body.timeline.filter(({ event }) => /^(login|code|token|userinfo)_/.test(event))).toEqual([
    { ...of, event: 'login_started' },
    { at: of.at, event: 'login_returned' },
    { ...of, event: 'code_issued' },
    { ...of, event: 'token_issued', claims: ['age_over_18'], left_out: [] },
    { ...of, event: 'userinfo_read' },
  ])
  expect(body.timeline.find(({ event }) => event === 'created')).toMatchObject({ actor: 'client Wine shop' })
})
