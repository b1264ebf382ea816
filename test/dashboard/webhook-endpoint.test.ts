// The webhook endpoint, as the dashboard shows, sets and removes it.
import { afterAll, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import type {
  DeliveryDetail,
  DeliveryPage,
  TestDelivery,
  WebhookEndpoint,
  WebhookSecret,
} from '../../src/dashboard/developers/webhooks/schema.ts'
import { verifyWebhook } from '../../src/sdk/webhook.ts'
import { WebhookEvent } from '../../src/verifications/schema.ts'
import { TEST_VERIFICATION_ID } from '../../src/webhooks/delivery/test-event.ts'
import { cleanUp } from '../helpers/app.ts'
import { joinMember, outcome, setUpOwner } from '../helpers/dashboard.ts'
import { receive, startTenantFor, untilAttempted } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const MINUTES_MS = 60_000

async function place(config: { rateLimitScale?: number } = {}) {
  const receiver = receive()
  const { app, id, key } = await startTenantFor([receiver], { config })
  const boss = await setUpOwner(app)
  const pathOf = (environment: 'test' | 'live') => `/tenants/${id}/webhook-endpoint?environment=${environment}`
  return {
    app,
    receiver,
    id,
    key,
    boss,
    pathOf,
    read: async (environment: 'test' | 'live') => (await boss.get<WebhookEndpoint>(pathOf(environment))).body,
    set: (environment: 'test' | 'live', webhook_url: string | null) =>
      boss.put<WebhookEndpoint>(pathOf(environment), { webhook_url }),
  }
}

test('a webhook endpoint is set, read and removed for one environment only', async () => {
  const { receiver, read, set } = await place()
  expect(await read('test')).toEqual({ webhook_url: null })
  const answer = await set('test', receiver.url())
  expect([answer.status, answer.body]).toEqual([200, { webhook_url: receiver.url() }])
  expect([await read('test'), await read('live')]).toEqual([{ webhook_url: receiver.url() }, { webhook_url: null }])
  await set('live', null)
  expect(await read('test')).toEqual({ webhook_url: receiver.url() })
  expect((await set('test', null)).body).toEqual({ webhook_url: null })
  expect(await read('test')).toEqual({ webhook_url: null })
})

test('a forbidden address is refused with the reason, and the previous endpoint stays', async () => {
  const { receiver, read, set } = await place()
  await set('test', receiver.url())
  const refused = await set('test', 'http://10.0.0.1/hook')
  expect(outcome(refused)).toBe('422 invalid_webhook_url')
  expect(refused.text).toContain('does not lead to the public internet')
  expect(outcome(await set('test', ''))).toBe('400 invalid_request')
  expect(await read('test')).toEqual({ webhook_url: receiver.url() })
})

test('changing the endpoint needs a fresh password, and users of another tenant get 404', async () => {
  const { app, boss, pathOf, receiver, id } = await place()
  const { id: other } = await app.tenant({ name: 'Other' })
  const stranger = await joinMember(app, other, 'mia')
  const asked = await stranger.put(pathOf('test'), { webhook_url: receiver.url() })
  expect(asked.status).toBe(404)
  expect((await stranger.get(pathOf('test'))).status).toBe(404)
  app.clock.advance(20 * MINUTES_MS)
  const change = async (environment: 'test' | 'live') =>
    outcome(await boss.put(pathOf(environment), { webhook_url: receiver.url() }))
  expect([await change('live'), await change('test')]).toEqual(['403 reauthentication_required', '200'])
  app.clock.advance(20 * MINUTES_MS)
  await boss.get(pathOf('test'))
  app.clock.advance(21 * MINUTES_MS)
  expect(await change('test')).toBe('403 reauthentication_required')
  expect(id).not.toBe(other)
})

test('deliveries to an endpoint stay readable after it was removed', async () => {
  const { app, receiver, id, key, boss, set } = await place()
  await set('test', receiver.url('/hook'))
  const { verification } = await verifyWith(app, key, 'adult')
  await untilAttempted(app, verification.id, 1)
  const list = async () => (await boss.get<DeliveryPage>(`/tenants/${id}/deliveries?environment=test`)).body.data
  const [delivery] = await list()
  const detail = async () => (await boss.get<DeliveryDetail>(`/tenants/${id}/deliveries/${delivery?.id}?environment=test`)).body
  expect(delivery?.receiver).toBe(`shop.example:${receiver.port}`)
  expect((await detail()).url).toBe(receiver.url('/hook'))
  await set('test', null)
  expect((await list())[0]).not.toHaveProperty('receiver')
  const { url, attempts, message } = await detail()
  expect([url, attempts.length, message.body]).toEqual([null, 1, receiver.received[0]?.body ?? ''])
})

test('a test event is signed by its environment, is no result, and leaves no delivery', async () => {
  const { app, boss, receiver, id, set } = await place()
  const path = (environment: string) => `/tenants/${id}/webhook-endpoint/test?environment=${environment}`
  const send = (environment = 'live') => boss.post<TestDelivery>(path(environment))
  expect(outcome(await boss.post(path('live')))).toBe('404 endpoint_not_found')
  await set('live', receiver.url())
  receiver.answer(() => new Response('x'.repeat(5000), { status: 202 }))
  const { status, body } = await send()
  expect(status).toBe(200)
  expect(body).toMatchObject({ outcome: 'delivered', http_status: 202, answer: 'x'.repeat(4096), detail: null })
  const [received] = receiver.received
  const secretOf = async (environment: string) =>
    (await boss.post<WebhookSecret>(`/tenants/${id}/webhook-secret/reveal?environment=${environment}`)).body.webhook_secret
  const genuine = {
    payload: received!.body,
    header: received!.headers['x-service-signature'],
    now: Math.floor(app.clock.now() / 1000),
  }
  const event = await verifyWebhook({ ...genuine, secret: await secretOf('live') })
  expect(Value.Check(WebhookEvent, event)).toBe(true)
  expect([event.type, event.verification.id, event.verification.status, event.verification.error?.code]).toEqual([
    'verification.failed',
    TEST_VERIFICATION_ID,
    'failed',
    'test_event',
  ])
  expect(event.verification.id).not.toMatch(/^vs_[0-9A-Za-z]{22}$/)
  expect(verifyWebhook({ ...genuine, secret: await secretOf('test') })).rejects.toThrow('No signature matches')
  const log = await boss.get<DeliveryPage>(`/tenants/${id}/deliveries?environment=live`)
  expect(log.body.data).toEqual([])
  const records = (await boss.get<{ data: { action: string; details: unknown }[] }>(`/tenants/${id}/audit`)).body.data
  expect(records.filter(({ action }) => action === 'webhook.tested').map(({ details }) => details)).toMatchObject([
    { environment: 'live' },
  ])
})

test('a test event goes nowhere that a result may not go, and a few at a time', async () => {
  const { app, boss, receiver, id, set } = await place({ rateLimitScale: 1 })
  await set('test', receiver.url())
  app.deps.egress.allow = []
  const path = `/tenants/${id}/webhook-endpoint/test?environment=test`
  const refused = await boss.post<TestDelivery>(path)
  expect(refused.body).toMatchObject({ outcome: 'refused_address', http_status: null, answer: null })
  expect(refused.body.detail).toContain('does not lead to the public internet')
  expect(receiver.received).toEqual([])
  const rest = await Promise.all(Array.from({ length: 6 }, () => boss.post(path)))
  expect(rest.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429])
})
