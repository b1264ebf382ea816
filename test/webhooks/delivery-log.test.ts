import type { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { browseDeliveries } from '../../src/webhooks/browse.ts'
import { readDeliveries } from '../../src/webhooks/log.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'

afterAll(cleanUp)

/** How SQLite goes about each select of the delivery log that a call makes. */
async function plansOf({ deps }: TestApp, call: () => Promise<unknown>): Promise<string[]> {
  const { $client: sqlite } = deps.db as unknown as { $client: Database }
  const asked: string[] = []
  const { prepare } = sqlite
  sqlite.prepare = ((text: string) => {
    asked.push(text)
    return prepare.call(sqlite, text)
  }) as typeof prepare
  await call()
  sqlite.prepare = prepare
  return asked
    .filter(text => text.includes('from "webhook_deliveries"'))
    .map(text => {
      const steps = prepare.call(sqlite, `EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]
      return steps.map(({ detail }) => detail).find(detail => detail.includes('webhook_deliveries')) ?? ''
    })
}

test('the log of one verification is found by its own index, not by a walk through the log of the tenant', async () => {
  const app = await startApp()
  const { id: tenantId } = await app.tenant()
  const owner = { tenantId, environment: 'test' } as const
  const filter = { verificationId: 'vs_1', limit: 10 }
  const plans = [
    ...(await plansOf(app, () => readDeliveries(app.deps, tenantId, filter))),
    ...(await plansOf(app, () => readDeliveries(app.deps, tenantId, { ...filter, status: 'failed', before: 5 }))),
    ...(await plansOf(app, () => browseDeliveries(app.deps, owner, filter))),
    ...(await plansOf(app, () => browseDeliveries(app.deps, owner, { ...filter, before: '5.whd_1' }))),
  ]
  expect(plans).toHaveLength(4)
  for (const plan of plans)
    expect(plan).toBe('SEARCH webhook_deliveries USING INDEX webhook_deliveries_session (verification_id=?)')
  const [whole] = await plansOf(app, () => readDeliveries(app.deps, tenantId))
  expect(whole).toBe('SEARCH webhook_deliveries USING INDEX webhook_deliveries_newest (tenant_id=?)')
})
