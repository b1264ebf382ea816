// The delivery log: the exact bytes that were sent, and replays.
import { afterAll, describe, expect, test } from 'bun:test'
import type {
  DeliveryDetail,
  DeliveryPage,
  DeliverySummary,
  ReplayedDeliveries,
} from '../../src/dashboard/developers/webhooks/schema.ts'
import type { Overview } from '../../src/dashboard/overview/schema.ts'
import type { AuditRecord } from '../../src/dashboard/settings/audit/schema.ts'
import type { VerificationDetail } from '../../src/dashboard/verifications/schema.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, type TestApp, until } from '../helpers/app.ts'
import { type Browser, joinMember, outcome, setUpOwner, startOwned } from '../helpers/dashboard.ts'
import { editRows } from '../helpers/database.ts'
import { logOf, type Receiver, receive, startTenantFor, untilAttempted } from '../helpers/receiver.ts'
import { answerWith, holderOf, verifyWith } from '../helpers/wallet.ts'
import { words } from '../helpers/words.ts'

afterAll(cleanUp)

const DAY_MS = 86_400_000

type Place = { app: TestApp; boss: Browser; receiver: Receiver; shop: Awaited<ReturnType<TestApp['tenant']>>; at: string }

async function place({ answer = 204, resolve }: { answer?: number; resolve?: () => Promise<string[]> } = {}): Promise<Place> {
  const receiver = receive(() => new Response(answer === 204 ? null : 'no, thanks', { status: answer }))
  const { app, ...shop } = await startTenantFor([receiver], resolve && { resolve })
  return { app, receiver, shop, boss: await setUpOwner(app), at: `/tenants/${shop.id}` }
}

type Sending = { persona?: PersonaId; key?: string; url?: string; template?: string }

/** A verification with one delivered webhook. */
async function send({ app, shop, receiver }: Place, { persona = 'adult', key = shop.key, url, template }: Sending = {}) {
  const body = { webhook_url: url ?? receiver.url(), ...(template && { template }) }
  // Verifications of a tenant are never of one millisecond.
  app.clock.advance(10)
  const { verification } = await verifyWith(app, key, persona, { body })
  await untilAttempted(app, verification.id, 1)
  return { verification, id: logOf(app, verification.id).delivery?.id ?? '' }
}

const pageOf = async ({ boss, at }: Place, query: string) => (await boss.get<DeliveryPage>(`${at}/deliveries?${query}`)).body

const detailOf = ({ boss, at }: Place, id: string, environment = 'test') =>
  boss.get<DeliveryDetail>(`${at}/deliveries/${id}?environment=${environment}`)

const replay = <Body = DeliverySummary>({ boss, at }: Place, id: string, environment = 'test') =>
  boss.post<Body>(`${at}/deliveries/${id}/replay?environment=${environment}`)

const recordsOf = async ({ boss, at }: Place, action: string) =>
  (await boss.get<{ data: AuditRecord[] }>(`${at}/audit?limit=100`)).body.data.filter(each => each.action === action)

/** More deliveries of the same verification, three per millisecond. */
function insertMany({ app, shop }: Place, verificationId: string, { status, count }: { status: string; count: number }): void {
  const now = app.clock.now()
  const rows = Array.from({ length: count }, (_, i) => {
    const createdAt = now + 1 + Math.floor(i / 3)
    return `('whd_${String(i).padStart(22, '0')}', '${shop.id}', '${verificationId}', 'verification.completed', '${status}', 1, ${now}, ${createdAt}, '', 'test')`
  })
  const into =
    'INSERT INTO webhook_deliveries (id, tenant_id, verification_id, type, status, attempts, due_at, created_at, receiver, environment)'
  editRows(app, `${into} VALUES ${rows.join(', ')}`)
}

describe('the log', () => {
  test('the log lists deliveries of one environment, newest first, by status and by verification', async () => {
    const here = await place()
    const good = await send(here)
    here.app.clock.advance(1000)
    here.receiver.answer(() => new Response(null, { status: 410 }))
    const bad = await send(here, { persona: 'minor' })
    const live = await send(here, { key: here.shop.liveKey })
    const { data, next_before } = await pageOf(here, 'environment=test')
    const receiver = `shop.example:${here.receiver.port}`
    expect(next_before).toBeNull()
    const common = { attempts: 1, receiver, request_id: expect.stringMatching(/^req_/) }
    const [badAt, goodAt] = ['2026-03-04T12:00:01.020Z', '2026-03-04T12:00:00.010Z']
    expect(data).toEqual([
      {
        ...common,
        ...{ id: bad.id, verification_id: bad.verification.id, type: 'verification.failed', status: 'failed' },
        last_attempt: { attempt: 1, at: badAt, outcome: 'gone', http_status: 410 },
        created_at: badAt,
      },
      {
        ...common,
        ...{ id: good.id, verification_id: good.verification.id, type: 'verification.completed', status: 'delivered' },
        last_attempt: { attempt: 1, at: goodAt, outcome: 'delivered', http_status: 204 },
        created_at: goodAt,
      },
    ] as typeof data)
    const ids = async (query: string) => (await pageOf(here, query)).data.map(({ id }) => id)
    expect(await ids('environment=live')).toEqual([live.id])
    expect(await ids('environment=test&status=failed')).toEqual([bad.id])
    expect(await ids('environment=test&status=pending')).toEqual([])
    expect(await ids(`environment=test&verification=${good.verification.id}`)).toEqual([good.id])
    expect(await ids(`environment=live&verification=${good.verification.id}`)).toEqual([])
    for (const query of [
      '',
      ...words('environment=none environment=test&before=x environment=test&limit=101 environment=test&x=1'),
    ])
      expect(outcome(await here.boss.get(`${here.at}/deliveries?${query}`))).toBe('400 invalid_request')
  })

  test('the log’s pages skip and repeat nothing, also within one millisecond', async () => {
    const here = await place()
    const made = await Promise.all(
      Array.from({ length: 5 }, () => createVerification(here.app, here.shop.key, { webhook_url: here.receiver.url() })),
    )
    here.app.clock.advance(10)
    for (const { wallet_uri } of made) await answerWith(here.app, await holderOf(here.app), wallet_uri ?? '')
    for (const { id } of made) await untilAttempted(here.app, id, 1)
    const sent = made.map(({ id }) => logOf(here.app, id).delivery?.id ?? '')
    const seen: string[] = []
    let query = 'environment=test&limit=2'
    for (let pages = 0; pages < 3; pages++) {
      const { data, next_before } = await pageOf(here, query)
      seen.push(...data.map(({ id }) => id))
      query = `environment=test&limit=2&before=${next_before}`
      expect([pages, data.length, next_before === null]).toEqual([pages, pages < 2 ? 2 : 1, pages === 2])
    }
    expect(seen.toSorted()).toEqual(sent.toSorted())
    expect(new Set((await pageOf(here, 'environment=test')).data.map(({ created_at }) => created_at)).size).toBe(1)
  })

  test('a page of the log looks at a thousand deliveries, so a rare one is found after an empty page', async () => {
    const here = await place({ answer: 410 })
    const { id, verification } = await send(here)
    insertMany(here, verification.id, { status: 'delivered', count: 1500 })
    const first = await pageOf(here, 'environment=test&status=failed')
    expect([first.data, typeof first.next_before]).toEqual([[], 'string'])
    const second = await pageOf(here, `environment=test&status=failed&before=${first.next_before}`)
    expect(second).toMatchObject({ data: [{ id }], next_before: null })
  })

  test('a verification shows its deliveries with each attempt’s time and outcome, without the receivers’ responses', async () => {
    const here = await place({ answer: 500 })
    const { verification, id } = await send(here)
    here.app.clock.set(logOf(here.app, verification.id).delivery!.due_at)
    here.receiver.answer(() => new Response('taken'))
    await untilAttempted(here.app, verification.id, 2)
    const path = `${here.at}/verifications/${verification.id}?environment=test`
    const { body, text } = await here.boss.get<VerificationDetail>(path)
    const second = { attempt: 2, at: expect.any(String), outcome: 'delivered' as const, http_status: 200 }
    const { log, ...rest } = body.deliveries[0]!
    expect(body.deliveries).toHaveLength(1)
    expect(log).toEqual([{ attempt: 1, at: '2026-03-04T12:00:00.010Z', outcome: 'http_status', http_status: 500 }, second])
    expect(rest).toMatchObject({ id, status: 'delivered', attempts: 2, last_attempt: second })
    for (const answer of ['no, thanks', 'taken']) expect(text).not.toContain(answer)
    const { verification: silent } = await verifyWith(here.app, here.shop.key, 'adult')
    const without = await here.boss.get<VerificationDetail>(`${here.at}/verifications/${silent.id}?environment=test`)
    expect(without.body.deliveries).toEqual([])
  })
})

describe('a delivery', () => {
  test('a delivery sent with a portrait is shown without signatures once the portrait is gone', async () => {
    const here = await place({ answer: 200 })
    const { id } = await send(here, { template: 'age_over_18_photo' })
    const received = here.receiver.received[0]!
    const before = (await detailOf(here, id)).body.message
    expect([before?.body, before?.portrait_gone]).toEqual([received.body, false])
    expect(before?.headers).toHaveProperty('x-service-signature', received.headers['x-service-signature'])
    here.app.clock.advance(15 * 60_000)
    const after = (await detailOf(here, id)).body.message
    expect([after?.body.includes('picture'), after?.portrait_gone, after?.secret_gone]).toEqual([false, true, false])
    expect(Object.keys(after?.headers ?? {}).filter(name => name.includes('signature'))).toEqual([])
    // A refusal presents nothing, so no portrait is missing.
    const declined = await send(here, { template: 'age_over_18_photo', persona: 'declines' })
    const told = (await detailOf(here, declined.id)).body.message
    expect([told?.portrait_gone, told?.headers]).toEqual([
      false,
      expect.objectContaining({ 'x-service-signature': expect.any(String) }),
    ])
  })

  test('a delivery shows its URL, every attempt with its response, and the exact bytes sent last', async () => {
    const here = await place({ answer: 503 })
    const { verification, id } = await send(here, { template: 'identity_basic', url: here.receiver.url('/a/b?c=d') })
    here.app.clock.set(logOf(here.app, verification.id).delivery!.due_at)
    here.receiver.answer(() => new Response('ok Ä'))
    await untilAttempted(here.app, verification.id, 2)
    const at = new Date(here.app.clock.now()).toISOString()
    here.app.clock.advance(60_000)
    const { delivery, url, attempts, message } = (await detailOf(here, id)).body
    expect(delivery).toMatchObject({ id, status: 'delivered', attempts: 2, verification_id: verification.id })
    expect(url).toBe(here.receiver.url('/a/b?c=d'))
    const called = { duration_ms: expect.any(Number), address: '127.0.0.1', detail: null }
    expect(attempts).toEqual([
      { ...called, attempt: 1, at: '2026-03-04T12:00:00.010Z', outcome: 'http_status', http_status: 503, answer: 'no, thanks' },
      { ...called, attempt: 2, at, outcome: 'delivered', http_status: 200, answer: 'ok Ä' },
    ])
    const received = here.receiver.received[1]!
    expect(message).toMatchObject({ attempt: 2, at, secret_gone: false })
    expect(Buffer.from(message?.body ?? '').equals(Buffer.from(received.body))).toBe(true)
    expect(Object.keys(message?.headers ?? {}).toSorted()).toEqual(
      words('content-type x-service-signature x-service-attempt webhook-id webhook-timestamp webhook-signature').toSorted(),
    )
    expect(received.headers).toMatchObject(message?.headers ?? {})
  })

  test('a delivery that has called nobody yet shows its attempts, and the event as it would be sent now', async () => {
    const here = await place({ resolve: async () => [] })
    const { id } = await send(here)
    const { attempts, message } = (await detailOf(here, id)).body
    expect(attempts).toMatchObject([{ outcome: 'dns_failed', http_status: null, address: null, answer: null }])
    expect(attempts[0]?.detail).not.toBe('')
    expect(message).toMatchObject({ attempt: null, headers: {} })
  })

  test('showing a delivery leaves an audit record, one per reader in ten minutes', async () => {
    const here = await place()
    const mia = await joinMember(here.app, here.shop.id, 'mia')
    const { id, verification } = await send(here)
    const declined = await send(here, { persona: 'declines' })
    for (let i = 0; i < 2; i++) expect((await detailOf(here, id)).status).toBe(200)
    expect((await detailOf(here, declined.id)).status).toBe(200)
    expect((await recordsOf(here, 'verification.read')).map(({ actor }) => actor)).toEqual(['dashboard:olivia'])
    await detailOf({ ...here, boss: mia }, id)
    here.app.clock.advance(10 * 60_000)
    await detailOf(here, id)
    const readings = await recordsOf(here, 'verification.read')
    expect(readings.map(({ actor }) => actor)).toEqual(['dashboard:olivia', 'dashboard:mia', 'dashboard:olivia'])
    expect(readings[0]?.details).toMatchObject({ id: verification.id, environment: 'test' })
    const seen = await here.boss.get<VerificationDetail>(`${here.at}/verifications/${verification.id}?environment=test`)
    expect(seen.body.timeline.filter(({ event }) => event === 'claims_read')).toHaveLength(3)
    expect(await recordsOf(here, 'verification.read')).toHaveLength(3)
  })

  test('a delivery of another environment, of an erased verification or unknown is 404', async () => {
    const here = await place({ answer: 410 })
    const { id, verification } = await send(here)
    for (const [which, environment] of [
      [id, 'live'],
      ['whd_none', 'test'],
    ] as const) {
      expect(outcome(await detailOf(here, which, environment))).toBe('404 delivery_not_found')
      expect(outcome(await replay(here, which, environment))).toBe('404 delivery_not_found')
    }
    await here.boss.delete(`${here.at}/verifications/${verification.id}?environment=test`)
    expect(outcome(await detailOf(here, id))).toBe('404 delivery_not_found')
    expect(outcome(await replay(here, id))).toBe('404 delivery_not_found')
    expect((await pageOf(here, 'environment=test')).data).toEqual([])
    expect((await here.boss.get<Overview>(`${here.at}/overview?environment=test`)).text).not.toContain('webhook_failing')
    expect(here.receiver.received).toHaveLength(1)
  })

  test('a viewer sees the event and its attempts without claims, answers and the path of the receiver, and leaves no record', async () => {
    const here = await place({ answer: 410 })
    here.receiver.answer(() => new Response('kept for the shop', { status: 410 }))
    const { id } = await send(here)
    const vera = await joinMember(here.app, here.shop.id, 'vera', 'viewer')
    const { status, body, text } = await vera.get<DeliveryDetail>(`${here.at}/deliveries/${id}?environment=test`)
    expect([status, body.message.attempt, body.message.headers]).toEqual([200, null, {}])
    expect(JSON.parse(body.message.body)).toMatchObject({ type: 'verification.completed', verification: { status: 'completed' } })
    expect(body.attempts).toMatchObject([{ outcome: 'gone', http_status: 410, answer: null, address: null }])
    for (const hidden of ['claims', 'credentials', 'kept for the shop', 'signature', `${new URL(here.receiver.url()).pathname}"`])
      expect([hidden, text.includes(hidden)]).toEqual([hidden, false])
    expect(await recordsOf(here, 'verification.read')).toEqual([])
  })

  test('a delivery under way is shown as under_way, and a replay is refused', async () => {
    const here = await place()
    const gate = Promise.withResolvers<void>()
    here.receiver.answer(async () => {
      await gate.promise
      return new Response(null, { status: 204 })
    })
    const { verification } = await verifyWith(here.app, here.shop.key, 'adult', { body: { webhook_url: here.receiver.url() } })
    await until(async () => here.receiver.received.length === 1)
    const { id } = logOf(here.app, verification.id).delivery!
    const { delivery, message } = (await detailOf(here, id)).body
    expect(delivery).toMatchObject({ status: 'pending', attempts: 1, last_attempt: { attempt: 1, outcome: 'under_way' } })
    // Nothing is known to be sent: the event is shown as it would be sent now, without signatures.
    expect(message).toMatchObject({ attempt: null, headers: {} })
    expect(JSON.parse(message.body)).toMatchObject({ type: 'verification.completed', verification: { id: verification.id } })
    expect(outcome(await replay(here, id))).toBe('409 delivery_under_way')
    gate.resolve()
    await untilAttempted(here.app, verification.id, 1)
    expect((await detailOf(here, id)).body.delivery.last_attempt).toMatchObject({ outcome: 'delivered', http_status: 204 })
    expect(here.receiver.received).toHaveLength(1)
  })
})

describe('a replay', () => {
  test('a replay sends a delivery again, however it ended, under its own id and from the first attempt on, and is on record', async () => {
    const here = await place()
    const { id, verification } = await send(here)
    here.app.clock.advance(5000)
    const answer = await replay(here, id)
    expect(answer).toMatchObject({ status: 200, body: { id, status: 'pending', next_attempt_at: '2026-03-04T12:00:05.010Z' } })
    await until(async () => here.receiver.received.length === 2)
    await untilAttempted(here.app, verification.id, 1)
    const [first, again] = here.receiver.received
    expect([again?.headers['webhook-id'], again?.headers['x-service-attempt']]).toEqual([id, '1'])
    expect(JSON.parse(again!.body)).toEqual({ ...JSON.parse(first!.body), sent_at: '2026-03-04T12:00:05.010Z' })
    const { delivery, attempts, message } = (await detailOf(here, id)).body
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 2 })
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 1])
    expect(message).toMatchObject({
      body: again?.body,
      headers: { 'x-service-signature': again?.headers['x-service-signature'] },
    })
    expect(await recordsOf(here, 'webhook.replayed')).toMatchObject([{ actor: 'dashboard:olivia', details: { count: 1, id } }])
  })

  test('a replay of all failed deliveries covers one environment, and no delivered or pending ones', async () => {
    const here = await place()
    await send(here)
    here.receiver.answer(() => new Response(null, { status: 500 }))
    const waiting = await send(here)
    here.receiver.answer(() => new Response(null, { status: 410 }))
    const failed = [await send(here), await send(here)]
    const live = await send(here, { key: here.shop.liveKey })
    here.receiver.answer(() => new Response())
    const replayFailed = () => here.boss.post<ReplayedDeliveries>(`${here.at}/deliveries/replay-failed?environment=test`)
    expect((await replayFailed()).body).toEqual({ replayed: 2, has_more: false })
    await until(async () => here.receiver.received.length === 7)
    for (const { verification } of failed) await untilAttempted(here.app, verification.id, 1)
    const again = here.receiver.received.slice(5).map(({ headers }) => headers['webhook-id'])
    expect(again.toSorted()).toEqual(failed.map(({ id }) => id).toSorted())
    expect((await detailOf(here, live.id, 'live')).body.delivery).toMatchObject({ status: 'failed', attempts: 1 })
    expect((await detailOf(here, waiting.id)).body.delivery).toMatchObject({ status: 'pending', attempts: 1 })
    expect((await replayFailed()).body).toEqual({ replayed: 0, has_more: false })
    expect(await recordsOf(here, 'webhook.replayed')).toMatchObject([{ details: { count: 2, environment: 'test' } }])
  })
})

test('a replay of very many failed deliveries is done in parts, and returns has_more', async () => {
  const here = await place()
  const { verification } = await send(here)
  insertMany(here, verification.id, { status: 'failed', count: 1001 })
  const replayFailed = () => here.boss.post<ReplayedDeliveries>(`${here.at}/deliveries/replay-failed?environment=test`)
  expect((await replayFailed()).body).toEqual({ replayed: 1000, has_more: true })
  expect((await replayFailed()).body).toEqual({ replayed: 1, has_more: false })
  await here.app.stop()
})

describe('a test event', () => {
  test('a test event is the message of a real test session that the sandbox wallet answered', async () => {
    const here = await place()
    const body = { template: 'age_over_18', webhook_url: here.receiver.url() }
    const made = (await here.boss.post<Verification>(`${here.at}/verifications`, body)).body
    await answerWith(here.app, await holderOf(here.app), made.wallet_uri ?? '')
    await untilAttempted(here.app, made.id, 1)
    const { data } = await pageOf(here, `environment=test&verification=${made.id}`)
    expect(data).toMatchObject([{ type: 'verification.completed', status: 'delivered' }])
    expect((await detailOf(here, data[0]!.id)).body.message?.body).toBe(here.receiver.received[0]!.body)
  })

  test('a test event to a forbidden address is refused', async () => {
    const { app, boss, ...shop } = await startOwned({ resolve: async () => ['10.0.0.7'] })
    for (const webhook_url of words(
      'http://127.0.0.1:9/hook http://localhost/hook https://shop.example/hook ftp://shop.example',
    )) {
      const answer = await boss.post(`/tenants/${shop.id}/verifications`, { template: 'age_over_18', webhook_url })
      expect([webhook_url, outcome(answer)]).toEqual([webhook_url, '422 invalid_webhook_url'])
    }
    const answer = await boss.post(`/tenants/${shop.id}/verifications`, { template: 'age_over_18', webhook_url: 'no url' })
    expect(outcome(answer)).toBe('400 invalid_request')
  })
})

describe('a receiver that fails', () => {
  const failing = async ({ boss, at }: Place, environment = 'test') =>
    (await boss.get<Overview>(`${at}/overview?environment=${environment}`)).body.attention.filter(
      ({ code }) => code === 'webhook_failing',
    )

  test('a failing receiver is shown per environment, with the numbers of failed and waiting deliveries and the newest', async () => {
    const here = await place()
    await send(here)
    expect(await failing(here)).toEqual([])
    here.receiver.answer(() => new Response(null, { status: 500 }))
    await send(here)
    here.app.clock.advance(1000)
    const other = await send(here, { url: here.receiver.url('/x', 'other.example') })
    here.receiver.answer(() => new Response(null, { status: 410 }))
    const gone = await send(here)
    const newest = {
      code: 'webhook_failing',
      origin: `http://shop.example:${here.receiver.port}`,
      failed: 1,
      waiting: 1,
      newest_id: gone.id,
    }
    expect(await failing(here)).toHaveLength(2)
    expect(await failing(here)).toContainEqual(newest as never)
    expect(await failing(here)).toContainEqual({
      ...newest,
      origin: `http://other.example:${here.receiver.port}`,
      failed: 0,
      waiting: 1,
      newest_id: other.id,
    } as never)
    expect(await failing(here, 'live')).toEqual([])
  })

  test('a failing receiver is shown until it takes its deliveries, or for a day after it failed for good', async () => {
    const here = await place({ answer: 410 })
    const { verification, id } = await send(here)
    here.app.clock.advance(DAY_MS)
    await here.boss.logIn('olivia')
    expect(await failing(here)).toMatchObject([{ failed: 1, newest_id: id }])
    here.app.clock.advance(1)
    expect(await failing(here)).toEqual([])
    await replay(here, id)
    await untilAttempted(here.app, verification.id, 1)
    expect(await failing(here)).toMatchObject([{ failed: 1 }])
    here.receiver.answer(() => new Response())
    await replay(here, id)
    await until(async () => here.receiver.received.length === 3)
    await untilAttempted(here.app, verification.id, 1)
    expect(await failing(here)).toEqual([])
  })
})

test('claims, receivers’ responses and signatures are in no log line', async () => {
  const here = await place()
  here.receiver.answer(() => new Response('private words of a receiver'))
  const { id, verification } = await send(here, { template: 'identity_basic' })
  const { message } = (await detailOf(here, id)).body
  const name = String(verification.claims?.family_name)
  expect(message?.body).toContain(name)
  await replay(here, id)
  await here.app.stop()
  const told = [name, 'private words', message?.headers['x-service-signature'] ?? '', message?.headers['webhook-signature'] ?? '']
  for (const text of told) {
    expect(text.length).toBeGreaterThan(3)
    expect([text, here.app.logs.filter(line => line.includes(text))]).toEqual([text, []])
  }
})
