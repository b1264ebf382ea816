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

test('an overloaded service refuses status polls with 429 and Retry-After, and nothing else', async () => {
  const { app, key } = await startWithTenant()
  const { id } = await createVerification(app, key)
  app.deps.isOverloaded = () => true
  const poll = await app.call<ErrorBody>('GET', `/v1/verifications/${id}/status`)
  expect([poll.status, poll.body.error.code, poll.headers.get('retry-after')]).toEqual([429, 'rate_limit_exceeded', '1'])
  expect((await app.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(200)
  expect((await app.call('GET', `/wallet/request/${id}`)).status).toBe(200)
})
