import { afterAll, describe, expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { type Answer, cleanUp, createVerification, type ErrorBody, outcome } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { pair } from '../helpers/devices.ts'
import { formOf, openSession, postTo, readOf, type Session } from '../helpers/exchange.ts'
import { receive, startTenantFor, untilAttempted } from '../helpers/receiver.ts'
import { holderOf } from '../helpers/wallet.ts'

const receiver = receive()
const { app, ...tenant } = await startTenantFor([receiver])
const holder = await holderOf(app)
afterAll(cleanUp)

type Cancelled = Answer<Verification & Partial<ErrorBody>>

const cancel = (id: string, key = tenant.key, options: object = {}): Promise<Cancelled> =>
  app.call('POST', `/v1/verifications/${id}/cancel`, { key, ...options })
const open = (body: object = {}): Promise<Session> => openSession({ app, key: tenant.key }, body)

const CANCELLED = { code: 'cancelled', message: 'The session was cancelled before a wallet answered.' }

describe('POST /v1/verifications/{id}/cancel', () => {
  test('a cancelled session is failed with the error cancelled, for every reader', async () => {
    const { id, created_at, expires_at } = await createVerification(app, tenant.key, { purpose: 'To sell you wine' })
    const { status, body } = await cancel(id)
    expect(status).toBe(200)
    const expected = { id, status: 'failed', template: 'age_over_18', error: CANCELLED, purpose: 'To sell you wine' }
    expect(body).toEqual({ ...expected, created_at, expires_at } as typeof body)
    expect((await app.call('GET', `/v1/verifications/${id}`, { key: tenant.key })).body).toEqual(body)
    expect((await app.call('GET', `/v1/verifications/${id}/status`)).body).toEqual({ id, status: 'failed' })
    const list = await app.call<{ data: Verification[] }>('GET', '/v1/verifications?limit=1', { key: tenant.key })
    expect(list.body.data).toEqual([body])
    const hosted = await app.call<{ status: string; reason: string }>('GET', `/v/${id}/data`)
    expect([hosted.body.status, hosted.body.reason]).toEqual(['failed', 'cancelled'])
  })

  test('a cancellation is on the audit chain under the name of the key, is counted, and ends the streams of the session', async () => {
    const { id } = await createVerification(app, tenant.key)
    const metric = async (name: string) =>
      Number((await app.deps.metrics.render()).match(new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\d+)`, 'm'))?.[1] ?? 0)
    const [failed, code] = [
      'vidimus_verifications_total{event="failed",environment="test"}',
      'vidimus_verification_failures_total{code="cancelled",environment="test"}',
    ]
    const before = [await metric(failed), await metric(code)]
    const events = await fetch(`${app.url}/v1/verifications/${id}/events`)
    await cancel(id)
    expect(await events.text()).toContain('"status":"failed"')
    expect([await metric(failed), await metric(code)]).toEqual(before.map(count => count + 1))
    await linkEntries(app.deps)
    const [record] = rowsOf<{ action: string; actor: string }>(
      app,
      'SELECT action, actor FROM audit_records WHERE subject = ? ORDER BY seq DESC',
      app.deps.audit.subjectOf(id),
    )
    expect(record).toEqual({ action: 'verification.failed', actor: tenant.key.slice(0, 12) })
  })

  test('a cancellation sends the webhook of a failure, once', async () => {
    const { id } = await createVerification(app, tenant.key, { webhook_url: receiver.url('/cancelled') })
    await cancel(id)
    await cancel(id)
    app.clock.advance(1000)
    await untilAttempted(app, id, 1)
    const received = receiver.received.filter(({ path }) => path === '/cancelled')
    const { type, verification } = JSON.parse(received[0]?.body ?? '')
    expect([type, verification.id, verification.error]).toEqual(['verification.failed', id, CANCELLED])
    expect(rowsOf(app, 'SELECT id FROM webhook_deliveries WHERE verification_id = ?', id)).toHaveLength(1)
  })

  test('a repeated cancellation gets the same response and changes nothing', async () => {
    const { id } = await createVerification(app, tenant.key)
    const first = await cancel(id)
    const second = await cancel(id)
    expect([second.status, second.text]).toEqual([200, first.text])
    await linkEntries(app.deps)
    const records = rowsOf(app, 'SELECT seq FROM audit_records WHERE subject = ?', app.deps.audit.subjectOf(id))
    expect(records).toHaveLength(2)
  })

  test('a cancellation takes no body or an empty object, and refuses any other', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await createVerification(app, tenant.key)).id))
    const [none, empty, chunked, extra, text] = await Promise.all([
      cancel(ids[0]!),
      cancel(ids[1]!, tenant.key, { body: {} }),
      cancel(ids[2]!, tenant.key, { raw: new ReadableStream({ start: controller => controller.close() }) }),
      cancel(ids[3]!, tenant.key, { body: { reason: 'x' } }),
      cancel(ids[4]!, tenant.key, { raw: 'x', headers: { 'content-type': 'text/plain' } }),
    ])
    expect([none, empty, chunked].map(each => each?.status)).toEqual([200, 200, 200])
    expect([extra, text].map(each => outcome(each!))).toEqual(['400 invalid_request', '400 invalid_request'])
  })

  test('a cancellation needs the scope verifications:create', async () => {
    const { id } = await createVerification(app, tenant.key)
    const reader = await app.key(tenant.id, { scopes: ['verifications:read'] })
    expect(outcome(await cancel(id, reader))).toBe('403 insufficient_scope')
    const creator = await app.key(tenant.id, { scopes: ['verifications:create'] })
    expect((await cancel(id, creator)).status).toBe(200)
  })

  test("a cancellation is 404 for an unknown session, another tenant's, another environment's and another device's", async () => {
    const { id } = await createVerification(app, tenant.key)
    const other = await app.tenant()
    const till = await pair(app, tenant.key)
    for (const key of [other.key, tenant.liveKey, till.access_token])
      expect(outcome(await cancel(id, key))).toBe('404 session_not_found')
    expect(outcome(await cancel('vs_0000000000000000000000'))).toBe('404 session_not_found')
    expect((await app.call<Verification>('GET', `/v1/verifications/${id}`, { key: tenant.key })).body.status).toBe('pending')
  })

  test('a device can cancel a session that it created', async () => {
    const till = await pair(app, tenant.key)
    const { id } = await createVerification(app, till.access_token)
    const { status, body } = await cancel(id, till.access_token)
    expect([status, body.error]).toEqual([200, CANCELLED])
  })

  test('a cancellation is 409 after any answer of a wallet, and 410 from expires_at on', async () => {
    const [completed, declined] = [await open(), await open()]
    await postTo(completed, await formOf(completed, holder))
    await postTo(declined, (await decline(declined.request)).form)
    for (const session of [completed, declined]) {
      const before = await readOf(session)
      expect(outcome(await cancel(session.created.id))).toBe('409 session_already_responded')
      expect(await readOf(session)).toEqual(before)
    }
    const late = await createVerification(app, tenant.key, { ttl_seconds: 60 })
    app.clock.set(Date.parse(late.expires_at))
    expect(outcome(await cancel(late.id))).toBe('410 session_expired')
  })

  test('a wallet gets 410 for request and answer of a cancelled session, whose response key is deleted', async () => {
    const session = await open()
    const form = await formOf(session, holder)
    const { id } = session.created
    await cancel(id)
    const answered = await postTo(session, form)
    expect(outcome(answered)).toBe('410 session_expired')
    expect(answered.body.error?.message).toContain('cancelled')
    expect((await app.call('GET', `/wallet/request/${id}`)).status).toBe(410)
    expect((await readOf(session)).error).toEqual(CANCELLED)
    expect(rowsOf(app, 'SELECT sealed_response_key AS kept FROM verification_sessions WHERE id = ?', id)).toEqual([
      { kept: null },
    ])
  })

  test('of 50 cancellations, 50 answers and the deadline at once, exactly one ends the session', async () => {
    const seen = new Set<string>()
    for (const turns of [0, 0, 3, 10, 30, 100, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]) {
      const session = await open({ ttl_seconds: 60, webhook_url: receiver.url('/race') })
      const form = await formOf(session, holder)
      const { id, expires_at } = session.created
      app.clock.set(Date.parse(expires_at) - 1)
      const isAnsweredFirst = seen.has('cancelled')
      const answers: Promise<Answer>[] = []
      const cancellations: Promise<Answer>[] = []
      for (let i = 0; i < 50; i++) {
        if (isAnsweredFirst) answers.push(postTo(session, form))
        cancellations.push(cancel(id))
        if (!isAnsweredFirst) answers.push(postTo(session, form))
      }
      let isOver = false
      void Promise.race([...answers, ...cancellations]).then(() => {
        isOver = true
      })
      for (let turn = 0; turn < turns && !isOver; turn++) await new Promise(resolve => setImmediate(resolve))
      app.clock.advance(1)
      const [posted, stopped] = [await Promise.all(answers), await Promise.all(cancellations)]
      const count = (each: Answer[], status: number) => each.filter(answer => answer.status === status).length
      const { status, error } = await readOf(session)
      const end = error?.code ?? status
      seen.add(end)
      expect([end, count(posted, 200), count(stopped, 200)]).toEqual([
        end,
        end === 'completed' ? 1 : 0,
        end === 'cancelled' ? 50 : 0,
      ])
      await linkEntries(app.deps)
      const records = rowsOf(app, 'SELECT seq FROM audit_records WHERE subject = ?', app.deps.audit.subjectOf(id))
      const owed = rowsOf(app, 'SELECT id FROM webhook_deliveries WHERE verification_id = ?', id)
      expect([end, records.length, owed.length]).toEqual([end, end === 'expired' ? 1 : 2, end === 'expired' ? 0 : 1])
    }
    expect(seen.size).toBeGreaterThan(1)
  })
})
