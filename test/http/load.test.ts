import { expect, test } from 'bun:test'
import { watchLoad } from '../../src/http/load.ts'
import { createVerification, type ErrorBody, startWithTenant } from '../helpers/app.ts'

/** A watch over a clock that is set by hand. Each sample is waited for, and comes as late as it is told. */
function watchByHand() {
  let at = 0
  let sampled = () => {}
  const watch = watchLoad(
    () => at,
    () => sampled(),
  )
  const sample = async (lagMs: number) => {
    at += 100 + lagMs
    await new Promise<void>(done => {
      sampled = done
    })
  }
  const pass = (ms: number) => {
    at += ms
  }
  return { watch, sample, pass }
}

test('a service is overloaded from the second delay in a row of more than 250 ms, until one is shorter', async () => {
  const { watch, sample } = watchByHand()
  const seen: boolean[] = []
  for (const lagMs of [0, 251, 250, 251, 251, 300, 0, 251]) {
    await sample(lagMs)
    seen.push(watch.isOverloaded())
  }
  expect(seen).toEqual([false, false, false, false, true, true, false, false])
  watch.stop()
})

test('a delay counts before its sample is taken', async () => {
  const { watch, sample, pass } = watchByHand()
  pass(100 + 251)
  expect(watch.isOverloaded()).toBe(false)
  pass(-351)
  await sample(251)
  pass(100 + 250)
  expect(watch.isOverloaded()).toBe(false)
  pass(1)
  expect(watch.isOverloaded()).toBe(true)
  watch.stop()
})

test('a service is slow from the eighth creation or answer in a row that took more than 400 ms, after a second, for a second', () => {
  const { watch, pass } = watchByHand()
  const tell = (count: number, ms: number, apartMs = 0) => {
    for (let i = 0; i < count; i++) {
      pass(apartMs)
      watch.took(ms)
    }
    return watch.isOverloaded()
  }
  expect([tell(100, 401), tell(1, 400)]).toEqual([false, false])
  expect([tell(7, 401, 200), tell(1, 401)]).toEqual([false, true])
  pass(1000)
  expect(watch.isOverloaded()).toBe(true)
  pass(1)
  expect(watch.isOverloaded()).toBe(false)
  expect([tell(1, 401), tell(1, 400)]).toEqual([true, false])
  expect([tell(8, 401, 142), tell(1, 401, 6)]).toEqual([false, true])
  watch.stop()
})

test('creations and answers of wallets tell how long they took, and refused ones do not', async () => {
  const { app, key } = await startWithTenant()
  const took: number[] = []
  app.deps.took = ms => void took.push(ms)
  const { id } = await createVerification(app, key)
  expect(took).toHaveLength(1)
  expect((await app.call('POST', '/v1/verifications', { key, body: { template: 'unknown' } })).status).toBe(422)
  expect((await app.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(200)
  expect(took).toHaveLength(1)
  expect(took[0]).toBeGreaterThan(0)
})

const LATER = ['429', 'rate_limit_exceeded', '2']

test('an overloaded service refuses creations, lists, polls and pages with 429 and Retry-After', async () => {
  const { app, key } = await startWithTenant()
  const { id } = await createVerification(app, key)
  app.deps.isOverloaded = () => true
  const refused = await Promise.all([
    app.call<ErrorBody>('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } }),
    app.call<ErrorBody>('GET', '/v1/verifications', { key }),
    app.call<ErrorBody>('GET', `/v1/verifications/${id}/status`),
    app.call<ErrorBody>('GET', `/v/${id}/data`),
    app.call<ErrorBody>('GET', `/v/${id}`, { headers: { accept: 'text/html' } }),
    app.call<ErrorBody>('GET', '/docs', { headers: { accept: 'text/html' } }),
  ])
  expect(refused.map(({ status, body, headers }) => [String(status), body.error.code, headers.get('retry-after')])).toEqual(
    refused.map(() => LATER),
  )
  expect(refused.map(({ headers }) => headers.get('refresh'))).toEqual([null, null, null, null, '2', '2'])
})

test('an overloaded service tells a stranger and a key without the scope what is wrong before it refuses', async () => {
  const { app, id } = await startWithTenant()
  const key = await app.key(id, { scopes: ['verifications:delete'] })
  app.deps.isOverloaded = () => true
  expect((await app.call('POST', '/v1/verifications', { body: {} })).status).toBe(401)
  expect((await app.call('POST', '/v1/verifications', { key, body: {} })).status).toBe(403)
})

test('an overloaded service serves wallets, readers of a result, those who redeem, tokens and erasures', async () => {
  const { app, key } = await startWithTenant()
  const { id } = await createVerification(app, key)
  app.deps.isOverloaded = () => true
  const calls: [string, string, Parameters<typeof app.call>[2], number][] = [
    ['GET', `/wallet/request/${id}`, {}, 200],
    ['POST', `/wallet/response/${id}`, { raw: new URLSearchParams({ response: 'x' }) }, 400],
    ['GET', `/v1/verifications/${id}`, { key }, 200],
    ['POST', `/v1/verifications/${id}/redeem`, { key, body: { response_code: 'x'.repeat(16) } }, 404],
    ['POST', '/v1/devices/token', { body: { refresh_token: 'x' } }, 400],
    ['POST', '/v1/devices/enroll', { body: { pairing_code: 'VD-AAAA-AAAA' } }, 400],
    ['DELETE', `/v1/verifications/${id}`, { key }, 200],
  ]
  for (const [method, path, call, status] of calls)
    expect([path, (await app.call(method, path, call)).status]).toEqual([path, status])
})
