// A session that damage has made unreadable: nobody is told anything wrong of it, and the operator is told which one it is.
import { afterAll, describe, expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, type ErrorBody, outcome, startWithTenant, type TestApp } from '../helpers/app.ts'
import { joinMember } from '../helpers/dashboard.ts'
import { editRows, isOnPostgres, rowsOf } from '../helpers/database.ts'
import { examine } from '../helpers/doctor.ts'
import { receive, startTenantFor, untilAttempted } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

/** So many the overview shows. */
const RECENT = 10

const ZEROS = isOnPostgres ? "decode(repeat('00', length(sealed)), 'hex')" : 'zeroblob(length(sealed))'

/** Three of them, and the one in the middle is damaged. */
async function damagedAmongThree(damage: string) {
  const { app, ...tenant } = await startWithTenant({ resolve: async () => ['127.0.0.1'] })
  const ids: string[] = []
  for (let i = 0; i < 3; i++)
    ids.push((await verifyWith(app, tenant.key, 'adult', { body: { metadata: { order: `o-${i}` } } })).verification.id)
  editRows(app, damage, ids[1]!)
  return { app, tenant, oldest: ids[0]!, damaged: ids[1]!, newest: ids[2]! }
}

const listOf = (app: TestApp, key: string, query = '') =>
  app.call<{ data: Verification[] } & Partial<ErrorBody>>('GET', `/v1/verifications${query}`, { key })

const databaseCheck = async (app: TestApp) => (await examine(app.deps, true)).find(({ name }) => name === 'database')

test('a page whose look cannot be read is 500, and the service goes on', async () => {
  const { app, key } = await startWithTenant()
  const { id } = await createVerification(app, key)
  editRows(app, 'ALTER TABLE tenant_looks RENAME TO lost')
  const { status, body } = await app.call<ErrorBody>('GET', `/v/${id}/data`)
  expect([status, body.error.code]).toEqual([500, 'internal_error'])
  editRows(app, 'ALTER TABLE lost RENAME TO tenant_looks')
  expect((await app.call('GET', `/v/${id}/data`)).status).toBe(200)
})

describe.each([
  ['what it was created with', `UPDATE verification_sessions SET sealed = ${ZEROS} WHERE id = ?`],
  ['its result', `UPDATE verification_results SET sealed = ${ZEROS} WHERE verification_id = ?`],
  ['its result, which is gone', 'DELETE FROM verification_results WHERE verification_id = ?'],
])('a session with damage to %s', (_, damage) => {
  test('is 500, as is every page that holds it, and all other pages are served', async () => {
    const { app, tenant, damaged, newest, oldest } = await damagedAmongThree(damage)
    const whole = await listOf(app, tenant.key)
    expect(outcome(whole)).toBe('500 internal_error')
    expect(whole.text).not.toContain(damaged)
    expect((await app.call('GET', `/v1/verifications/${damaged}`, { key: tenant.key })).status).toBe(500)
    const mia = await joinMember(app, tenant.id, 'mia')
    const pages = `/tenants/${tenant.id}/verifications`
    expect((await mia.get(`${pages}?environment=test`)).status).toBe(500)
    expect((await mia.get(`${pages}/${damaged}?environment=test`)).status).toBe(500)
    const { body: first } = await listOf(app, tenant.key, '?limit=1')
    expect(first.data.map(({ id }) => id)).toEqual([newest])
    expect((await app.call('GET', `/v1/verifications/${oldest}`, { key: tenant.key })).status).toBe(200)
  })

  test('every read of an unreadable session logs the beginning of its name on the audit chain, never its id', async () => {
    const { app, tenant, damaged } = await damagedAmongThree(damage)
    await listOf(app, tenant.key)
    await app.call('GET', `/v1/verifications/${damaged}`, { key: tenant.key })
    const told = app.logs.map(line => JSON.parse(line)).filter(({ event }) => event === 'verification.unreadable')
    expect(told).toHaveLength(2)
    const [{ session, tenant: tenantId, level }] = told
    expect([session.length, tenantId, level]).toEqual([8, tenant.id, 'error'])
    await linkEntries(app.deps)
    const subjects = rowsOf<{ subject: string }>(
      app.dir,
      `SELECT DISTINCT subject FROM audit_records WHERE subject LIKE '${session}%'`,
    )
    expect(subjects).toEqual([{ subject: app.deps.audit.subjectOf(damaged) }])
    expect(app.logs.filter(line => line.includes(damaged))).toEqual([])
  })

  test('the doctor names it; once it is erased, the doctor is content and the list has the others', async () => {
    const { app, tenant, damaged, newest, oldest } = await damagedAmongThree(damage)
    const found = await databaseCheck(app)
    expect(found?.status).toBe('problem')
    expect(found?.detail).toContain(damaged)
    expect(found?.detail).not.toContain(newest)
    expect((await app.call('DELETE', `/v1/verifications/${damaged}`, { key: tenant.key })).status).toBe(200)
    expect((await databaseCheck(app))?.status).toBe('ok')
    const { body } = await listOf(app, tenant.key)
    expect(body.data.map(({ id }) => id)).toEqual([newest, oldest])
  })
})

test('a failed delivery of an unreadable session stops neither the overview nor the doctor', async () => {
  const receiver = receive(() => new Response(null, { status: 410 }))
  const { app, ...tenant } = await startTenantFor([receiver])
  const body = { webhook_url: receiver.url() }
  const damaged = (await verifyWith(app, tenant.key, 'adult', { body })).verification.id
  await untilAttempted(app, damaged, 1)
  editRows(app, `UPDATE verification_sessions SET sealed = ${ZEROS} WHERE id = ?`, damaged)
  app.clock.advance(1000)
  const others: string[] = []
  for (let i = 0; i < RECENT; i++) others.push((await verifyWith(app, tenant.key, 'adult')).verification.id)
  const mia = await joinMember(app, tenant.id, 'mia')
  const overview = await mia.get<{ recent: Verification[]; attention: { code: string }[] }>(
    `/tenants/${tenant.id}/overview?environment=test`,
  )
  expect(overview.status).toBe(200)
  expect(overview.body.recent.map(({ id }) => id)).toEqual(others.toReversed())
  expect(app.logs.some(line => line.includes('verification.unreadable'))).toBe(true)
  const checks = await examine(app.deps, true)
  expect(checks.filter(({ detail }) => detail.includes('The check itself failed'))).toEqual([])
  expect(checks.find(({ name }) => name === 'database')?.detail).toContain(damaged)
})
