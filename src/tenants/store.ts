import { and, asc, desc, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { goLive, tenants } from '../db/schema/tenants.ts'
import { webhookEndpoints, webhookSecrets } from '../db/schema/webhooks.ts'
import { hot, locked, prepared, wholeRow } from '../db/statements.ts'

export type TenantRow = typeof tenants.$inferSelect
export type WebhookSecretRow = typeof webhookSecrets.$inferSelect
type WebhookEndpointRow = typeof webhookEndpoints.$inferSelect
type GoLiveRow = typeof goLive.$inferSelect

/** Test and live have their own keys, devices, sessions and webhooks. */
export type Owner = { tenantId: string; environment: WebhookSecretRow['environment'] }

export async function insertTenant(tx: Db, row: TenantRow): Promise<void> {
  await tx.insert(tenants).values(row)
}

const selectTenant = prepared(db =>
  db
    .select()
    .from(tenants)
    .where(eq(tenants.id, sql.placeholder('id')))
    .prepare(),
)

export async function findTenant(db: Db, id: string): Promise<TenantRow | undefined> {
  const [row] = await selectTenant(db).execute({ id })
  return row
}

/** Taken by writes that must not overlap. Rows that refer to the tenant do not wait. */
export async function lockTenant(tx: Db, id: string): Promise<void> {
  await locked(tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, id)), 'no key update')
}

export async function listTenants(db: Db): Promise<TenantRow[]> {
  return await db.select().from(tenants).orderBy(asc(tenants.createdAt), asc(tenants.id))
}

export async function updateTenant(
  tx: Db,
  id: string,
  changes: Partial<Pick<TenantRow, 'name' | 'plan' | 'dailyQuota' | 'retentionDays' | 'appSchemes'>>,
): Promise<TenantRow | undefined> {
  const [row] = await tx.update(tenants).set(changes).where(eq(tenants.id, id)).returning()
  return row
}

export async function insertWebhookSecret(tx: Db, row: Omit<WebhookSecretRow, 'id'>): Promise<void> {
  await tx.insert(webhookSecrets).values(row)
}

const selectSecrets = prepared(db =>
  db
    .select()
    .from(webhookSecrets)
    .where(
      and(
        eq(webhookSecrets.tenantId, sql.placeholder('tenantId')),
        eq(webhookSecrets.environment, sql.placeholder('environment')),
      ),
    )
    .orderBy(desc(webhookSecrets.id))
    .prepare(),
)

/** The current one first, then the previous one: there are never more. */
export async function listWebhookSecrets(db: Db, { tenantId, environment }: Owner): Promise<WebhookSecretRow[]> {
  return await selectSecrets(db).execute({ tenantId, environment })
}

const ownedBy = ({ tenantId, environment }: Owner) =>
  and(eq(webhookSecrets.tenantId, tenantId), eq(webhookSecrets.environment, environment))

export async function retireWebhookSecret(tx: Db, owner: Owner, validUntil: number): Promise<void> {
  await tx
    .update(webhookSecrets)
    .set({ validUntil })
    .where(and(ownedBy(owner), isNull(webhookSecrets.validUntil)))
}

export async function deleteRetiredSecrets(tx: Db, owner: Owner): Promise<number> {
  const gone = await tx
    .delete(webhookSecrets)
    .where(and(ownedBy(owner), isNotNull(webhookSecrets.validUntil)))
    .returning({ id: webhookSecrets.id })
  return gone.length
}

const wholeEndpoint = wholeRow(webhookEndpoints)

const selectEndpoint = hot<Record<string, unknown>>(db =>
  db
    .select(wholeEndpoint.columns)
    .from(webhookEndpoints)
    .where(
      and(
        eq(webhookEndpoints.tenantId, sql.placeholder('tenantId')),
        eq(webhookEndpoints.environment, sql.placeholder('environment')),
      ),
    ),
)

export async function findEndpoint(db: Db, { tenantId, environment }: Owner): Promise<WebhookEndpointRow | undefined> {
  const [row] = await selectEndpoint(db, { tenantId, environment })
  return row && wholeEndpoint.read(row)
}

export async function deleteEndpoint(tx: Db, { tenantId, environment }: Owner): Promise<boolean> {
  const gone = await tx
    .delete(webhookEndpoints)
    .where(and(eq(webhookEndpoints.tenantId, tenantId), eq(webhookEndpoints.environment, environment)))
    .returning({ environment: webhookEndpoints.environment })
  return gone.length > 0
}

export async function upsertEndpoint(tx: Db, { tenantId, environment, ...endpoint }: WebhookEndpointRow): Promise<void> {
  await tx
    .insert(webhookEndpoints)
    .values({ tenantId, environment, ...endpoint })
    .onConflictDoUpdate({ target: [webhookEndpoints.tenantId, webhookEndpoints.environment], set: endpoint })
}

export async function listAllSecrets(db: Db): Promise<WebhookSecretRow[]> {
  return await db.select().from(webhookSecrets)
}

export async function updateSecretSealed(tx: Db, id: number, sealed: Buffer): Promise<void> {
  await tx.update(webhookSecrets).set({ sealed }).where(eq(webhookSecrets.id, id))
}

export async function listAllEndpoints(db: Db): Promise<WebhookEndpointRow[]> {
  return await db.select().from(webhookEndpoints)
}

export async function updateEndpointSealed(tx: Db, { tenantId, environment }: Owner, sealed: Buffer): Promise<void> {
  await tx
    .update(webhookEndpoints)
    .set({ sealed })
    .where(and(eq(webhookEndpoints.tenantId, tenantId), eq(webhookEndpoints.environment, environment)))
}

export async function findGoLive(db: Db, tenantId: string): Promise<GoLiveRow | undefined> {
  const [row] = await db.select().from(goLive).where(eq(goLive.tenantId, tenantId))
  return row
}

/** Tenants whose first live verification was completed, and that decided how long they keep results. */
export async function listLive(db: Db): Promise<string[]> {
  const rows = await db
    .select({ id: goLive.tenantId })
    .from(goLive)
    .innerJoin(tenants, eq(tenants.id, goLive.tenantId))
    .where(and(isNotNull(goLive.firstLiveAt), or(isNotNull(goLive.retentionChosenAt), isNotNull(tenants.retentionDays))))
  return rows.map(({ id }) => id)
}

export async function upsertRetentionChosen(tx: Db, tenantId: string, at: number): Promise<void> {
  const row = { tenantId, documents: [], retentionChosenAt: at }
  await tx
    .insert(goLive)
    .values(row)
    .onConflictDoUpdate({ target: goLive.tenantId, set: { retentionChosenAt: at } })
}

/** The first times stay as they are. */
export async function upsertGoLiveDocuments(tx: Db, tenantId: string, documents: string[]): Promise<void> {
  const row = { tenantId, documents, firstTestAt: null, firstLiveAt: null }
  await tx.insert(goLive).values(row).onConflictDoUpdate({ target: goLive.tenantId, set: { documents } })
}

const FIRST_TIMES = { test: 'firstTestAt', live: 'firstLiveAt' } as const

/** The first one stays. */
export async function recordFirst(tx: Db, { tenantId, environment }: Owner, at: number): Promise<void> {
  const name = FIRST_TIMES[environment]
  await tx
    .insert(goLive)
    .values({ tenantId, documents: [], [name]: at })
    .onConflictDoUpdate({ target: goLive.tenantId, set: { [name]: at }, setWhere: isNull(goLive[name]) })
}
