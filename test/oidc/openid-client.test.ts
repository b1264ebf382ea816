// `openid-client`, as a program in JavaScript uses it, with every check that it has.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { logIn } from './customer.ts'
import { type Client, type Provider, startProvider, stopProviders } from './provider.ts'

const REDIRECT = 'https://club.example/callback'

let provider: Provider
let client: Client

beforeAll(async () => {
  provider = await startProvider()
  client = await provider.client({ redirect_uris: [REDIRECT] })
})
afterAll(stopProviders)

async function discover({ id, secret }: Client, auth: ClientAuth = ClientSecretPost(secret)): Promise<Configuration> {
  const config = await discovery(new URL(provider.issuer), id, secret, auth, { execute: [allowInsecureRequests] })
  // Otherwise it relies on TLS, and does not look at the signature.
  enableNonRepudiationChecks(config)
  return config
}

async function begin(config: Configuration) {
  const verifier = randomPKCECodeVerifier()
  const expected = {
    expectedState: randomState(),
    expectedNonce: randomNonce(),
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  }
  const url = buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'openid',
    state: expected.expectedState,
    nonce: expected.expectedNonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  return { url, expected }
}

async function logInWith(config: Configuration) {
  const { url, expected } = await begin(config)
  const tokens = await authorizationCodeGrant(config, await logIn(provider.app, url), expected)
  return { tokens, claims: tokens.claims() }
}

describe('openid-client', () => {
  test.each([
    ['client_secret_basic', 'RS256'],
    ['client_secret_post', 'ES256'],
  ] as const)('openid-client logs in with %s and %s, and reads userinfo', async (way, alg) => {
    const own = await provider.client({ redirect_uris: [REDIRECT], id_token_alg: alg })
    const auth = way === 'client_secret_basic' ? ClientSecretBasic(own.secret) : ClientSecretPost(own.secret)
    const config = await discovery(new URL(provider.issuer), own.id, { id_token_signed_response_alg: alg }, auth, {
      execute: [allowInsecureRequests],
    })
    enableNonRepudiationChecks(config)
    const { tokens, claims } = await logInWith(config)
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 600, scope: 'openid vidimus:identity_basic' })
    expect(claims).toMatchObject({ iss: provider.issuer, aud: own.id, acr: 'urn:vidimus:acr:test', amr: ['pop'] })
    expect(claims).not.toHaveProperty('given_name')
    const info = await fetchUserInfo(config, tokens.access_token, claims?.sub ?? '')
    expect(info).toMatchObject({ sub: claims?.sub, given_name: 'Erika', name: 'Erika Mustermann' })
  })

  test('openid-client logs in as a program without a secret', async () => {
    const own = await provider.client({ redirect_uris: [REDIRECT], auth: 'none' })
    const { claims } = await logInWith(await discover(own, None()))
    expect(claims?.aud).toBe(own.id)
  })

  test('openid-client takes a token that was signed anew without a change, and refuses a wrong issuer, nonce or signature', async () => {
    const config = await discover(client)
    provider.spoil('nothing')
    expect((await logInWith(config)).claims?.aud).toBe(client.id)
    for (const what of ['iss', 'nonce', 'signature'] as const) {
      provider.spoil(what)
      expect([
        what,
        await logInWith(config).then(
          () => 'accepted',
          ({ code }) => code,
        ),
      ]).toEqual([what, REFUSALS[what]])
    }
    provider.spoil('nothing')
  })

  test('openid-client refuses an answer that names another issuer, or none', async () => {
    const config = await discover(client)
    for (const iss of [provider.issuer.replace(/test$/, 'live'), undefined]) {
      const { url, expected } = await begin(config)
      const back = await logIn(provider.app, url)
      if (iss === undefined) back.searchParams.delete('iss')
      else back.searchParams.set('iss', iss)
      await expect(authorizationCodeGrant(config, back, expected)).rejects.toMatchObject({ code: 'OAUTH_INVALID_RESPONSE' })
    }
  })

  test('openid-client gets error and reason of a customer who declined', async () => {
    const config = await discover(client)
    const { url, expected } = await begin(config)
    const back = await logIn(provider.app, url, 'declines')
    await expect(authorizationCodeGrant(config, back, expected)).rejects.toMatchObject({
      error: 'access_denied',
      error_description: expect.stringMatching(/^declined: ./),
    })
  })

  test('openid-client gets invalid_grant for a code that it used before', async () => {
    const config = await discover(client)
    const { url, expected } = await begin(config)
    const back = await logIn(provider.app, url)
    await authorizationCodeGrant(config, back, expected)
    await expect(authorizationCodeGrant(config, back, expected)).rejects.toMatchObject({ error: 'invalid_grant', status: 400 })
  })
})

/** What openid-client calls each of them. */
const REFUSALS = {
  iss: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  nonce: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  signature: 'OAUTH_INVALID_RESPONSE',
}
