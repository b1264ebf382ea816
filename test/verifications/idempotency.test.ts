import { expect, test } from 'bun:test'
import type { Verification } from '../../src/verifications/schema.ts'
import { startApp } from '../helpers/app.ts'

test('a key whose session was erased says so; with another body it says that', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const repeat = async (template: string) => {
    const call = { key, body: { template }, headers: { 'idempotency-key': 'order-77' } }
    return await app.call<Verification & { error: { code: string; message: string } }>('POST', '/v1/verifications', call)
  }
  const { body } = await repeat('age_over_18')
  await app.call('DELETE', `/v1/verifications/${body.id}`, { key })
  const [same, other] = [await repeat('age_over_18'), await repeat('age_over_16')]
  for (const answer of [same, other]) expect([answer.status, answer.body.error.code]).toEqual([422, 'idempotency_key_reused'])
  expect(same.body.error.message).toBe(
    'The verification made with this Idempotency-Key was erased; choose a new key for a new request.',
  )
  expect(other.body.error.message).toContain('was used with another body')
})
