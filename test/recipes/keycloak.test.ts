import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { startApp, type TestApp } from '../helpers/app.ts'
import { freePort } from '../helpers/free-port.ts'
import { askTarget, type Merchant, startProject, stopMerchants } from '../helpers/merchant.ts'
import { environmentOfProject } from '../helpers/recipe.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const ENVIRONMENT = environmentOfProject('keycloak')
const { PUBLIC_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', REDIRECT_URI = '' } = ENVIRONMENT

let app: TestApp
let key: string
let bridge: Merchant

beforeAll(async () => {
  app = await startApp()
  const tenant = await app.tenant()
  key = await app.key(tenant.id, { scopes: ['verifications:create', 'verifications:read', 'verifications:delete'] })
  const port = await freePort()
  const env = { ...ENVIRONMENT, PORT: String(port), VIDIMUS_URL: app.url, VIDIMUS_API_KEY: key }
  bridge = await startProject('keycloak', port, env)
})
afterAll(stopMerchants)

const verifier = randomBytes(32).toString('base64url')
const challenge = createHash('sha256').update(verifier).digest('base64url')

const authorize = (changes: Record<string, string> = {}, { url } = bridge) =>
  fetch(
    `${url}/authorize?${new URLSearchParams({
      client_id: CLIENT_ID,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'openid',
      state: 'the-state',
      nonce: 'the-nonce',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    })}`,
    { redirect: 'manual' },
  )

/** A login up to the redirect of the wallet. */
async function answered(persona: PersonaId = 'adult') {
  const begun = await authorize()
  const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
  const id = new URL(begun.headers.get('location') ?? '').pathname.split('/').at(-1)
  const session = (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body
  const exchange = await answerWith(app, await holderOf(app, persona), session.wallet_uri ?? '')
  const { redirect_uri } = exchange.body as { redirect_uri: string }
  const code = new URLSearchParams(new URL(redirect_uri).hash.slice(1)).get('response_code')
  return { begun, cookie, id, code, redirect_uri }
}

const comeBack = async (cookie: string, code: unknown) => {
  const response = await fetch(`${bridge.url}/return`, {
    method: 'POST',
    headers: { cookie },
    body: JSON.stringify({ response_code: code }),
  })
  const { location, error } = (await response.json()) as { location?: string; error?: string }
  return { status: response.status, error, answer: location && Object.fromEntries(new URL(location).searchParams), location }
}

const exchange = async (changes: Record<string, string>, headers: Record<string, string> = {}) => {
  const form = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code_verifier: verifier, client_id: CLIENT_ID }
  const body = new URLSearchParams({ ...form, client_secret: CLIENT_SECRET, ...changes })
  const response = await fetch(`${bridge.url}/token`, { method: 'POST', body, headers })
  return { status: response.status, body: (await response.json()) as { id_token?: string; error?: string } }
}

const logIn = async (persona?: PersonaId) => {
  const { cookie, code } = await answered(persona)
  const { answer } = await comeBack(cookie, code)
  return (answer as { code: string }).code
}

test('Keycloak: a login gives an ID token with what was verified, and nothing of it stays at the service', async () => {
  const { begun, cookie, id, code, redirect_uri } = await answered()
  expect(begun.status).toBe(302)
  expect(begun.headers.get('set-cookie')).toMatch(/^__Host-login=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax/)
  expect(redirect_uri).toStartWith(`${PUBLIC_URL}/return#response_code=`)
  const { answer, location } = await comeBack(cookie, code)
  expect(location).toStartWith(`${REDIRECT_URI}?`)
  expect(answer).toEqual({ code: expect.stringMatching(/^[\w-]{43}$/), state: 'the-state' })
  expect((await app.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(404)
  const { status, body } = await exchange({ code: (answer as { code: string }).code })
  expect(status).toBe(200)
  const keys = createRemoteJWKSet(new URL(`${bridge.url}/jwks`))
  const { payload } = await jwtVerify(body.id_token ?? '', keys, {
    issuer: PUBLIC_URL,
    audience: CLIENT_ID,
    algorithms: ['ES256'],
  })
  expect(payload).toMatchObject({
    nonce: 'the-nonce',
    given_name: expect.any(String),
    family_name: expect.any(String),
    birthdate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    sub: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(bridge.said()).toBe('')
})

test('Keycloak: the same person is the same subject, another person another', async () => {
  const subjectOf = async (persona: PersonaId) => {
    const { body } = await exchange({ code: await logIn(persona) })
    return JSON.parse(Buffer.from(body.id_token?.split('.')[1] ?? '', 'base64url').toString()).sub
  }
  const [first, again, other] = [await subjectOf('adult'), await subjectOf('adult'), await subjectOf('minor')]
  expect(again).toBe(first)
  expect(other).not.toBe(first)
})

test('Keycloak: a code of the wallet logs in the browser that began, and no other', async () => {
  const [mine, theirs] = [await answered(), await answered()]
  expect((await comeBack('', mine.code)).status).toBe(400)
  expect((await comeBack('__Host-login=made-up', mine.code)).status).toBe(400)
  expect((await comeBack(mine.cookie, theirs.code)).answer).toEqual({ error: 'access_denied', state: 'the-state' })
  // It was tried once, and is over.
  expect((await comeBack(mine.cookie, mine.code)).status).toBe(400)
})

test('Keycloak: a code of the bridge works once, for its client, with its verifier', async () => {
  const basic = { authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}` }
  expect((await exchange({ code: await logIn(), client_secret: '' }, basic)).status).toBe(200)
  const code = await logIn()
  expect((await exchange({ code, client_secret: 'guessed' })).body).toEqual({ error: 'invalid_client' })
  expect((await exchange({ code })).status).toBe(200)
  expect((await exchange({ code })).body).toEqual({ error: 'invalid_grant' })
  expect((await exchange({ code: await logIn(), code_verifier: 'x'.repeat(43) })).body).toEqual({ error: 'invalid_grant' })
  expect((await exchange({ code: await logIn(), redirect_uri: 'https://evil.example' })).body).toEqual({ error: 'invalid_grant' })
})

test('Keycloak: the bridge redirects to its client only, and begins nothing without PKCE', async () => {
  expect((await authorize({ redirect_uri: 'https://evil.example' })).status).toBe(400)
  expect((await authorize({ client_id: 'other' })).status).toBe(400)
  const refused = await authorize({ code_challenge_method: 'plain' })
  expect(refused.headers.get('location')).toBe(`${REDIRECT_URI}?error=invalid_request&state=the-state`)
  expect(refused.headers.get('set-cookie')).toBeNull()
})

test('Keycloak: a path that is no address is 404, and ends nothing', async () => {
  for (const target of ['//', '//x:99999/', 'http://[/']) expect(await askTarget(bridge, target)).toBe('HTTP/1.1 404 Not Found')
  expect((await fetch(`${bridge.url}/jwks`)).status).toBe(200)
})

test('Keycloak: the provider of the JSON is the one that the bridge publishes', async () => {
  const file = join(import.meta.dir, '../../src/sdk/keycloak/identity-provider.json')
  const { alias, config } = JSON.parse(readFileSync(file, 'utf8'))
  const published = (await (await fetch(`${bridge.url}/.well-known/openid-configuration`)).json()) as Record<string, unknown>
  expect(config).toMatchObject({
    issuer: published.issuer,
    authorizationUrl: published.authorization_endpoint,
    tokenUrl: published.token_endpoint,
    jwksUrl: published.jwks_uri,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
  })
  expect(REDIRECT_URI).toEndWith(`/broker/${alias}/endpoint`)
})

test('Keycloak: log-ins that anybody can begin spend no more of the quota than LOGINS_PER_HOUR', async () => {
  const tenant = await app.tenant()
  const own = await app.key(tenant.id, { scopes: ['verifications:create', 'verifications:read', 'verifications:delete'] })
  const port = await freePort()
  const env = { ...ENVIRONMENT, PORT: String(port), VIDIMUS_URL: app.url, VIDIMUS_API_KEY: own, LOGINS_PER_HOUR: '2' }
  const limited = await startProject('keycloak', port, env)
  const begun = await Promise.all(Array.from({ length: 5 }, () => authorize({}, limited)))
  const refused = begun.map(({ headers }) => headers.get('location') ?? '').filter(to => to.startsWith(REDIRECT_URI))
  expect(refused).toEqual(Array.from({ length: 3 }, () => `${REDIRECT_URI}?error=temporarily_unavailable&state=the-state`))
  const usage = await app.call<{ verifications_created: number }>('GET', '/v1/usage', { key: own })
  expect(usage.body.verifications_created).toBe(2)
})
