// One id is followed from the HTTP request to the attempt at the receiver.
import { afterAll, describe, expect, test } from 'bun:test'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { readDeliveries } from '../../src/webhooks/browse.ts'
import { replayById } from '../../src/webhooks/replay.ts'
import { cleanUp, startApp, startWithTenant, type TestApp, until } from '../helpers/app.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import { FORM, openSession, postTo } from '../helpers/exchange.ts'
import { filesContaining } from '../helpers/files.ts'
import { receive, startTenantFor, untilAttempted } from '../helpers/receiver.ts'

afterAll(cleanUp)

const linesOf = (app: TestApp, event: string) =>
  app.logs.map(line => JSON.parse(line) as Record<string, unknown>).filter(line => line.event === event)

/** A session that its wallet declined in a request of that name. */
async function declinedAs(requestId: string) {
  const receiver = receive()
  const { app, ...shop } = await startTenantFor([receiver])
  const session = await openSession({ app, key: shop.key }, { webhook_url: receiver.url() })
  const answer = await postTo(session, (await decline(session.request)).form, { ...FORM, 'x-request-id': requestId })
  expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, requestId])
  await untilAttempted(app, session.created.id, 1)
  return { app, receiver, shop, id: session.created.id }
}

describe('the request that ended a session', () => {
  const REQUEST = '7f1c9a52-6b1e-4d0a-9a0e-3c2b1d4e5f60'

  test('is named by its delivery, by the log line of the request and by that of the attempt', async () => {
    const { app, shop } = await declinedAs(REQUEST)
    const [delivery] = await readDeliveries(app.deps, shop.id)
    expect(delivery?.request_id).toBe(REQUEST)
    const answered = () => linesOf(app, 'request').filter(line => line.request_id === REQUEST)
    // The line of a request is written after its answer, whatever its webhook does.
    await until(async () => linesOf(app, 'webhook.attempt').length > 0 && answered().length > 0)
    expect(linesOf(app, 'webhook.attempt').map(line => line.request_id)).toEqual([REQUEST])
    expect(answered().map(line => line.route)).toEqual(['/wallet/response/:sessionId'])
  })

  test('gives way to the request of a replay, but not to a command', async () => {
    const { app, shop, receiver } = await declinedAs(REQUEST)
    const [delivery] = await readDeliveries(app.deps, shop.id)
    const idNow = async () => (await readDeliveries(app.deps, shop.id))[0]?.request_id
    await replayById(app.deps, shop.id, { id: delivery?.id ?? '' }, { actor: 'command line' })
    await until(async () => receiver.received.length === 2 && linesOf(app, 'webhook.attempt').length === 2)
    expect(await idNow()).toBe(REQUEST)
    const boss = await setUpOwner(app)
    const path = `/tenants/${shop.id}/deliveries/${delivery?.id}`
    const replayed = await boss.post<{ request_id: string }>(`${path}/replay?environment=test`)
    expect(replayed.body.request_id).toBe(replayed.headers.get('x-request-id')!)
    await until(async () => receiver.received.length === 3 && linesOf(app, 'webhook.attempt').length === 3)
    expect(await idNow()).toBe(replayed.body.request_id)
    expect(linesOf(app, 'webhook.attempt').map(line => line.request_id)).toEqual([REQUEST, REQUEST, replayed.body.request_id])
    const shown = await boss.get<{ delivery: { request_id: string } }>(`${path}?environment=test`)
    expect(shown.body.delivery.request_id).toBe(replayed.body.request_id)
  })

  test('is in no file once the session is erased', async () => {
    const { app, shop, id } = await declinedAs(REQUEST)
    const isKept = () => filesContaining(app.dir, REQUEST).length > 0
    expect(isKept()).toBe(true)
    expect((await app.call('DELETE', `/v1/verifications/${id}`, { key: shop.key })).status).toBe(200)
    expect(isKept()).toBe(false)
  })
})

describe('an id that the caller gives', () => {
  const idFor = async (app: TestApp, given: string) =>
    (await app.call('GET', '/healthz', { headers: { 'x-request-id': given } })).headers.get('x-request-id')

  test('is taken when it is a UUID, a ULID or a trace id', async () => {
    const app = await startApp()
    for (const given of [
      '7f1c9a52-6b1e-4d0a-9a0e-3c2b1d4e5f60',
      '01J9ZQ4V8N2M6K7T3R5W1X0YBC',
      '4bf92f3577b34da6a3ce929d0e0e4736',
    ])
      expect(await idFor(app, given)).toBe(given)
  })

  test('is replaced when it could be a secret, an id of ours, or something to break a log with', async () => {
    const { app, key } = await startWithTenant()
    const given = [
      key,
      `vs_${'a'.repeat(22)}`,
      'VD-7K3M-9QZX',
      `req_${'a'.repeat(16)}`,
      'a'.repeat(37),
      'a'.repeat(15),
      '7f1c9a52 6b1e 4d0a',
      '{"level":"error","x":1}',
    ]
    for (const each of given) expect([each, await idFor(app, each)]).toEqual([each, expect.stringMatching(/^req_[\w-]{9,}$/)])
    await until(async () => linesOf(app, 'request').length >= given.length)
    for (const each of given) expect(app.logs.join('\n')).not.toContain(each)
  })
})
