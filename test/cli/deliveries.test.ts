import { expect, test } from 'bun:test'
import { createVerification, startApp, type TestApp } from '../helpers/app.ts'
import { vidimusJson } from '../helpers/command.ts'
import { AUDIT_ENTRIES, editRows, rowsOf } from '../helpers/database.ts'

type Wanted = { tenantId: string; sessionId: string; status: string; from: number; count: number }

function insertMany(app: TestApp, { tenantId, sessionId, status, from, count }: Wanted): void {
  const at = app.clock.now()
  const rows = Array.from(
    { length: count },
    (_, i) =>
      `('whd_${String(from + i).padStart(22, '0')}', '${tenantId}', '${sessionId}', 'verification.completed', '${status}', 1, ${at}, ${at}, '', 'live')`,
  )
  const into =
    'INSERT INTO webhook_deliveries (id, tenant_id, verification_id, type, status, attempts, due_at, created_at, receiver, environment)'
  editRows(app, `${into} VALUES ${rows.join(', ')}`)
}

test('replay --failed makes due every failed delivery of the tenant, at most a thousand in one write, and no other', async () => {
  const app = await startApp()
  const [shop, other] = [await app.tenant(), await app.tenant()]
  const [test, live] = [await createVerification(app, shop.key), await createVerification(app, shop.liveKey)]
  const foreign = await createVerification(app, other.key)
  insertMany(app, { tenantId: shop.id, sessionId: test.id, status: 'failed', from: 0, count: 1500 })
  insertMany(app, { tenantId: shop.id, sessionId: live.id, status: 'failed', from: 1500, count: 501 })
  insertMany(app, { tenantId: shop.id, sessionId: live.id, status: 'delivered', from: 2001, count: 2 })
  insertMany(app, { tenantId: other.id, sessionId: foreign.id, status: 'failed', from: 2003, count: 1 })
  await app.stop()
  expect(await vidimusJson<object>(app.dir, 'deliveries', 'replay', '--failed', '--tenant', shop.id)).toEqual({ replayed: 2001 })

  const statuses = rowsOf(app.dir, 'SELECT tenant_id AS tenant, status, count(*) AS n FROM webhook_deliveries GROUP BY 1, 2')
  expect(statuses).toHaveLength(3)
  expect(statuses).toContainEqual({ tenant: shop.id, status: 'pending', n: 2001 })
  expect(statuses).toContainEqual({ tenant: shop.id, status: 'delivered', n: 2 })
  expect(statuses).toContainEqual({ tenant: other.id, status: 'failed', n: 1 })
  expect(rowsOf(app.dir, `SELECT at FROM ${AUDIT_ENTRIES} WHERE action = 'webhook.replayed'`)).toHaveLength(3)
})
