import { expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { sweepTokens } from '../../src/devices/expire.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepRetention } from '../../src/verifications/erasure/retain.ts'
import { createVerification, NOON, startApp } from '../helpers/app.ts'
import { editRows, rowsOf } from '../helpers/database.ts'
import { deviceOf, pair, refresh } from '../helpers/devices.ts'

const DAY_MS = 86_400_000

test('the sweep stores expired on every session past its deadline, in any number, and deletes their keys', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const early = await Promise.all(Array.from({ length: 1100 }, () => createVerification(app, key, { ttl_seconds: 60 })))
  const late = await createVerification(app, key, { ttl_seconds: 3600 })
  editRows(app, 'UPDATE verification_sessions SET sealed_response_key = ?', Buffer.from([0]))
  app.clock.set(NOON + 62_000)
  await sweepExpired(app.deps)
  const stored = rowsOf<{ status: string; n: number; keys: number }>(
    app.dir,
    'SELECT status, count(*) AS n, count(sealed_response_key) AS keys FROM verification_sessions GROUP BY status ORDER BY status',
  )
  expect(stored).toEqual([
    { status: 'expired', n: early.length, keys: 0 },
    { status: 'pending', n: 1, keys: 1 },
  ])
  expect((await app.call<{ status: string }>('GET', `/v1/verifications/${late.id}/status`)).body.status).toBe('pending')
})

test('the sweep deletes idempotency keys after 24 hours, not before', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  await app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' }, headers: { 'idempotency-key': 'a' } })
  const kept = async () => {
    await sweepExpired(app.deps)
    return rowsOf(app.dir, 'SELECT 1 FROM idempotency_keys').length
  }
  app.clock.set(NOON + DAY_MS - 1)
  expect(await kept()).toBe(1)
  app.clock.set(NOON + DAY_MS)
  expect(await kept()).toBe(0)
})

test('the sweep deletes tokens 90 days after they expire, in any number', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { device, refresh_token } = await pair(app, key)
  let spent = refresh_token
  for (let i = 0; i < 300; i++) spent = (await refresh(app, spent)).body.refresh_token
  const kinds = async () => {
    await sweepTokens(app.deps)
    return rowsOf<{ kind: string; n: number }>(
      app.dir,
      'SELECT kind, count(*) AS n FROM device_tokens GROUP BY kind ORDER BY kind',
    )
  }
  app.clock.set(NOON + 90 * DAY_MS)
  expect(await kinds()).toEqual([
    { kind: 'access', n: 301 },
    { kind: 'pairing', n: 1 },
    { kind: 'refresh', n: 301 },
  ])
  app.clock.set(NOON + 90 * DAY_MS + 3_600_000)
  expect(await kinds()).toEqual([{ kind: 'refresh', n: 301 }])
  // A spent one is known as spent that long: it still revokes.
  app.clock.set(NOON + 120 * DAY_MS - 1)
  await sweepTokens(app.deps)
  await refresh(app, refresh_token)
  expect((await deviceOf(app, key, device.id)).status).toBe('revoked')
  app.clock.set(NOON + 120 * DAY_MS)
  expect(await kinds()).toEqual([])
})

test('a tenant with retention loses sessions that many days after they ended; a tenant without keeps them', async () => {
  const app = await startApp()
  const short = await app.tenant({ name: 'Short', retentionDays: 2 })
  const long = await app.tenant()
  for (let i = 0; i < 205; i++)
    await createVerification(app, i % 2 ? short.key : short.liveKey, { ttl_seconds: 60, purpose: 'canary' })
  const kept = await createVerification(app, long.key, { ttl_seconds: 60 })
  const left = async () => {
    await sweepRetention(app.deps)
    return rowsOf<{ n: number }>(app.dir, 'SELECT count(*) AS n FROM verification_sessions')[0]?.n
  }
  // The first of them ends 60 s after noon, the last one 205 ms later.
  app.clock.set(NOON + 60_000 + 2 * DAY_MS - 1)
  expect(await left()).toBe(206)
  app.clock.set(NOON + 61_000 + 2 * DAY_MS)
  expect(await left()).toBe(1)
  expect((await app.call('GET', `/v1/verifications/${kept.id}`, { key: long.key })).status).toBe(200)
  await linkEntries(app.deps)
  const actors = rowsOf<{ actor: string }>(
    app.dir,
    "SELECT DISTINCT actor FROM audit_records WHERE action = 'verification.erased'",
  )
  expect(actors).toEqual([{ actor: 'retention' }])
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
})
