// A data directory of the version before, which queued messages and sent none.
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createTenant } from '../../src/tenants/settings.ts'
import { readWebhookSecrets } from '../../src/tenants/webhook-secret.ts'
import { cleanUp, NOON, until } from '../helpers/app.ts'
import { withOldSchema } from '../helpers/crash/old-schema.ts'
import { one } from '../helpers/directories.ts'
import { declined, logOf, receive, startAppFor, verified } from '../helpers/receiver.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000

test('pending messages of the earlier version are sent once after the upgrade, with the current test secret', async () => {
  const receivers = [receive(), receive()]
  const before = await startAppFor(receivers, { config: { webhookDelaysMs: [HOUR_MS] } })
  // Verifications of that version have no keys of their own.
  before.deps.sessionKeys.current = () => null
  const shops = [
    await createTenant(before.deps, { name: 'Shop' }, 'test'),
    await createTenant(before.deps, { name: 'Bar' }, 'test'),
  ]
  const owed = new Map<string, string>()
  for (const { tenant } of shops) {
    const key = await before.key(tenant.id)
    for (let i = 0; i < 10; i++) owed.set(await declined({ app: before, key }, receivers[i % 2]!.url()), tenant.id)
  }
  await before.stop()
  const dir = withOldSchema(before.dir, 1)
  expect(
    one(join(dir, 'vidimus.db'), "SELECT name FROM pragma_table_info('webhook_deliveries') WHERE name = 'lane'"),
  ).toBeUndefined()

  const now = NOON + 30 * HOUR_MS
  const app = await startAppFor(receivers, { dir, now })
  await until(async () => [...owed.keys()].every(id => logOf(app, id).delivery?.status === 'delivered'))
  const received = receivers.flatMap(receiver => receiver.received)
  expect(received).toHaveLength(owed.size)
  for (const message of received) {
    const { id } = JSON.parse(message.body).verification
    const secrets = await readWebhookSecrets(app.deps, { tenantId: owed.get(id) ?? '', environment: 'test' })
    expect((await verified(message, secrets?.current ?? '', now)).verification.id).toBe(id)
  }
})
