import { randomBytes } from 'node:crypto'
import { desc } from 'drizzle-orm'
import { createKey, revokeKey, rollKey } from '../../src/access/keys.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import { loadConfig } from '../../src/config.ts'
import { auditCheckpoints } from '../../src/db/schema/audit.ts'
import { createDeps, type Deps } from '../../src/deps.ts'
import { removeTemplate, saveTemplate } from '../../src/templates/save.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import { createVerification, NOON, startApp, type TestApp } from './app.ts'
import { databaseOf } from './database.ts'

const QUERY = {
  credentials: [
    { id: 'member', format: 'dc+sd-jwt', meta: { vct_values: ['https://club.example/member'] }, claims: [{ path: ['level'] }] },
  ],
} as const

/** A service that has done a bit of everything: some forty records, of which the first half lies under a signed checkpoint. */
export async function auditedApp() {
  const app = await startApp()
  const { deps } = app
  const shop = await app.tenant({ name: 'Shop' })
  const bar = await app.tenant({ name: 'Bar', plan: 'trial' })
  await changeTenant(deps, bar.id, { dailyQuota: 50, retentionDays: 30 }, 'test')
  const wanted = { tenantId: bar.id, environment: 'test', scopes: SCOPES, actor: 'test' } as const
  const [old, lost] = [await createKey(deps, { ...wanted, label: 'old' }), await createKey(deps, { ...wanted, label: 'lost' })]
  await rollKey(deps, old.row.id, '24h', 'test')
  await revokeKey(deps, lost.row.id, 'test')
  await saveTemplate(deps, { tenantId: shop.id, key: 'membership', title: 'Member', query: QUERY }, 'test')
  await saveTemplate(deps, { tenantId: shop.id, key: 'short-lived', title: 'Short-lived', query: QUERY }, 'test')
  await removeTemplate(deps, { tenantId: shop.id, key: 'short-lived' }, 'test')
  await createAndErase(app, shop.key, 6)
  const checkpointAt = await sign(app)
  await createAndErase(app, shop.key, 6)
  await createAndErase(app, bar.key, 7)
  return { app, shop, bar, checkpointAt }
}

/** Every third one is erased again. */
async function createAndErase(app: TestApp, key: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    app.clock.advance(1000)
    const { id } = await createVerification(app, key, { purpose: `To buy wine, number ${i}`, metadata: { order: `A-${i}` } })
    if (i % 3 === 2) await app.call('DELETE', `/v1/verifications/${id}`, { key })
  }
}

/** Signs the head, and returns its number. */
export async function sign({ deps }: Pick<TestApp, 'deps'>): Promise<number> {
  await deps.write(tx => deps.audit.checkpoint(tx, deps.now()))
  const [last] = await deps.db.select().from(auditCheckpoints).orderBy(desc(auditCheckpoints.seq)).limit(1)
  return last?.seq ?? 0
}

/** A directory opened as a command opens it. */
export async function withCommand<T>(dir: string, act: (deps: Deps) => Promise<T>): Promise<T> {
  const world = {
    now: () => NOON + 3_600_000,
    random: (count: number) => randomBytes(count),
    resolve: async () => [],
    writeLog: () => {},
    prettyLog: false,
  }
  const deps = await createDeps(loadConfig({ VIDIMUS_DATA_DIR: dir, ...(await databaseOf(dir)) }), world, 'command')
  try {
    return await act(deps)
  } finally {
    await deps.close()
  }
}
