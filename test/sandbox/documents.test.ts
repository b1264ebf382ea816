// The route that issues documents to the wallet's page.
import { beforeAll, expect, test } from 'bun:test'
import { PERSONAS } from '../../src/sandbox/personas.ts'
import type { IssuedDocuments } from '../../src/sandbox/schema.ts'
import { newPrivateJwk, present, publicJwk } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, type ErrorBody, NOON, startApp, type TestApp } from '../helpers/app.ts'
import { fetchOf } from '../helpers/wallet.ts'

let app: TestApp

beforeAll(async () => {
  app = await startApp()
})

const issue = (body: unknown) => app.call<IssuedDocuments>('POST', '/sandbox/documents', { body })

test('issued documents are bound to the given key, and a test session accepts them', async () => {
  const { key } = await app.tenant()
  const deviceKey = await newPrivateJwk()
  const { status, body } = await issue({ persona: 'adult', holder_key: publicJwk(deviceKey) })
  expect([status, body.public_url, body.now]).toEqual([200, app.deps.config.publicUrl, new Date(NOON).toISOString()])
  const { id, wallet_uri } = await createVerification(app, key)
  const holder = { persona: 'adult' as const, deviceKey, credentials: body.credentials }
  const exchange = await present(wallet_uri ?? '', holder, { fetch: fetchOf(app), now: app.clock.now() })
  expect(exchange.status).toBe(200)
  expect((await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body.status).toBe('completed')
})

test('every persona gets five documents, and no response contains a private key', async () => {
  const holder_key = publicJwk(await newPrivateJwk())
  for (const persona of Object.keys(PERSONAS)) {
    const { status, text, body } = await issue({ persona, holder_key })
    expect([status, body.credentials.length]).toEqual([200, 5])
    expect(text).not.toContain('"d":')
  }
})

test('only pages of this service may read the documents', async () => {
  const holder_key = publicJwk(await newPrivateJwk())
  const { headers } = await issue({ persona: 'adult', holder_key })
  expect(headers.get('access-control-allow-origin')).toBeNull()
  expect(headers.get('cache-control')).toBe('no-store')
})

test('a body other than a persona and a public P-256 key is refused', async () => {
  const holder_key = publicJwk(await newPrivateJwk())
  const bodies = [
    {},
    { persona: 'adult' },
    { persona: 'toString', holder_key },
    { persona: 'adult', holder_key: { ...holder_key, d: holder_key.x } },
    { persona: 'adult', holder_key: { ...holder_key, x: `${holder_key.x}A` } },
    { persona: 'adult', holder_key: { ...holder_key, y: '' } },
    { persona: 'adult', holder_key: { ...holder_key, crv: 'P-384' } },
    { persona: 'adult', holder_key, now: 0 },
  ]
  for (const body of bodies) {
    const answer = await issue(body)
    expect([answer.status, (answer.body as unknown as ErrorBody).error.code]).toEqual([400, 'invalid_request'])
  }
})

test('documents are rate limited by address', async () => {
  const limited = await startApp({ rateLimitScale: 1 })
  const body = { persona: 'adult', holder_key: publicJwk(await newPrivateJwk()) }
  const answers = await Promise.all(Array.from({ length: 230 }, () => limited.call('POST', '/sandbox/documents', { body })))
  expect(answers.filter(({ status }) => status === 429).length).toBe(30)
})
