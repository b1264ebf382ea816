// The webhook endpoint, as the dashboard shows, sets and removes it.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { DeliveryDetail, DeliveryPage, WebhookEndpoint } from '../../src/dashboard/webhook-schema.ts'
import { cleanUp } from '../helpers/app.ts'
import { joinMember, outcome, setUpOwner } from '../helpers/dashboard.ts'
import { receive, startTenantFor, untilAttempted } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

setDefaultTimeout(60_000)

afterAll(cleanUp)

const MINUTES_MS = 60_000

async function place() {
  const receiver = receive()
  const { app, id, key } = await startTenantFor([receiver])
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
  expect(outcome(await boss.put(pathOf('test'), { webhook_url: receiver.url() }))).toBe('403 reauthentication_required')
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
  expect([url, attempts.length, message?.body]).toEqual([null, 1, receiver.received[0]?.body])
})
