import { expect, test } from 'bun:test'
import { type ErrorBody, startApp } from '../helpers/app.ts'
import { words } from '../helpers/words.ts'

const SCALE = 0.01 // page: 10 at once, probe: 1

const PAGES = words(`
  /nowhere /healthz/ /docs /docs/start /docs/api /docs/search.json /docs/api/try /docs/reference.js /docs/reference.css /openapi.json /sandbox /dashboard /till
  /till/manifest.webmanifest /v/vs_x /assets/none.js /
`)
test.each(PAGES)('GET %s counts against the page budget, and is 429 with Retry-After beyond it', async path => {
  const app = await startApp({ rateLimitScale: SCALE })
  const statuses: number[] = []
  for (let i = 0; i < 10; i++) statuses.push((await app.call('GET', path)).status)
  expect(statuses).not.toContain(429)
  const { status, body, headers } = await app.call<ErrorBody>('GET', path)
  expect([status, body.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limit_exceeded', '1'])
  app.clock.advance(1000)
  expect((await app.call('GET', path)).status).not.toBe(429)
})

test('a wrong method counts against the page budget', async () => {
  const app = await startApp({ rateLimitScale: SCALE })
  for (let i = 0; i < 10; i++) expect((await app.call('POST', '/healthz')).status).toBe(405)
  expect((await app.call('POST', '/healthz')).status).toBe(429)
})

test('/readyz and /metrics share a budget; /healthz has none', async () => {
  const app = await startApp({ rateLimitScale: SCALE })
  for (let i = 0; i < 11; i++) await app.call('GET', '/nowhere')
  expect((await app.call('GET', '/readyz')).status).toBe(200)
  expect((await app.call('GET', '/metrics')).status).toBe(429)
  for (let i = 0; i < 50; i++) expect((await app.call('GET', '/healthz')).status).toBe(200)
})
