import { describe, expect, test } from 'bun:test'
import { createHash, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader, importX509, jwtVerify } from 'jose'
import type { Config } from '../../src/config.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { readEvents } from '../../src/verifications/timeline.ts'
import { createVerification, type ErrorBody, NOON, outcome, startApp, startWithTenant, temporaryDir } from '../helpers/app.ts'
import { ask, listOrigin } from '../helpers/dc.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const { app, key, id: tenantId } = await startWithTenant()

const pathOf = (verification: Verification) => `/wallet/request/${verification.id}`

type Claims = Record<string, unknown> & {
  client_id: string
  dcql_query: { credentials: { id: string; format: string }[]; credential_sets?: { options: string[][]; purpose?: string }[] }
  client_metadata: { jwks: { keys: Record<string, string>[] } }
}

const claimsOf = (jwt: string) => decodeJwt(jwt) as Claims
const postFor = (verification: Verification, form: Record<string, string>, to = app) =>
  to.call<ErrorBody>('POST', pathOf(verification), {
    raw: new URLSearchParams(form),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })

describe('GET /wallet/request/{sessionId}', () => {
  test('the request object is 200 with its content type, for any origin, uncached', async () => {
    const verification = await createVerification(app, key)
    const { status, headers, text } = await app.call('GET', pathOf(verification))
    expect([status, headers.get('content-type')]).toEqual([200, 'application/oauth-authz-req+jwt'])
    expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual(['*', 'no-store'])
    expect(text).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  test('the header of a request object has typ, ES256, the iat of the claims and an x5c without the root, whose leaf is not self-signed and signed it', async () => {
    const { text } = await app.call('GET', pathOf(await createVerification(app, key)))
    const { alg, typ, x5c, ...rest } = decodeProtectedHeader(text)
    expect([alg, typ, rest]).toEqual(['ES256', 'oauth-authz-req+jwt', { iat: decodeJwt(text).iat }])
    expect(x5c).toHaveLength(1)
    const leaf = new X509Certificate(Buffer.from(x5c?.[0] ?? '', 'base64'))
    expect(leaf.checkIssued(leaf)).toBe(false)
    expect(leaf.subjectAltName).toBe('DNS:verify.example')
    const { payload } = await jwtVerify(text, await importX509(leaf.toString(), 'ES256'), { currentDate: new Date(NOON) })
    expect(payload.client_id).toBe(`x509_hash:${createHash('sha256').update(leaf.raw).digest('base64url')}`)
  })

  test('the claims of a request object are those of HAIP 1.0, and no others', async () => {
    const verification = await createVerification(app, key, { template: 'eu_av_age_18', purpose: 'x' }).then(() =>
      createVerification(app, key),
    )
    const claims = claimsOf((await app.call('GET', pathOf(verification))).text)
    expect<unknown>(claims).toEqual({
      client_id: new URL(verification.wallet_uri ?? '').searchParams.get('client_id') ?? '',
      aud: 'https://self-issued.me/v2',
      response_type: 'vp_token',
      response_mode: 'direct_post.jwt',
      response_uri: `https://verify.example/wallet/response/${verification.id}`,
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      dcql_query: expect.any(Object),
      client_metadata: {
        vp_formats_supported: {
          'dc+sd-jwt': {
            'sd-jwt_alg_values': expect.arrayContaining(['ES256']),
            'kb-jwt_alg_values': expect.arrayContaining(['ES256']),
          },
          mso_mdoc: { issuerauth_alg_values: [-7, -9], deviceauth_alg_values: [-7, -9] },
        },
        jwks: {
          keys: [
            {
              kty: 'EC',
              crv: 'P-256',
              x: expect.stringMatching(/^[\w-]{43}$/),
              y: expect.stringMatching(/^[\w-]{43}$/),
              kid: expect.stringMatching(/^[\w-]{16}$/),
              use: 'enc',
              alg: 'ECDH-ES',
            },
          ],
        },
        encrypted_response_enc_values_supported: ['A128GCM', 'A256GCM'],
      },
      iat: NOON / 1000,
      exp: Math.floor(Date.parse(verification.expires_at) / 1000),
    })
  })

  test('a request object fetched again, or twice at once, has the same nonce, state and key', async () => {
    const verification = await createVerification(app, key)
    const texts = await Promise.all(
      Array.from({ length: 8 }, async () => claimsOf((await app.call('GET', pathOf(verification))).text)),
    )
    expect(new Set(texts.map(claims => JSON.stringify(claims))).size).toBe(1)
  })

  test('every session has a key, nonce and state of its own', async () => {
    const claims = await Promise.all(
      [1, 2, 3].map(async () => claimsOf((await app.call('GET', pathOf(await createVerification(app, key)))).text)),
    )
    for (const pick of [
      (c: Claims) => c.nonce,
      (c: Claims) => c.state,
      (c: Claims) => c.client_metadata.jwks.keys[0]?.x,
      (c: Claims) => c.client_metadata.jwks.keys[0]?.kid,
    ]) {
      expect(new Set(claims.map(pick)).size).toBe(3)
    }
  })

  test('the purpose is mirrored into each credential set, and into one that names all where the query has none', async () => {
    const sets = async (body: object) =>
      claimsOf((await app.call('GET', pathOf(await createVerification(app, key, body)))).text).dcql_query.credential_sets
    expect((await sets({ purpose: 'Wine' }))?.map(({ purpose }) => purpose)).toEqual(['Wine'])
    const credentials = ['a', 'b'].map(id => ({ id, format: 'mso_mdoc', meta: { doctype_value: 'x' } }))
    expect(await sets({ template: undefined, query: { credentials }, purpose: 'Wine' })).toEqual([
      { options: [['a', 'b']], purpose: 'Wine' },
    ])
    expect(await sets({ template: undefined, query: { credentials } })).toBeUndefined()
  })

  test('the request of an unknown session is 404, of an expired one 410, of an answered one 409 even after expires_at', async () => {
    const { app: own, ...tenant } = await startWithTenant()
    const code = async (path: string) => outcome(await own.call('GET', path))
    expect(await code('/wallet/request/vs_unknown')).toBe('404 session_not_found')
    const answered = await createVerification(own, tenant.key, { ttl_seconds: 60 })
    const open = await createVerification(own, tenant.key, { ttl_seconds: 60 })
    await answerWith(own, await holderOf(own), answered.wallet_uri ?? '')
    expect(await code(pathOf(answered))).toBe('409 session_already_responded')
    own.clock.set(Date.parse(open.expires_at) - 1)
    expect(await code(pathOf(open))).toBe('200')
    own.clock.set(Date.parse(open.expires_at))
    expect(await code(pathOf(open))).toBe('410 session_expired')
    expect(await code(pathOf(answered))).toBe('409 session_already_responded')
  })

  test('a session gets 10 fetches at once, then one a second, and 60 in all', async () => {
    const own = await startApp({ rateLimitScale: 1 })
    const verification = await createVerification(own, (await own.tenant()).key, { ttl_seconds: 3600 })
    const fetched = async () => (await own.call('GET', pathOf(verification))).status
    const statuses: number[] = []
    for (let i = 0; i < 11; i++) statuses.push(await fetched())
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429])
    for (let i = 10; i < 60; i++) {
      own.clock.advance(1000)
      expect(await fetched()).toBe(200)
    }
    own.clock.advance(600_000)
    expect(await fetched()).toBe(429)
  })
})

describe('POST /wallet/request/{sessionId}', () => {
  test('wallet_nonce is in the signed claim only; a GET has none', async () => {
    const verification = await createVerification(app, key)
    const nonce = 'n'.repeat(512)
    const answer = await postFor(verification, { wallet_nonce: nonce, unknown: 'ignored' })
    expect(answer.headers.get('content-type')).toBe('application/oauth-authz-req+jwt')
    expect(claimsOf(answer.text).wallet_nonce).toBe(nonce)
    expect(JSON.stringify([...answer.headers])).not.toContain(nonce)
    expect(claimsOf((await app.call('GET', pathOf(verification))).text)).not.toHaveProperty('wallet_nonce')
  })

  test('a request leaves out options in formats that the wallet lacks', async () => {
    const verification = await createVerification(app, key)
    const wallet_metadata = JSON.stringify({ vp_formats_supported: { 'dc+sd-jwt': {} }, something: 'else' })
    const { dcql_query } = claimsOf((await postFor(verification, { wallet_metadata })).text)
    expect(dcql_query.credentials.map(({ id }) => id)).toEqual(['pid_sd'])
    expect(dcql_query.credential_sets).toEqual([{ options: [['pid_sd']], purpose: 'To check that you are 18 or over' }])
  })

  test('a wallet that supports none of the formats gets the whole query', async () => {
    const verification = await createVerification(app, key, { template: 'driving_licence' })
    const answer = await postFor(verification, { wallet_metadata: '{"vp_formats_supported":{"dc+sd-jwt":{}}}' })
    expect(claimsOf(answer.text).dcql_query.credentials.map(({ id }) => id)).toEqual(['mdl'])
  })

  const saidBy = async (metadata: object | string | undefined, profile: 'haip' | 'plain' = 'haip') => {
    const before = app.deps.config.wallet.profile
    app.deps.config.wallet.profile = profile
    const verification = await createVerification(app, key).finally(() => {
      app.deps.config.wallet.profile = before
    })
    const wallet_metadata = typeof metadata === 'string' ? metadata : JSON.stringify(metadata)
    const { status } = await postFor(verification, wallet_metadata === undefined ? {} : { wallet_metadata })
    expect(status).toBe(200)
    const events = await readEvents(app.deps, { id: verification.id, tenantId })
    return events.find(({ event }) => event === 'request_fetched')?.details
  }

  test('what a wallet says of itself is noted by name, and none of its own words is kept', async () => {
    const said = {
      vp_formats_supported: { 'dc+sd-jwt': { said: 'WALLET-CANARY' }, ldp_vc: {} },
      client_id_prefixes_supported: ['redirect_uri', 'WALLET-CANARY'],
      response_modes_supported: ['direct_post'],
      authorization_encryption_enc_values_supported: ['A256CBC-HS512'],
      request_object_signing_alg_values_supported: ['RS256'],
      name: 'WALLET-CANARY',
    }
    expect(await saidBy(said)).toEqual({
      method: 'post',
      formats: ['dc+sd-jwt'],
      dropped: ['av', 'pid_de', 'mdl', 'photoid', 'photoid_lc', 'pid_old'],
      notes: ['client_id_prefix', 'response_mode', 'encryption', 'signing_algorithm'],
    })
    expect(app.logs.join()).not.toContain('WALLET-CANARY')
  })

  test('a wallet that can take the request, or does not say, leaves no note', async () => {
    const able = {
      client_id_prefixes_supported: ['redirect_uri', 'x509_hash'],
      response_modes_supported: ['direct_post.jwt'],
      authorization_encryption_alg_values_supported: ['ECDH-ES'],
      authorization_encryption_enc_values_supported: ['A256GCM'],
      request_object_signing_alg_values_supported: ['ES384', 'ES256'],
    }
    for (const metadata of [able, {}, undefined, { response_modes_supported: 'none', client_id_prefixes_supported: { 0: 'x' } }])
      expect(await saidBy(metadata)).toEqual({ method: 'post' })
    const plain = { response_modes_supported: ['direct_post'], authorization_encryption_alg_values_supported: [] }
    expect(await saidBy(plain, 'plain')).toEqual({ method: 'post' })
    expect(await saidBy(plain)).toEqual({ method: 'post', notes: ['response_mode', 'encryption'] })
  })

  test('metadata of 16,384 characters with a thousand formats is read', async () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, {}]))
    const text = JSON.stringify({ vp_formats_supported: { ...many, mso_mdoc: {} } })
    expect(await saidBy(text.padEnd(16_384))).toMatchObject({ formats: ['mso_mdoc'], dropped: ['pid_sd'] })
  })

  test('a GET leaves only that it was one', async () => {
    const { id } = await createVerification(app, key)
    await app.call('GET', `/wallet/request/${id}`)
    const [fetched] = await readEvents(app.deps, { id, tenantId })
    expect(fetched?.details).toEqual({ method: 'get' })
  })

  test.each([
    ['wallet_metadata of 16,385 characters', { wallet_metadata: '{}'.padEnd(16_385) }],
    ['wallet_metadata with a name twice', { wallet_metadata: '{"a":1,"a":2}' }],
    ['wallet_metadata that is no JSON', { wallet_metadata: '{' }],
    ['wallet_metadata that is no object', { wallet_metadata: '[]' }],
    ['wallet_metadata of 20 kB', { wallet_metadata: JSON.stringify({ a: 'x'.repeat(20_000) }) }],
    ['an empty wallet_nonce', { wallet_nonce: '' }],
    ['a wallet_nonce of 513 characters', { wallet_nonce: 'n'.repeat(513) }],
  ])('%s is 400 invalid_request', async (_, form) => {
    expect(outcome(await postFor(await createVerification(app, key), form))).toBe('400 invalid_request')
  })
})

describe('choices of the operator', () => {
  const wallet = {
    profile: 'haip',
    linkStart: 'openid4vp',
    clientIdPrefix: 'x509_hash',
    registrationCertFile: '',
    requestUriMethod: 'get',
    verifierInfoData: 'jwt',
  } as const
  const started = (choice: Partial<Config['wallet']>) => startWithTenant({ config: { wallet: { ...wallet, ...choice } } })

  const CHOICES: [what: string, choice: Partial<Config['wallet']>, check: (claims: Claims) => void][] = [
    [
      'the profile plain asks for an unencrypted answer and names no encryption',
      { profile: 'plain' },
      claims => {
        expect(claims.response_mode).toBe('direct_post')
        expect(Object.keys(claims.client_metadata)).toEqual(['vp_formats_supported'])
      },
    ],
    [
      'x509_san_dns names the host of the certificate',
      { clientIdPrefix: 'x509_san_dns' },
      claims => expect(claims.client_id).toBe('x509_san_dns:verify.example'),
    ],
  ]
  test.each(CHOICES)('%s, and an answer completes', async (_, choice, check) => {
    const own = await started(choice)
    const created = await createVerification(own.app, own.key)
    check(claimsOf((await own.app.call('GET', pathOf(created))).text))
    expect((await answerWith(own.app, await holderOf(own.app), created.wallet_uri ?? '')).status).toBe(200)
    const { body } = await own.app.call<Verification>('GET', `/v1/verifications/${created.id}`, { key: own.key })
    expect(body.status).toBe('completed')
  })

  test.each([
    ['haip-vp', 'haip-vp://authorize?client_id='],
    ['haip-vp://', 'haip-vp://?client_id='],
    ['mdoc-openid4vp://present', 'mdoc-openid4vp://present?client_id='],
    ['https://wallet.example/open', 'https://wallet.example/open?client_id='],
  ])(
    'links to wallets begin as the operator chose with %s, and the sandbox wallet answers them',
    async (linkStart, beginning) => {
      const own = await started({ linkStart })
      const { id, wallet_uri = '' } = await createVerification(own.app, own.key)
      expect(wallet_uri).toStartWith(`${beginning}x509_hash%3A`)
      expect((await answerWith(own.app, await holderOf(own.app), wallet_uri)).status).toBe(200)
      const { body } = await own.app.call<Verification>('GET', `/v1/verifications/${id}`, { key: own.key })
      expect(body.status).toBe('completed')
    },
  )

  test('an open session takes the start that is set when it is read, and the EU age app keeps its own', async () => {
    const own = await started({ linkStart: 'openid4vp' })
    const read = async (id: string) => (await own.app.call<Verification>('GET', `/v1/verifications/${id}`, { key: own.key })).body
    const { id } = await createVerification(own.app, own.key)
    own.app.deps.config.wallet.linkStart = 'eu-eaap://'
    expect((await read(id)).wallet_uri).toStartWith('eu-eaap://?client_id=')
    const { wallet_uri } = await createVerification(own.app, own.key, { template: 'eu_av_age_18' })
    expect(wallet_uri).toStartWith('av://authorize?client_id=')
  })

  test('a registration certificate is sent as verifier_info, as the JWT or in base64url, and never to the EU age app', async () => {
    const file = join(temporaryDir(), 'registration.jwt')
    writeFileSync(file, 'aaa.bbb.ccc\n')
    for (const [verifierInfoData, data] of [
      ['jwt', 'aaa.bbb.ccc'],
      ['base64url', 'YWFhLmJiYi5jY2M'],
    ] as const) {
      const own = await started({ registrationCertFile: file, verifierInfoData })
      const claims = claimsOf((await own.app.call('GET', pathOf(await createVerification(own.app, own.key)))).text)
      expect(claims.verifier_info).toEqual([{ format: 'registration_cert', data }])
      own.app.deps.config.dcApi.mode = 'signed'
      await listOrigin(own.app, own.id)
      const { body } = await ask(own.app, (await createVerification(own.app, own.key)).id)
      expect(claimsOf((body.requests[0]!.data as { request: string }).request).verifier_info).toEqual(claims.verifier_info)
      const { wallet_uri } = await createVerification(own.app, own.key, { template: 'eu_av_age_18' })
      expect(wallet_uri).not.toContain('verifier_info')
    }
  })

  test('links may ask for a POST, which the sandbox wallet follows; a GET is still answered, and the EU age app is not asked', async () => {
    const own = await started({ requestUriMethod: 'post' })
    const created = await createVerification(own.app, own.key)
    expect(created.wallet_uri).toEndWith(`${created.id}&request_uri_method=post`)
    const page = await own.app.call<{ qr_uri: string; further_uris: string[] }>('GET', `/v/${created.id}/data`)
    for (const link of [page.body.qr_uri, ...page.body.further_uris]) expect(link).toEndWith('&request_uri_method=post')
    expect((await own.app.call('GET', pathOf(created))).status).toBe(200)
    expect((await answerWith(own.app, await holderOf(own.app), created.wallet_uri ?? '')).status).toBe(200)
    const { wallet_uri } = await createVerification(own.app, own.key, { template: 'eu_av_age_18' })
    expect(wallet_uri).not.toContain('request_uri_method')
    const plain = await started({ requestUriMethod: 'get' })
    const { wallet_uri: silent } = await createVerification(plain.app, plain.key)
    expect(silent).not.toContain('request_uri_method')
  })
})
