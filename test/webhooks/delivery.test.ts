import { afterAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Value } from '@sinclair/typebox/value'
import { createTenant } from '../../src/tenants/settings.ts'
import { WebhookEvent } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, NOON, type TestApp } from '../helpers/app.ts'
import { logOf, type Receiver, receive, startAppFor, untilAttempted, verified } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

async function shop(app: TestApp) {
  const { tenant, webhookSecret } = await createTenant(app.deps, { name: 'Shop' }, 'test')
  return { id: tenant.id, key: await app.key(tenant.id), webhookSecret }
}

/** A completed verification whose message was attempted once. */
async function sent(reply?: Parameters<typeof receive>[0], body: (receiver: Receiver) => object = () => ({})) {
  const receiver = receive(reply)
  const app = await startAppFor([receiver])
  const { key, webhookSecret } = await shop(app)
  const { verification } = await verifyWith(app, key, 'adult', { body: { webhook_url: receiver.url(), ...body(receiver) } })
  await untilAttempted(app, verification.id, 1)
  return { receiver, app, key, webhookSecret, verification }
}

describe('the message', () => {
  test('is sent when a session created with webhook_url completes or fails, and not without one', async () => {
    const receiver = receive()
    const app = await startAppFor([receiver])
    const { key } = await shop(app)
    await verifyWith(app, key, 'adult')
    const { verification: completed } = await verifyWith(app, key, 'adult', { body: { webhook_url: receiver.url() } })
    const { verification: failed } = await verifyWith(app, key, 'minor', { body: { webhook_url: receiver.url() } })
    app.clock.advance(10)
    await untilAttempted(app, completed.id, 1)
    await untilAttempted(app, failed.id, 1)
    const events = receiver.received.map(({ body }) => JSON.parse(body))
    expect(events.map(({ type, verification }) => [type, verification.id]).sort()).toEqual(
      [
        ['verification.completed', completed.id],
        ['verification.failed', failed.id],
      ].sort(),
    )
    expect(logOf(app, completed.id).delivery).toMatchObject({ status: 'delivered', attempts: 1 })
  })

  test('has the fields type, verification and sent_at, and the verification is byte for byte what GET returns', async () => {
    const more = { metadata: { order: 'Ä-17 "x"' }, purpose: 'Für Wein' }
    const { receiver, app, key, verification } = await sent(undefined, ({ url }) => ({ webhook_url: url('/a/b?c=d'), ...more }))
    const { text } = await app.call('GET', `/v1/verifications/${verification.id}`, { key })
    const [message] = receiver.received
    expect(message?.body).toBe(`{"type":"verification.completed","verification":${text},"sent_at":"2026-03-04T12:00:00.000Z"}`)
    expect(Value.Check(WebhookEvent, JSON.parse(message?.body ?? ''))).toBe(true)
    expect(message?.path).toBe('/a/b')
    expect(message?.headers).toMatchObject({ 'content-type': 'application/json', host: `shop.example:${receiver.port}` })
    expect(message?.headers['user-agent']).toMatch(/^Vidimus\/\d+\.\d+\.\d+$/)
  })

  test('carries t and one v1 over the exact raw bytes, and the three headers of Standard Webhooks', async () => {
    const { receiver, app, webhookSecret, verification } = await sent()
    const message = receiver.received[0]!
    const t = NOON / 1000
    const v1 = createHmac('sha256', webhookSecret).update(`${t}.${message.body}`).digest('hex')
    expect(message.headers['x-service-signature']).toBe(`t=${t},v1=${v1}`)
    const { id } = logOf(app, verification.id).delivery!
    const standard = createHmac('sha256', Buffer.from(webhookSecret.slice(6), 'base64'))
      .update(`${id}.${t}.${message.body}`)
      .digest('base64')
    expect(message.headers).toMatchObject({
      'webhook-id': id,
      'webhook-timestamp': String(t),
      'webhook-signature': `v1,${standard}`,
      'x-service-attempt': '1',
    })
    expect((await verified(message, webhookSecret, NOON)).verification.id).toBe(verification.id)
  })
})

describe('attempts', () => {
  test('a 2xx answer is the success signal, and nothing is sent after it', async () => {
    const { receiver, app } = await sent(() => new Response('thanks', { status: 299 }))
    app.clock.advance(100 * 3_600_000)
    await Bun.sleep(500)
    expect(receiver.received).toHaveLength(1)
  })

  test('are six by default, on the schedule, each in the log; then the delivery has failed', async () => {
    const { receiver, app, verification } = await sent(() => new Response('no', { status: 500 }))
    const SECOND = 1000
    for (const [ended, delay] of [5 * SECOND, 60 * SECOND, 600 * SECOND, 7200 * SECOND, 79_200 * SECOND].entries()) {
      const due = logOf(app, verification.id).delivery!.due_at
      const wait = due - app.clock.now()
      expect(wait).toBeGreaterThanOrEqual(0.8 * delay)
      expect(wait).toBeLessThanOrEqual(1.2 * delay)
      app.clock.set(due - 1)
      await Bun.sleep(300)
      expect(receiver.received).toHaveLength(ended + 1)
      app.clock.set(due)
      await untilAttempted(app, verification.id, ended + 2)
    }
    app.clock.advance(100 * 3_600_000)
    await Bun.sleep(300)
    expect(receiver.received).toHaveLength(6)
    const { delivery, attempts } = logOf(app, verification.id)
    expect(delivery?.status).toBe('failed')
    expect(attempts.map(({ attempt, outcome, http_status }) => [attempt, outcome, http_status])).toEqual(
      [1, 2, 3, 4, 5, 6].map(attempt => [attempt, 'http_status', 500]),
    )
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3', '4', '5', '6'])
    const times = receiver.received.map(({ headers }) => headers['webhook-timestamp'])
    expect(new Set(times).size).toBe(6)
  })
})

test('an erased verification is never sent', async () => {
  const { receiver, app, key, verification } = await sent(() => new Response(null, { status: 503 }))
  const erased = await app.call('DELETE', `/v1/verifications/${verification.id}`, { key })
  expect(erased.body).toMatchObject({ deleted: { webhook_deliveries: 1 } })
  app.clock.advance(3_600_000)
  await Bun.sleep(400)
  expect(receiver.received).toHaveLength(1)
  expect(logOf(app, verification.id).attempts).toEqual([])
})

test('a pending session has no delivery', async () => {
  const receiver = receive()
  const app = await startAppFor([receiver])
  const { key } = await shop(app)
  await createVerification(app, key, { webhook_url: receiver.url() })
  await Bun.sleep(300)
  expect(receiver.received).toEqual([])
})
