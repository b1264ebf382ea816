import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { linkEntries } from '../../src/audit/link.ts'
import type { ErasureResult } from '../../src/verifications/schema.ts'
import {
  createVerification,
  type ErrorBody,
  NOON,
  outcome,
  startApp,
  startWithTenant,
  type TestApp,
  temporaryDir,
} from '../helpers/app.ts'
import { editRows, rowsOf } from '../helpers/database.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { filesContaining, onlyFilesContaining } from '../helpers/files.ts'

const { app, ...tenant } = await startWithTenant()

const erase = (id: string, key = tenant.key) =>
  app.call<ErasureResult & Partial<ErrorBody>>('DELETE', `/v1/verifications/${id}`, { key })

describe('DELETE /v1/verifications/{id}', () => {
  test('an erasure answers 200 with the rows deleted per table, and nothing else', async () => {
    const { id } = await createVerification(app, tenant.key)
    const { status, body } = await erase(id)
    expect(status).toBe(200)
    expect(body).toEqual({
      id,
      deleted: { verification_sessions: 1, verification_results: 0, webhook_deliveries: 0 },
      erased_at: new Date(NOON).toISOString(),
    })
  })

  test('an erasure counts the result and the deliveries of a finished session, and deletes everything that belongs to them', async () => {
    const { id } = await createVerification(app, tenant.key)
    finish(app, tenant.id, id)
    expect((await erase(id)).body.deleted).toEqual({ verification_sessions: 1, verification_results: 1, webhook_deliveries: 2 })
    expect(rowsAbout(app, id)).toBe(0)
  })

  test('reads and erasures of an erased session are 404 session_not_found', async () => {
    const { id } = await createVerification(app, tenant.key)
    const { id: other } = await createVerification(app, tenant.key)
    await erase(id)
    const answers = [await erase(id), await app.call<ErrorBody>('GET', `/v1/verifications/${id}`, { key: tenant.key })]
    for (const { status, body } of answers) expect([status, body.error?.code]).toEqual([404, 'session_not_found'])
    const { body } = await app.call<{ data: { id: string }[] }>('GET', '/v1/verifications?limit=100', { key: tenant.key })
    expect(body.data.map(each => each.id)).toEqual([other])
  })

  test("another tenant's and another environment's session is 404 and stays whole, with its deliveries", async () => {
    const other = await app.tenant()
    const { id } = await createVerification(app, tenant.key)
    finish(app, tenant.id, id)
    const before = rowsAbout(app, id)
    for (const key of [other.key, tenant.liveKey]) {
      expect(outcome(await erase(id, key))).toBe('404 session_not_found')
    }
    expect(rowsAbout(app, id)).toBe(before)
    expect((await app.call('GET', `/v1/verifications/${id}/status`)).status).toBe(200)
  })

  test('an erasure leaves the stored answer of a later session under the same Idempotency-Key', async () => {
    const { app: own, key } = await startWithTenant()
    const create = () =>
      own.call<{ id: string }>('POST', '/v1/verifications', {
        key,
        body: { template: 'age_over_18' },
        headers: { 'idempotency-key': 'order-1' },
      })
    const first = await create()
    own.clock.advance(86_400_000)
    const second = await create()
    expect(second.body.id).not.toBe(first.body.id)
    expect((await own.call('DELETE', `/v1/verifications/${first.body.id}`, { key })).status).toBe(200)
    const repeated = await create()
    expect([repeated.status, repeated.headers.get('idempotent-replayed'), repeated.text]).toEqual([201, 'true', second.text])
    expect((await own.call('DELETE', `/v1/verifications/${second.body.id}`, { key })).status).toBe(200)
    expect((await create()).status).toBe(422)
  })

  test('an erasure gives no quota back', async () => {
    const usage = async () =>
      (await app.call<{ verifications_created: number }>('GET', '/v1/usage', { key: tenant.key })).body.verifications_created
    const { id } = await createVerification(app, tenant.key)
    const before = await usage()
    await erase(id)
    expect(await usage()).toBe(before)
  })

  test('of 50 simultaneous erasures one succeeds', async () => {
    const { id } = await createVerification(app, tenant.key)
    const answers = await Promise.all(Array.from({ length: 50 }, () => erase(id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(49)
  })
})

test('an erased verification is in no file afterwards, sealed or not', async () => {
  const { app: own, key } = await startWithTenant()
  for (let i = 0; i < 30; i++) await createVerification(own, key, { purpose: `bystander ${i}` })
  const answer = await own.call<{ id: string }>('POST', '/v1/verifications', {
    key,
    body: { template: 'age_over_18', purpose: 'canary purpose', metadata: { canary: 'value' } },
    headers: { 'idempotency-key': 'canary-key' },
  })
  const { id } = answer.body
  // Everything that the row holds, as it stands in the file: ciphertext and salts must go too.
  await linkEntries(own.deps)
  const traces = tracesOf(own, id)
  expect(traces.length).toBeGreaterThan(6)
  expect(traces.every(trace => isInFiles(own.dir, trace))).toBe(true)
  expect((await own.call('DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)
  expect(traces.filter(trace => isInFiles(own.dir, trace))).toEqual([])
  expect(isInFiles(own.dir, Buffer.from('canary'))).toBe(false)
})

/** As the wallet exchange and the webhook worker leave a session. */
function finish(on: TestApp, tenantId: string, id: string): void {
  const [salt, sealed] = [Buffer.from('salt'), Buffer.from('sealed')]
  editRows(on, 'INSERT INTO verification_results VALUES (?, ?, ?, ?, 1, 1)', id, tenantId, salt, sealed)
  editRows(
    on,
    "INSERT INTO verification_events (verification_id, tenant_id, at, event, salt, sealed) VALUES (?, ?, 1, 'created', ?, ?)",
    id,
    tenantId,
    salt,
    sealed,
  )
  for (const delivery of ['whd_1', 'whd_2']) {
    editRows(
      on,
      "INSERT INTO webhook_deliveries VALUES (?, ?, ?, 'verification.completed', 'delivered', 1, 9000000000000, NULL, 1, '', NULL, 'test', NULL)",
      delivery + id,
      tenantId,
      id,
    )
    editRows(
      on,
      "INSERT INTO webhook_attempts (delivery_id, tenant_id, attempt, at, outcome, duration_ms, salt, sealed) VALUES (?, ?, 1, 1, 'timeout', 5, ?, ?)",
      delivery + id,
      tenantId,
      salt,
      sealed,
    )
  }
}

function rowsAbout(on: TestApp, id: string): number {
  const count = (table: string, column: string, value: string) =>
    rowsOf(on, `SELECT 1 FROM ${table} WHERE ${column} LIKE ?`, value).length
  return (
    count('verification_sessions', 'id', id) +
    count('verification_results', 'verification_id', id) +
    count('verification_events', 'verification_id', id) +
    count('webhook_deliveries', 'verification_id', id) +
    count('webhook_attempts', 'delivery_id', `%${id}`)
  )
}

function tracesOf(on: TestApp, id: string): Buffer[] {
  const rows = [
    ...rowsOf(on, 'SELECT id, nonce, state, salt, sealed FROM verification_sessions WHERE id = ?', id),
    ...rowsOf(on, 'SELECT salt, sealed FROM idempotency_keys'),
    ...rowsOf(on, "SELECT salt, sealed FROM audit_records WHERE action = 'verification.created' ORDER BY seq DESC LIMIT 1"),
  ]
  return rows.flatMap(row => Object.values(row).map(value => Buffer.from(value as Uint8Array)))
}

const isInFiles = (dir: string, text: Buffer): boolean => filesContaining(dir, text).length > 0

sqliteOnly('empties the log of the file')(
  'what a reader kept in the log when it was erased is in no file after a kill and the next start',
  async () => {
    const { app, key } = await startWithTenant()
    const { id } = await createVerification(app, key, { purpose: 'Kept by a reader' })
    const [row] = rowsOf<{ sealed: Uint8Array }>(app.dir, 'SELECT sealed FROM verification_sessions WHERE id = ?', id)
    const reader = new Database(join(app.dir, 'vidimus.db'), { readonly: true })
    reader.run('BEGIN')
    reader.query('SELECT 1 FROM verification_sessions').get()
    expect((await app.call('DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)
    const killed = temporaryDir()
    cpSync(app.dir, killed, { recursive: true })
    reader.close()
    expect(onlyFilesContaining(killed, row!.sealed)).toEqual(['vidimus.db-wal'])

    await startApp({ dir: killed })
    expect(onlyFilesContaining(killed, row!.sealed)).toEqual([])
  },
)
