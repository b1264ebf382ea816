import { expect, test } from 'bun:test'
import { startApp } from '../helpers/app.ts'

test('a day without creations shows the whole quota and no recent days', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { status, body } = await app.call('GET', '/v1/usage', { key })
  expect(status).toBe(200)
  expect(body).toEqual({ day: '2026-03-04', verifications_created: 0, daily_quota: 10_000, remaining: 10_000, recent: [] })
})
