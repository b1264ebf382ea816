import { afterAll, expect, test } from 'bun:test'
import { createKey, FIRST_KEY_LABEL } from '../../src/access/keys.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import type { Overview } from '../../src/dashboard/overview/schema.ts'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { countEnds } from '../../src/usage/outcomes.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepRetention } from '../../src/verifications/erasure/retain.ts'
import { cleanUp, createVerification } from '../helpers/app.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import { editRows } from '../helpers/database.ts'
import { pair, refresh } from '../helpers/devices.ts'
import { openSession, postTo } from '../helpers/exchange.ts'
import { declined, receive, startAppFor, stopReceiving } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

const DAY_MS = 86_400_000

const receiver = receive()
const app = await startAppFor([receiver])
const boss = await setUpOwner(app)

const overviewOf = async (tenant: string, environment = 'test') =>
  (await boss.get<Overview>(`/tenants/${tenant}/overview?environment=${environment}`)).body

test('first steps follow from what people did, and end when a till or the API has made numbers to look at', async () => {
  const { tenant } = await createTenant(app.deps, { name: 'New' }, 'test')
  const { id } = tenant
  const steps = async () => (await overviewOf(id)).first_steps
  const none = { tried: false, paired: false, called: false, received: false }
  expect(await steps()).toEqual(none)
  // A key is made by people; the one of a first start is not, and counts for nothing when it is used.
  const first = await createKey(app.deps, {
    tenantId: id,
    environment: 'test',
    scopes: SCOPES,
    label: FIRST_KEY_LABEL,
    actor: 'x',
  })
  const key = await app.key(id)
  await createVerification(app, first.key)
  expect(await steps()).toEqual(none)
  await createVerification(app, key)
  expect(await steps()).toEqual({ ...none, called: true })
  await pair(app, key)
  expect(await steps()).toEqual({ ...none, paired: true, called: true })
  const other = await app.key(id)
  await verifyWith(app, other, 'adult')
  const messaged = await declined({ app, key: other }, receiver.url())
  editRows(app, "UPDATE webhook_deliveries SET status = 'delivered' WHERE verification_id = ?", messaged)
  const all = { tried: true, paired: true, called: true, received: true }
  expect(await steps()).toEqual(all)
  const count = async (ends: number) => {
    const at = app.clock.now()
    const end = {
      tenantId: id,
      environment: 'test',
      outcome: 'expired',
      template: null,
      deviceId: null,
      at,
      createdAt: at,
    } as const
    await app.deps.write(tx => countEnds(tx, Array(ends).fill({ ...end, respondedAt: null })))
  }
  await count(17)
  expect(await steps()).toEqual(all)
  await count(1)
  expect(await steps()).toBeNull()
})

test('first steps end with the first live verification', async () => {
  const { tenant } = await createTenant(app.deps, { name: 'Live' }, 'test')
  const { id } = tenant
  expect((await overviewOf(id)).first_steps).not.toBeNull()
  await app.deps.write(tx => app.deps.firstTimes.note(tx, { tenantId: id, environment: 'live' }, app.clock.now()))
  expect((await overviewOf(id)).first_steps).toBeNull()
})

test('the numbers are those of one environment and the last 30 days, and stay when sessions are erased', async () => {
  const { id, key, liveKey } = await app.tenant({ name: 'Shop', retentionDays: 1 })
  expect((await overviewOf(id)).numbers).toMatchObject({
    total: { verified: 0, refused: 0, declined: 0, expired: 0 },
    success_rate: null,
    median_answer_ms: null,
    reasons: [],
  })
  await createVerification(app, key, { ttl_seconds: 60 })
  app.clock.advance(DAY_MS)
  await boss.logIn('olivia')
  await verifyWith(app, key, 'adult')
  await verifyWith(app, key, 'minor')
  await verifyWith(app, key, 'minor')
  await verifyWith(app, key, 'untrusted_issuer')
  await verifyWith(app, liveKey, 'untrusted_issuer')
  const session = await openSession({ app, key }, { template: 'age_over_18' })
  await postTo(session, (await decline(session.request)).form)
  const stopped = await createVerification(app, key)
  await app.call('POST', `/v1/verifications/${stopped.id}/cancel`, { key, body: {} })
  await sweepExpired(app.deps)
  const { numbers } = await overviewOf(id)
  expect(numbers.days.length).toBe(30)
  expect(numbers.days.slice(-2)).toEqual([
    { day: '2026-03-04', verified: 0, refused: 0, declined: 0, expired: 1 },
    { day: '2026-03-05', verified: 1, refused: 3, declined: 1, expired: 0 },
  ])
  expect(numbers).toMatchObject({ success_rate: 1 / 6, median_answer_ms: 500 })
  expect(numbers.reasons).toEqual([
    { code: 'claim_not_satisfied', count: 2 },
    { code: 'issuer_untrusted', count: 1 },
  ])
  const at = app.clock.now()
  const unfollowed = {
    ...{ template: null, deviceId: null },
    tenantId: id,
    environment: 'live',
    outcome: 'redirect_not_followed',
    at,
    createdAt: at,
  } as const
  await app.deps.write(tx => countEnds(tx, [{ ...unfollowed, respondedAt: null }]))
  expect((await overviewOf(id, 'live')).numbers.total).toEqual({ verified: 0, refused: 1, declined: 0, expired: 1 })
  app.clock.advance(2 * DAY_MS)
  await boss.logIn('olivia')
  await sweepRetention(app.deps)
  const later = await overviewOf(id)
  expect([later.recent, later.numbers.total]).toEqual([[], numbers.total])
  app.clock.advance(30 * DAY_MS)
  await boss.logIn('olivia')
  expect((await overviewOf(id)).numbers.success_rate).toBeNull()
})

test('ends are counted by till and by template, each under one name, for the range that is asked for', async () => {
  const { id, key } = await app.tenant({ name: 'Two tills' })
  const bar = await pair(app, key, { name: 'Bar', allowed_templates: ['age_over_18', 'identity_basic_mdoc'] })
  const door = await pair(app, key, { name: 'Door', allowed_templates: ['age_over_18'] })
  await verifyWith(app, bar.access_token, 'adult')
  await verifyWith(app, bar.access_token, 'minor')
  const names = ['identity_basic', 'identity_basic_mdoc']
  for (const template of names) await verifyWith(app, key, 'declines', { body: { template } })
  app.clock.advance(8 * DAY_MS)
  await boss.logIn('olivia')
  const { access_token } = (await refresh(app, door.refresh_token)).body
  await createVerification(app, access_token, { ttl_seconds: 60 })
  const stopped = await createVerification(app, access_token)
  await app.call('POST', `/v1/verifications/${stopped.id}/cancel`, { key: access_token, body: {} })
  app.clock.advance(61_000)
  await sweepExpired(app.deps)
  const read = async (days: string) =>
    (await boss.get<Overview>(`/tenants/${id}/overview?environment=test&days=${days}`)).body.numbers
  const none = { verified: 0, refused: 0, declined: 0, expired: 0 }
  const [till, late] = [
    { id: bar.device.id, name: 'Bar' },
    { id: door.device.id, name: 'Door' },
  ]
  expect(await read('30')).toMatchObject({
    by_till: [
      { ...none, till: null, declined: 2 },
      { ...none, till, verified: 1, refused: 1 },
      { ...none, till: late, expired: 1 },
    ],
    by_template: [
      { ...none, template: 'age_over_18', verified: 1, refused: 1, expired: 1 },
      { ...none, template: 'identity_basic', declined: 2 },
    ],
  })
  const { days, ...week } = await read('7')
  expect([days.length, (await read('90')).days.length]).toEqual([7, 90])
  expect([week.by_till, week.by_template]).toEqual([
    [{ ...none, till: late, expired: 1 }],
    [{ ...none, template: 'age_over_18', expired: 1 }],
  ])
  expect((await boss.get(`/tenants/${id}/overview?environment=test&days=31`)).status).toBe(400)
})
