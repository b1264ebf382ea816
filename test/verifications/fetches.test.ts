// The fetches of a request are columns of its session: the timeline shows each, and the audit chain has them with the end.
import { afterAll, describe, expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { SEALED } from '../../src/db/sealed-columns.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { recordRequestFetched } from '../../src/verifications/exchange/response-key.ts'
import { readOpenSession } from '../../src/verifications/read.ts'
import { type Fetch, fetchesToKeep, readEvents } from '../../src/verifications/timeline.ts'
import { cleanUp, createVerification, NOON, startApp, type TestApp } from '../helpers/app.ts'
import { isOnPostgres, rowsOf } from '../helpers/database.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

async function startWithSession(body: object = {}) {
  const app = await startApp()
  const { id: tenantId, key } = await app.tenant()
  const { id } = await createVerification(app, key, body)
  return { app, key, tenantId, id }
}

const fetchIt = (app: TestApp, id: string) => app.call('GET', `/wallet/request/${id}`)

const saying = (app: TestApp, id: string, metadata: object) =>
  fetch(`${app.url}/wallet/request/${id}`, {
    method: 'POST',
    body: new URLSearchParams({ wallet_metadata: JSON.stringify(metadata) }),
  })

/** Details of all records about a verification, oldest first. */
async function recordsOf({ deps, dir }: TestApp, tenantId: string, session: string) {
  await linkEntries(deps)
  const sessionKey = await deps.sessionKeys.find(deps.db, session)
  const rows = rowsOf<{ id: number; action: string; salt: Uint8Array; sealed: Uint8Array }>(
    dir,
    `SELECT ${isOnPostgres ? 'entry_id' : 'seq'} AS id, action, salt, sealed FROM audit_records WHERE session_id = ? ORDER BY seq`,
    session,
  )
  return rows.map(({ id, action, salt, sealed }) => ({
    action,
    ...JSON.parse(deps.sealer.open(SEALED.auditDetails({ tenantId, id: String(id) }, salt, sessionKey), sealed)),
  }))
}

describe('the fetches of a request', () => {
  test('are in the timeline, each with its time and what its wallet said', async () => {
    const { app, tenantId, id } = await startWithSession()
    await fetchIt(app, id)
    app.clock.set(NOON + 1000)
    await saying(app, id, { vp_formats_supported: { mso_mdoc: {} }, response_modes_supported: ['fragment'] })
    app.clock.set(NOON + 2000)
    await fetchIt(app, id)
    expect(await readEvents(app.deps, { id, tenantId })).toEqual([
      { at: NOON, event: 'request_fetched', details: { method: 'get' } },
      {
        at: NOON + 1000,
        event: 'request_fetched',
        details: { method: 'post', formats: ['mso_mdoc'], dropped: expect.any(Array), notes: ['response_mode'] },
      },
      { at: NOON + 2000, event: 'request_fetched', details: { method: 'get' } },
    ])
  })

  test('are kept up to a hundred, and the request is given to others, too', async () => {
    const { app, tenantId, id } = await startWithSession()
    for (let i = 0; i < 101; i++) expect((await fetchIt(app, id)).status).toBe(200)
    expect(await readEvents(app.deps, { id, tenantId })).toHaveLength(100)
  })

  test('are kept while they are short together; the first is kept whatever its wallet said', () => {
    const long: Fetch = {
      at: NOON,
      method: 'post',
      dropped: Array.from({ length: 400 }, (_, i) => `credential_${i}`.padEnd(60, '_')),
    }
    const short: Fetch = { at: NOON, method: 'get' }
    expect(fetchesToKeep([short])).toBeNull()
    expect(fetchesToKeep([long])).toBe(JSON.stringify([long]))
    expect(fetchesToKeep([short, short])).toBe(JSON.stringify([short, short]))
    expect(fetchesToKeep([short, long])).toBeUndefined()
  })

  test('of two wallets at once are both kept, and both wallets get the key that was stored first', async () => {
    const { app, tenantId, id } = await startWithSession()
    const open = await readOpenSession(app.deps, id)
    const keys = await Promise.all([1, 2, 3].map(() => recordRequestFetched(app.deps, open, { method: 'get' })))
    expect(new Set(keys.map(key => key?.kid)).size).toBe(1)
    expect(await readEvents(app.deps, { id, tenantId })).toHaveLength(3)
  })

  test('of a session that ended meanwhile are refused and leave nothing', async () => {
    const { app, key, tenantId, id } = await startWithSession()
    const fresh = await readOpenSession(app.deps, id)
    await fetchIt(app, id)
    const fetched = await readOpenSession(app.deps, id)
    await app.call('POST', `/v1/verifications/${id}/cancel`, { key })
    for (const open of [fresh, fetched]) {
      const outcome = await recordRequestFetched(app.deps, open, { method: 'get' }).catch(({ code }) => code)
      expect(outcome).toBe('session_expired')
    }
    expect(await readEvents(app.deps, { id, tenantId })).toHaveLength(1)
    const [row] = rowsOf(app, 'SELECT sealed_response_key FROM verification_sessions WHERE id = ?', id)
    expect(row?.sealed_response_key).toBeNull()
  })
})

describe('the audit record of an end', () => {
  const fetched = { fetched_at: '2026-03-04T12:00:00.000Z', fetches: 1 }

  test('says when and how often the request was fetched, of an answer and of a cancellation', async () => {
    const app = await startApp()
    const { id: tenantId, key } = await app.tenant()
    const { verification } = await verifyWith(app, key, 'adult', {})
    const [, completed] = await recordsOf(app, tenantId, verification.id)
    expect(completed).toMatchObject({ action: 'verification.completed', ...fetched })

    app.clock.set(NOON + 1000)
    const { id } = await createVerification(app, key)
    await fetchIt(app, id)
    await saying(app, id, {})
    await app.call('POST', `/v1/verifications/${id}/cancel`, { key })
    const [, cancelled] = await recordsOf(app, tenantId, id)
    expect(cancelled).toMatchObject({ action: 'verification.failed', fetched_at: '2026-03-04T12:00:01.000Z', fetches: 2 })
  })

  test('says nothing of it where nobody fetched the request', async () => {
    const { app, key, tenantId, id } = await startWithSession()
    await app.call('POST', `/v1/verifications/${id}/cancel`, { key })
    const [, cancelled] = await recordsOf(app, tenantId, id)
    expect(Object.keys(cancelled)).toEqual(['action', 'environment', 'error', 'id'])
  })

  test('of an expiry is there if the request was fetched, and loses its details with the session', async () => {
    const { app, key, tenantId, id } = await startWithSession({ ttl_seconds: 60 })
    await fetchIt(app, id)
    const { id: unseen } = await createVerification(app, key, { ttl_seconds: 60 })
    app.clock.set(NOON + 61_000)
    await sweepExpired(app.deps)
    expect(await recordsOf(app, tenantId, unseen)).toHaveLength(1)
    const [, expired] = await recordsOf(app, tenantId, id)
    expect(expired).toEqual({ action: 'verification.expired', id, environment: 'test', ...fetched })

    expect((await app.call('DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)
    await linkEntries(app.deps)
    expect(rowsOf(app, "SELECT actor, salt, sealed FROM audit_records WHERE action = 'verification.expired'")).toEqual([
      { actor: 'system', salt: null, sealed: null },
    ])
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  })
})
