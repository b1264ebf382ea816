// One receiver for a shop: results of sessions that name none, each environment for itself.
import { afterAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { webhookDeliveries } from '../../src/db/schema/webhooks.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { readEndpoint } from '../../src/tenants/webhook-endpoint.ts'
import { setEndpoint } from '../../src/webhooks/endpoint.ts'
import { cleanUp, createVerification, type TestApp } from '../helpers/app.ts'
import { actionsIn } from '../helpers/database.ts'
import { pair } from '../helpers/devices.ts'
import { filesContaining } from '../helpers/files.ts'
import { declined, logOf, receive, startAppFor, untilAttempted, verified } from '../helpers/receiver.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

afterAll(cleanUp)

type Options = Parameters<typeof startAppFor>[1]

async function startShop(options: Options = {}) {
  const [endpoint, other] = [receive(), receive()]
  const app = await startAppFor([endpoint, other], options)
  const { tenant, webhookSecret, webhookSecretLive } = await createTenant(app.deps, { name: 'Shop' }, 'test')
  const keys = { test: await app.key(tenant.id), live: await app.key(tenant.id, { environment: 'live' }) }
  return {
    app,
    endpoint,
    other,
    id: tenant.id,
    keys,
    secrets: { test: webhookSecret, live: webhookSecretLive },
    set: (environment: 'test' | 'live', url: string | null) =>
      setEndpoint(app.deps, { tenantId: tenant.id, environment }, url, 'test'),
  }
}

/** A session without a webhook_url that its wallet declined. */
async function ended(app: TestApp, key: string): Promise<string> {
  const id = await declined({ app, key }, undefined as unknown as string)
  // The next session of the same millisecond would be due a millisecond later.
  app.clock.advance(1)
  return id
}

const deliveriesOf = (app: TestApp, id: string) =>
  app.deps.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.verificationId, id))

test('the result of a session without a webhook_url goes to the endpoint of its environment only, signed with its secret', async () => {
  const { app, endpoint, other, keys, secrets, set } = await startShop()
  await set('test', endpoint.url('/test'))
  await set('live', other.url('/live'))
  const [ofTest, ofLive] = [await ended(app, keys.test), await ended(app, keys.live)]
  for (const id of [ofTest, ofLive]) await untilAttempted(app, id, 1)
  expect(endpoint.received.map(({ path }) => path)).toEqual(['/test'])
  expect(other.received.map(({ path }) => path)).toEqual(['/live'])
  const [one, two] = [endpoint.received[0]!, other.received[0]!]
  expect((await verified(one, secrets.test, app.clock.now())).verification.id).toBe(ofTest)
  expect((await verified(two, secrets.live, app.clock.now())).verification.id).toBe(ofLive)
})

test("the result of a till's session goes to the endpoint", async () => {
  const { app, endpoint, keys, set } = await startShop()
  await set('test', endpoint.url())
  const till = await pair(app, keys.test)
  const created = await createVerification(app, till.access_token)
  await answerWith(app, await holderOf(app), created.wallet_uri ?? '')
  await untilAttempted(app, created.id, 1)
  expect(endpoint.received).toHaveLength(1)
})

test('a webhook_url of the session replaces the endpoint, which is not shown to the merchant', async () => {
  const { app, endpoint, other, keys, set } = await startShop()
  await set('test', endpoint.url('/endpoint-path'))
  const id = await declined({ app, key: keys.test }, other.url())
  await untilAttempted(app, id, 1)
  expect(other.received).toHaveLength(1)
  expect(endpoint.received).toHaveLength(0)
  const { text } = await app.call('GET', `/v1/verifications/${await ended(app, keys.test)}`, { key: keys.test })
  expect(text).not.toContain('endpoint-path')
})

test('nothing is queued without an endpoint, and one that is set later gets no earlier results', async () => {
  const { app, endpoint, keys, set } = await startShop()
  const before = await ended(app, keys.test)
  await set('live', endpoint.url())
  const inTest = await ended(app, keys.test)
  await set('test', endpoint.url())
  const after = await ended(app, keys.test)
  await untilAttempted(app, after, 1)
  for (const id of [before, inTest]) expect(await deliveriesOf(app, id)).toEqual([])
  expect(endpoint.received).toHaveLength(1)
})

test('an endpoint that is set while a session is open gets its result', async () => {
  const { app, endpoint, keys, set } = await startShop()
  const created = await createVerification(app, keys.test)
  await set('test', endpoint.url())
  await answerWith(app, await holderOf(app), created.wallet_uri ?? '')
  await untilAttempted(app, created.id, 1)
  expect(endpoint.received).toHaveLength(1)
})

describe('a pending delivery', () => {
  const failedOnce = async () => {
    const { app, endpoint, keys, ...shop } = await startShop()
    endpoint.answer(() => new Response(null, { status: 500 }))
    await shop.set('test', endpoint.url())
    const id = await ended(app, keys.test)
    await untilAttempted(app, id, 1)
    return { ...shop, app, endpoint, id }
  }

  test('goes to the current endpoint, so a corrected one gets what the wrong one missed', async () => {
    const { app, other, set, id } = await failedOnce()
    await set('test', other.url('/mended'))
    app.clock.advance(10_000)
    await untilAttempted(app, id, 2)
    expect(other.received.map(({ path }) => path)).toEqual(['/mended'])
  })

  test('is cancelled when the endpoint was removed', async () => {
    const { app, endpoint, set, id } = await failedOnce()
    await set('test', null)
    app.clock.advance(10_000)
    await untilAttempted(app, id, 2)
    expect(logOf(app, id).delivery?.status).toBe('cancelled')
    expect(endpoint.received).toHaveLength(1)
  })
})

test.each([
  ['http://127.0.0.1/hook', 'does not lead to the public internet'],
  ['ftp://shop.example/hook', 'begin the URL with https:// or http://'],
  ['https://user:pass@shop.example/hook', 'a user name or a password'],
  ['https://localhost/hook', 'is a name for use inside one network'],
  ['nonsense', 'not a complete URL'],
])('an endpoint %s is refused with its reason, and the one before stays', async (url, reason) => {
  const { app, id, endpoint, set } = await startShop()
  await set('test', endpoint.url())
  expect(set('test', url)).rejects.toThrow(reason)
  expect(await readEndpoint(app.deps, app.deps.db, { tenantId: id, environment: 'test' })).toBe(endpoint.url())
})

test('the endpoint is in no file and in no log line in clear, and setting and removing it are on record', async () => {
  const { app, endpoint, set } = await startShop()
  await set('test', endpoint.url('/hook-token-5513'))
  await set('test', null)
  await set('test', null)
  await set('live', endpoint.url('/hook-token-5513'))
  expect(actionsIn(app).filter(action => action.startsWith('endpoint.'))).toEqual([
    'endpoint.set',
    'endpoint.removed',
    'endpoint.set',
  ])
  expect(filesContaining(app.dir, 'hook-token-5513')).toEqual([])
  expect(app.logs.join()).not.toContain('hook-token-5513')
})
