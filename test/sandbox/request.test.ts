import { describe, expect, test } from 'bun:test'
import { byValueUri } from '../../src/openid4vp/exchange/request-object.ts'
import { fetchRequest, parseWalletUri, RequestRefused } from '../../src/sandbox/wallet/wallet.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { holderOf, mdlQuery, NOW, newSession, newVerifier, PUBLIC_URL, presentTo, type SessionOf, verifier } from './world.ts'

const query = mdlQuery('age_over_18')
const fetched = ({ walletUri, fetch }: SessionOf, options = {}) => fetchRequest(walletUri, fetch, { now: NOW, ...options })

test('a signed request by reference is read with all its parameters', async () => {
  const session = await newSession({ query })
  const { parameters } = session
  expect(await fetched(session)).toEqual({
    clientId: verifier.clientId,
    responseMode: 'direct_post.jwt',
    responseUri: session.responseUri,
    nonce: parameters.nonce,
    state: parameters.state,
    query,
    encryption: { key: expect.objectContaining({ kid: 'session-key' }), encs: ['A128GCM', 'A256GCM'] },
    parameters: parameters as Record<string, unknown>,
  })
  expect(session.fetched[0]).toMatchObject({ headers: { accept: 'application/oauth-authz-req+jwt' }, redirect: 'manual' })
})

test('the wallet sends a nonce and its metadata with POST, and requires the nonce in the request', async () => {
  const session = await newSession({ query })
  const walletMetadata = { vp_formats_supported: { mso_mdoc: {} } }
  const { parameters } = await fetched(session, { method: 'post', walletNonce: 'n'.repeat(22), walletMetadata })
  expect(parameters.wallet_nonce).toBe('n'.repeat(22))
  const form = new URLSearchParams(String(session.fetched[0]!.body))
  expect(Object.fromEntries(form)).toEqual({
    wallet_nonce: 'n'.repeat(22),
    wallet_metadata: JSON.stringify(walletMetadata),
  })
  const forgetful = await newSession({ query, claims: { wallet_nonce: undefined } })
  await expect(fetched(forgetful, { method: 'post' })).rejects.toThrow('wallet_nonce')
})

test('a link that offers POST is fetched by POST, any other by GET', async () => {
  const session = await newSession({ query })
  await fetchRequest(`${session.walletUri}&request_uri_method=post`, session.fetch, { now: NOW })
  await fetched(session)
  expect(session.fetched.map(({ method }) => method ?? 'GET')).toEqual(['POST', 'GET'])
})

test('an unsigned request by value is read', async () => {
  const { query: asked } = BUILTIN_TEMPLATES.get('eu_av_age_18')!
  const uri = byValueUri({ publicUrl: PUBLIC_URL, id: 'vs_1', nonce: 'n'.repeat(43), state: 's'.repeat(43), query: asked })
  const request = await fetchRequest(uri, () => Promise.reject(new Error('nothing to fetch')), { now: NOW })
  expect(request).toMatchObject({
    clientId: `redirect_uri:${PUBLIC_URL}/wallet/response/vs_1`,
    responseUri: `${PUBLIC_URL}/wallet/response/vs_1`,
    responseMode: 'direct_post',
    query: asked,
    encryption: undefined,
  })
})

test('client_id may name the host of the certificate if the answer is sent there', async () => {
  const by = { ...verifier, clientId: 'x509_san_dns:verifier.example' }
  expect(await fetched(await newSession({ query, by }))).toMatchObject({ clientId: 'x509_san_dns:verifier.example' })
  const foreign = { ...verifier, clientId: 'x509_san_dns:other.example' }
  await expect(fetched(await newSession({ query, by: foreign }))).rejects.toThrow('no name of the leaf')
  const elsewhere = newSession({ query, by, claims: { response_uri: 'https://other.example/r' } })
  await expect(fetched(await elsewhere)).rejects.toThrow('another host')
})

describe('refused requests', () => {
  const claims: [string, Record<string, unknown>][] = [
    ['another client_id than the link', { client_id: 'x509_hash:AAAA' }],
    ['another audience', { aud: 'https://verifier.example' }],
    ['another response type', { response_type: 'vp_token id_token' }],
    ['an unknown response mode', { response_mode: 'fragment' }],
    ['a redirect_uri beside the response_uri', { redirect_uri: 'https://verifier.example' }],
    ['no response_uri', { response_uri: undefined }],
    ['no nonce', { nonce: undefined }],
    ['a short nonce', { nonce: 'abc' }],
    ['a nonce with foreign characters', { nonce: `${'n'.repeat(30)} ä` }],
    ['a query as text', { dcql_query: JSON.stringify(query) }],
    ['no query', { dcql_query: undefined }],
    ['transaction data', { transaction_data: ['e30'] }],
    ['no formats', { client_metadata: {} }],
    ['a format that is asked for and not announced', { client_metadata: { vp_formats_supported: { 'dc+sd-jwt': {} } } }],
    ['encryption without a key', { client_metadata: { vp_formats_supported: { mso_mdoc: {} } } }],
    ['an expired request', { exp: Math.floor(NOW / 1000) - 61 }],
    ['a request from the future', { iat: Math.floor(NOW / 1000) + 61 }],
    ['a wallet_nonce it never sent', { wallet_nonce: 'n'.repeat(22) }],
  ]
  test.each(claims)('the wallet refuses %s', async (_, changed) => {
    await expect(fetched(await newSession({ query, claims: changed }))).rejects.toBeInstanceOf(RequestRefused)
  })

  test('the wallet refuses another type of JWT', async () => {
    await expect(fetched(await newSession({ query, header: { typ: 'JWT' } }))).rejects.toThrow('typ')
  })

  test('the wallet refuses a self-signed leaf', async () => {
    const by = await newVerifier({ isSelfSigned: true })
    await expect(fetched(await newSession({ query, by }))).rejects.toThrow('self-signed')
  })

  test('the wallet refuses a signature by another key than that of the leaf', async () => {
    const by = { ...verifier, key: (await newVerifier()).key }
    await expect(fetched(await newSession({ query, by }))).rejects.toThrow('signature')
  })

  test('the wallet refuses a client_id that is not the hash of the leaf', async () => {
    const by = { ...(await newVerifier()), clientId: verifier.clientId }
    await expect(fetched(await newSession({ query, by }))).rejects.toThrow('hash of the leaf')
  })

  test('the wallet refuses a response that is not 200 or not a request object', async () => {
    const { walletUri } = await newSession({ query })
    const answers = [
      new Response('', { status: 302, headers: { location: '/' } }),
      new Response('', { status: 410 }),
      Response.json({}),
    ]
    for (const response of answers) {
      await expect(fetchRequest(walletUri, async () => response, { now: NOW })).rejects.toBeInstanceOf(RequestRefused)
    }
  })

  test.each([
    'openid4vp://authorize',
    'openid4vp://authorize?request_uri=https%3A%2F%2Fverifier.example',
    'openid4vp://authorize?client_id=x509_hash%3AAAAA&request_uri=https%3A%2F%2Fverifier.example%23x',
    'openid4vp://authorize?client_id=x509_hash%3AAAAA&request_uri=https%3A%2F%2Fverifier.example&request_uri_method=POST',
    'av://authorize?client_id=redirect_uri%3Ahttps%3A%2F%2Fverifier.example&request_uri_method=post',
  ])('the wallet refuses the link %s', uri => {
    expect(() => parseWalletUri(uri)).toThrow(RequestRefused)
  })
})

test('a declining holder sends an encrypted error with the state', async () => {
  const session = await newSession({ query })
  const { members, exchange } = await presentTo(session, await holderOf('declines'))
  expect([...session.forms[0]!.keys()]).toEqual(['response'])
  expect(members).toMatchObject({ error: 'access_denied', state: session.parameters.state })
  expect(members).not.toHaveProperty('vp_token')
  expect(exchange.status).toBe(200)
})

test('a holder without a matching document sends the same error, unencrypted if the request is plain', async () => {
  const session = await newSession({ query: mdlQuery('weight'), mode: 'direct_post' })
  const { members } = await presentTo(session, await holderOf('adult'))
  expect(members).toMatchObject({ error: 'access_denied', state: session.parameters.state })
})
