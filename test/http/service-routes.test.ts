import { expect, test } from 'bun:test'
import { createVerification, outcome, startApp, startWithTenant, until } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'

/** On PostgreSQL, whose server has the disk. */
const PROVEN_MS_MAX = 60_000

const textOf = ({ value }: { value: Uint8Array }): string => Buffer.from(value).toString()

test('GET /healthz answers 200 without touching the database', async () => {
  const app = await startApp()
  expect((await app.call('GET', '/healthz')).text).toBe('{"status":"ok"}')
})

test('GET /readyz makes a real write, at most once a second, and is 503 with the error envelope when it fails', async () => {
  const app = await startApp()
  const { clock, deps } = app
  const writtenAt = () =>
    Number(rowsOf<{ value: Uint8Array }>(app, "SELECT value FROM installation WHERE name = 'heartbeat'").map(textOf)[0])
  const { isShort } = deps.space
  expect((await app.call('GET', '/readyz')).status).toBe(200)
  expect(writtenAt()).toBe(clock.now())
  deps.space.isShort = () => true
  expect((await app.call('GET', '/readyz')).status).toBe(200)
  clock.advance(PROVEN_MS_MAX)
  expect(outcome(await app.call('GET', '/readyz'))).toBe('503 not_ready')
  deps.space.isShort = isShort
  clock.advance(1000)
  expect((await app.call('GET', '/readyz')).status).toBe(200)
  expect(writtenAt()).toBe(clock.now())
})

test('GET /metrics counts requests by route and status, creations and pending sessions, and shows no id', async () => {
  const { app, key } = await startWithTenant()
  const { id } = await createVerification(app, key)
  await app.call('GET', `/v1/verifications/${id}`, { key })
  await app.call('GET', `/v1/verifications/${id}/status`)
  await app.call('GET', '/v1/usage')
  await fetch(app.url, { redirect: 'manual' })
  const { text } = await app.call('GET', '/metrics')
  expect(text).toContain('vidimus_http_requests_total{method="GET",route="/v1/usage",status="401"} 1')
  expect(text).toContain('vidimus_http_requests_total{method="POST",route="/v1/verifications",status="201"} 1')
  expect(text).toContain('vidimus_http_requests_total{method="GET",route="/v1/verifications/:id",status="200"} 1')
  expect(text).toContain('vidimus_http_requests_total{method="GET",route="/",status="302"} 1')
  expect(text).toContain('vidimus_verifications_total{event="created",environment="test"} 1')
  expect(text).toContain('vidimus_verifications_pending 1')
  expect(text).toMatch(/vidimus_http_request_seconds_bucket\{route="\/v1\/verifications",le="\+Inf"\} 1/)
  expect(text).toMatch(/vidimus_commit_group_size_count \d+/)
  expect(text).not.toContain(id)
})

test('invented methods and paths add no metrics', async () => {
  const app = await startApp()
  for (let i = 0; i < 50; i++) await app.call('GET', `/made-up/${i}`)
  await until(async () => (await app.call('GET', '/metrics')).text.includes('{method="GET",route="none",status="404"} 50'))
})
