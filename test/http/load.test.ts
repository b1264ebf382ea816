import { expect, test } from 'bun:test'
import { watchLoad } from '../../src/http/load.ts'
import { createVerification, type ErrorBody, startWithTenant } from '../helpers/app.ts'

test('the service is overloaded while the event loop lags more than 250 ms', async () => {
  let at = 0
  const watch = watchLoad(() => at)
  const samples = () => Bun.sleep(250)
  at = 100 + 250
  expect(watch.isOverloaded()).toBe(false)
  at = 100 + 251
  expect(watch.isOverloaded()).toBe(true)
  await samples()
  at += 100
  await samples()
  expect(watch.isOverloaded()).toBe(false)
  watch.stop()
})

test('an overloaded service refuses status polls with 429 and Retry-After, and nothing else', async () => {
  const { app, key } = await startWithTenant()
  const { id } = await createVerification(app, key)
  app.deps.isOverloaded = () => true
  const poll = await app.call<ErrorBody>('GET', `/v1/verifications/${id}/status`)
  expect([poll.status, poll.body.error.code, poll.headers.get('retry-after')]).toEqual([429, 'rate_limit_exceeded', '1'])
  expect((await app.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(200)
  expect((await app.call('GET', `/wallet/request/${id}`)).status).toBe(200)
})
