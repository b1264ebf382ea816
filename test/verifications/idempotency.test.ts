import { expect, test } from 'bun:test'
import { authenticate } from '../../src/access/authenticate.ts'
import { createIdempotency } from '../../src/verifications/create/idempotency.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, startApp } from '../helpers/app.ts'

test('a repeat after the erasure is 422 with that reason, and with another body 422 with the other', async () => {
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
  expect((await app.call('GET', '/v1/usage', { key })).body).toMatchObject({ verifications_created: 1 })
  expect(same.body.error.message).toBe(
    'The verification made with this Idempotency-Key was erased; choose a new key for a new request.',
  )
  expect(other.body.error.message).toContain('was used with another body')
})

test('a request that outlived its claim cannot finish once another has taken the key over', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const caller = await authenticate(app.deps, `Bearer ${key}`)
  const { begin } = app.deps.creations.idempotency
  const claim = async () => {
    const begun = await begin(caller, 'order-78', { template: 'age_over_18' })
    if ('replay' in begun) throw new Error('there is an answer already')
    return begun.claim
  }
  const answer = await createVerification(app, key)
  const keep = (held: Awaited<ReturnType<typeof claim>>) =>
    app.deps
      .write(tx => held.keep(tx, answer))
      .then(
        () => 'kept',
        ({ code }) => code,
      )
  const early = await claim()
  app.clock.advance(30_000)
  const late = await claim()
  expect([await keep(early), await keep(late)]).toEqual(['idempotency_key_in_flight', 'kept'])
  // Its release ends nobody else's claim.
  await early.release(false)
  expect(await keep(late)).toBe('idempotency_key_in_flight')
  await late.release(true)
  expect(await begin(caller, 'order-78', { template: 'age_over_18' })).toEqual({ replay: answer })
})

test('a repeat that meets another repeat at work gets the first answer, and with another body 422', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const caller = await authenticate(app.deps, `Bearer ${key}`)
  const first = await app.call<Verification>('POST', '/v1/verifications', {
    key,
    body: { template: 'age_over_18' },
    headers: { 'idempotency-key': 'order-79' },
  })
  // As a node meets it: each of its tries finds the key taken, by repeats that are gone when it asks who they are.
  const claim = async (_: string, word: string) => ({ held: { word, until: app.clock.now() + 30_000 } })
  const { begin } = createIdempotency({ ...app.deps, shortLived: { ...app.deps.shortLived, claim } })
  const outcome = (template: string, name = 'order-79') => begin(caller, name, { template }).catch(({ code }) => code)
  expect(await outcome('age_over_18')).toEqual({ replay: first.body })
  expect(await outcome('age_over_16')).toBe('idempotency_key_reused')
  expect(await outcome('age_over_18', 'order-80')).toBe('idempotency_key_in_flight')
})
