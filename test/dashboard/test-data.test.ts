import { expect, test } from 'bun:test'
import { verifyAudit } from '../../src/audit/verify.ts'
import { EXAMPLES } from '../../src/dashboard/verifications/examples.ts'
import type { EmptiedTest, MadeExamples, VerificationPage } from '../../src/dashboard/verifications/schema.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { createVerification, type TestApp } from '../helpers/app.ts'
import { type Browser, joinMember, outcome, startOwned } from '../helpers/dashboard.ts'

const examplesOf = (browser: Browser, shop: string, step: object) =>
  browser.post<MadeExamples>(`/tenants/${shop}/verifications/examples`, step)

async function fill(browser: Browser, shop: string): Promise<void> {
  let step: { run?: string; from: number } = { from: 0 }
  while (step.from < EXAMPLES.length) {
    const { status, body } = await examplesOf(browser, shop, step)
    expect(status).toBe(200)
    step = { run: body.run, from: body.made }
  }
}

async function sessionsOf(browser: Browser, shop: string) {
  const { body } = await browser.get<VerificationPage>(`/tenants/${shop}/verifications?environment=test&limit=100`)
  return body.data
}

const countOf = (app: TestApp, key: string) =>
  app.call<{ verifications_created: number }>('GET', '/v1/usage', { key }).then(({ body }) => body.verifications_created)

test('a shop’s Test is filled with fifty answered sessions whose outcomes look like a day, which cost quota and send nothing', async () => {
  const { app, boss, ...shop } = await startOwned()
  await boss.put(`/tenants/${shop.id}/webhook-endpoint?environment=test`, { webhook_url: 'https://hooks.shop.example/' })
  await fill(boss, shop.id)
  const open = await sessionsOf(boss, shop.id)
  expect(open.filter(({ status }) => status === 'pending')).toHaveLength(3)
  app.clock.advance(61_000)
  await sweepExpired(app.deps)
  const counts: Record<string, number> = {}
  for (const { status, error } of await sessionsOf(boss, shop.id)) {
    const end = error?.code ?? status
    counts[end] = (counts[end] ?? 0) + 1
  }
  expect(counts).toEqual({
    completed: 35,
    expired: 3,
    cancelled: 2,
    wallet_declined: 3,
    claim_not_satisfied: 3,
    credential_expired: 1,
    credential_revoked: 1,
    issuer_untrusted: 1,
    signature_invalid: 1,
  })
  expect(await countOf(app, shop.key)).toBe(50)
  const deliveries = await boss.get<{ data: unknown[] }>(`/tenants/${shop.id}/deliveries?environment=test`)
  expect(deliveries.body.data).toEqual([])
  expect(open.map(({ metadata }) => metadata?.order).toReversed()).toEqual(EXAMPLES.map((_, i) => `Example ${i + 1}`))
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
})

test('a shop has one run of examples at a time, and another may begin once it is left or done', async () => {
  const { app, boss, ...shop } = await startOwned()
  const first = await examplesOf(boss, shop.id, { from: 0 })
  expect(first.body).toEqual({ run: expect.any(String), made: 5, of: 50 })
  expect(outcome(await examplesOf(boss, shop.id, { from: 0 }))).toBe('409 examples_under_way')
  expect((await examplesOf(boss, shop.id, { run: first.body.run, from: 5 })).body.made).toBe(10)
  app.clock.advance(20_000)
  const second = await examplesOf(boss, shop.id, { from: 45 })
  expect(second.body.made).toBe(50)
  expect(await sessionsOf(boss, shop.id)).toHaveLength(15)
  expect((await examplesOf(boss, shop.id, { from: 45 })).status).toBe(200)
  for (const step of [{ from: 50 }, { from: -1 }, {}, { from: 0, run: 'short' }])
    expect(outcome(await examplesOf(boss, shop.id, step))).toBe('400 invalid_request')
})

test('a quota without room for all examples refuses the first step, and makes none', async () => {
  const { app, boss, ...shop } = await startOwned()
  await changeTenant(app.deps, shop.id, { dailyQuota: 50 }, 'test')
  await createVerification(app, shop.key)
  expect(outcome(await examplesOf(boss, shop.id, { from: 0 }))).toBe('429 quota_exceeded')
  expect(await sessionsOf(boss, shop.id)).toHaveLength(1)
  await changeTenant(app.deps, shop.id, { dailyQuota: 51 }, 'test')
  expect((await examplesOf(boss, shop.id, { from: 0 })).status).toBe(200)
})

test('an emptied Test keeps Live and other shops, and every erasure is on the chain', async () => {
  const { app, boss, ...shop } = await startOwned()
  const bakery = await app.tenant({ name: 'Bakery' })
  const live = await createVerification(app, await app.key(shop.id, { environment: 'live' }))
  const foreign = await createVerification(app, bakery.key)
  for (let i = 0; i < 60; i++) await createVerification(app, shop.key)
  await examplesOf(boss, shop.id, { from: 0 })
  const empty = () => boss.post<EmptiedTest>(`/tenants/${shop.id}/verifications/empty`, { word: 'empty' })
  expect((await empty()).body).toEqual({ erased: 50, remaining: 15 })
  // Stopped here, what is left is whole.
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  expect(await sessionsOf(boss, shop.id)).toHaveLength(15)
  expect((await empty()).body).toEqual({ erased: 15, remaining: 0 })
  expect((await empty()).body).toEqual({ erased: 0, remaining: 0 })
  expect(await sessionsOf(boss, shop.id)).toEqual([])
  expect((await app.call('GET', `/v1/verifications/${live.id}/status`)).status).toBe(200)
  expect((await app.call('GET', `/v1/verifications/${foreign.id}/status`)).status).toBe(200)
  const erased = await boss.get<{ data: { actor: string }[] }>(`/tenants/${shop.id}/audit?action=verification.erased&limit=100`)
  expect(erased.body.data.map(({ actor }) => actor)).toEqual(Array.from({ length: 65 }, () => 'dashboard:olivia'))
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
})

test('only an owner who logged in within the hour, and typed the word, empties Test', async () => {
  const { app, boss, ...shop } = await startOwned()
  const mia = await joinMember(app, shop.id, 'mia')
  await createVerification(app, shop.key)
  const at = `/tenants/${shop.id}/verifications/empty`
  expect(outcome(await mia.post(at, { word: 'empty' }))).toBe('403 owner_required')
  expect(outcome(await boss.post(at, { word: 'Empty' }))).toBe('400 invalid_request')
  expect(outcome(await boss.post(at, {}))).toBe('400 invalid_request')
  for (let minutes = 0; minutes < 60; minutes += 20) {
    app.clock.advance(20 * 60_000)
    await boss.get('/session')
  }
  app.clock.advance(1000)
  expect(outcome(await boss.post(at, { word: 'empty' }))).toBe('403 reauthentication_required')
  expect(await sessionsOf(boss, shop.id)).toHaveLength(1)
})
