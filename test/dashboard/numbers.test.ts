import { afterAll, expect, test } from 'bun:test'
import type { Overview } from '../../src/dashboard/overview/schema.ts'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { countEnds } from '../../src/usage/outcomes.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepRetention } from '../../src/verifications/erasure/retain.ts'
import { cleanUp, createVerification } from '../helpers/app.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import { editRows } from '../helpers/database.ts'
import { pair } from '../helpers/devices.ts'
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

test('first steps follow from facts, and end with the first live verification', async () => {
  const { tenant } = await createTenant(app.deps, { name: 'New' }, 'test')
  const { id } = tenant
  const steps = async () => (await overviewOf(id)).first_steps
  expect(await steps()).toEqual({ tried: false, connected: false, received: false })
  const key = await app.key(id)
  expect(await steps()).toMatchObject({ connected: true })
  for (const column of ['expires_at', 'revoked_at']) {
    editRows(app, `UPDATE api_keys SET ${column} = 1 WHERE tenant_id = ?`, id)
    expect([column, await steps()]).toMatchObject([column, { connected: false }])
    editRows(app, `UPDATE api_keys SET ${column} = NULL WHERE tenant_id = ?`, id)
  }
  await pair(app, key)
  editRows(app, 'UPDATE api_keys SET revoked_at = 1 WHERE tenant_id = ?', id)
  expect(await steps()).toEqual({ tried: false, connected: true, received: false })
  const other = await app.key(id)
  await verifyWith(app, other, 'adult')
  const messaged = await declined({ app, key: other }, receiver.url())
  editRows(app, "UPDATE webhook_deliveries SET status = 'delivered' WHERE verification_id = ?", messaged)
  expect(await steps()).toEqual({ tried: true, connected: true, received: true })
  await app.deps.write(tx => app.deps.firstTimes.note(tx, { tenantId: id, environment: 'live' }, app.clock.now()))
  expect(await steps()).toBeNull()
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
