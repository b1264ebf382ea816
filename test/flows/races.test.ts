import { expect, test } from 'bun:test'
import { verifyAudit } from '../../src/audit/verify.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, type ErrorBody, startApp, type TestApp } from '../helpers/app.ts'

const RACERS = 1000

type Usage = { verifications_created: number; remaining: number }

const usage = async (app: TestApp, key: string) => (await app.call<Usage>('GET', '/v1/usage', { key })).body

async function stored(app: TestApp, key: string): Promise<string[]> {
  const { body } = await app.call<{ data: Verification[] }>('GET', '/v1/verifications?limit=100', { key })
  return body.data.map(({ id }) => id)
}

test('1,000 parallel creations with one Idempotency-Key make one session and one charge', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const create = () =>
    app.call<Verification & ErrorBody>('POST', '/v1/verifications', {
      key,
      body: { template: 'age_over_18' },
      headers: { 'idempotency-key': 'one' },
    })
  const answers = await Promise.all(Array.from({ length: RACERS }, create))
  const created = answers.filter(({ status }) => status === 201)
  const inFlight = answers.filter(({ status, body }) => status === 409 && body.error.code === 'idempotency_key_in_flight')
  expect(created.length + inFlight.length).toBe(RACERS)
  expect(created.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
  expect(new Set(created.map(({ text }) => text)).size).toBe(1)
  expect((await create()).text).toBe(created[0]?.text ?? '')
  expect(await stored(app, key)).toEqual([created[0]?.body.id ?? ''])
  expect((await usage(app, key)).verifications_created).toBe(1)
})

test('1,000 parallel creations with one key and different bodies make one session; the others are 422', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const answers = await Promise.all(
    Array.from({ length: RACERS }, (_, i) =>
      app.call<ErrorBody>('POST', '/v1/verifications', {
        key,
        body: { template: 'age_over_18', metadata: { i: String(i) } },
        headers: { 'idempotency-key': 'one' },
      }),
    ),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status, body }) => status === 422 && body.error.code === 'idempotency_key_reused')).toHaveLength(
    RACERS - 1,
  )
  expect(await stored(app, key)).toHaveLength(1)
})

test('1,000 parallel creations against a quota of 50 make exactly 50', async () => {
  const app = await startApp()
  const { id, key, liveKey } = await app.tenant({ name: 'Shop', dailyQuota: 50 })
  const answers = await Promise.all(
    Array.from({ length: RACERS }, (_, i) =>
      app.call<Verification & ErrorBody>('POST', '/v1/verifications', {
        key: i % 2 ? key : liveKey,
        body: { template: 'age_over_18' },
      }),
    ),
  )
  const created = answers.filter(({ status }) => status === 201)
  expect(created).toHaveLength(50)
  expect(answers.filter(({ status, body }) => status === 429 && body.error.code === 'quota_exceeded')).toHaveLength(RACERS - 50)
  expect(await usage(app, key)).toMatchObject({ verifications_created: 50, remaining: 0 })
  expect([...(await stored(app, key)), ...(await stored(app, liveKey))].sort()).toEqual(created.map(({ body }) => body.id).sort())
  // Refused ones left nothing behind: neither a record nor a time that was used up.
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  await changeTenant(app.deps, id, { dailyQuota: 51 }, 'test')
  expect((await app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).status).toBe(201)
})

test('500 parallel creations have 500 ids and 500 times, and each is on the audit chain once', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const answers = await Promise.all(
    Array.from({ length: 500 }, () =>
      app.call<Verification>('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } }),
    ),
  )
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(500)
  expect(new Set(answers.map(({ body }) => body.created_at)).size).toBe(500)
  // One tenant, two keys, 500 creations.
  expect(await verifyAudit(app.deps)).toMatchObject({ count: 503, problem: undefined })
})

test('of 50 parallel erasures of one session exactly one is 200, and the others are 404', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  for (let round = 0; round < 5; round++) {
    const { id } = await createVerification(app, key)
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.call('DELETE', `/v1/verifications/${id}`, { key })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 404)])
  }
  // One tenant, two keys, five creations, five erasures.
  expect(await verifyAudit(app.deps)).toMatchObject({ count: 13, problem: undefined })
})

test('erasing while listing, reading and replaying never shows half a session', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  for (let round = 0; round < 20; round++) {
    const call = {
      key,
      body: { template: 'age_over_18', metadata: { round: String(round) } },
      headers: { 'idempotency-key': `round-${round}` },
    }
    const { body } = await app.call<Verification>('POST', '/v1/verifications', call)
    const [erased, ...others] = await Promise.all([
      app.call('DELETE', `/v1/verifications/${body.id}`, { key }),
      app.call('GET', `/v1/verifications/${body.id}`, { key }),
      app.call('GET', '/v1/verifications', { key }),
      app.call('GET', `/v1/verifications/${body.id}/status`),
      app.call('POST', '/v1/verifications', call),
    ])
    expect(erased?.status).toBe(200)
    for (const { status } of others) expect([200, 201, 404, 422]).toContain(status)
    expect((await app.call('GET', `/v1/verifications/${body.id}`, { key })).status).toBe(404)
    expect((await app.call('POST', '/v1/verifications', call)).status).toBe(422)
  }
})
