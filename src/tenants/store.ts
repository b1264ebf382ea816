import { and, asc, desc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Db } from '#db'
import { tenants, webhookSecrets } from '#schema'
import { prepared } from '../db/statements.ts'

export type TenantRow = typeof tenants.$inferSelect
export type WebhookSecretRow = typeof webhookSecrets.$inferSelect

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

export async function listTenants(db: Db): Promise<TenantRow[]> {
  return await db.select().from(tenants).orderBy(asc(tenants.createdAt), asc(tenants.id))
}

export async function updateTenant(
  tx: Db,
  id: string,
  changes: Partial<Pick<TenantRow, 'name' | 'plan' | 'dailyQuota' | 'retentionDays'>>,
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
    .where(eq(webhookSecrets.tenantId, sql.placeholder('tenantId')))
    .orderBy(desc(webhookSecrets.id))
    .prepare(),
)

/** The current one first, then the one before it: there are never more. */
export async function listWebhookSecrets(db: Db, tenantId: string): Promise<WebhookSecretRow[]> {
  return await selectSecrets(db).execute({ tenantId })
}

export async function retireWebhookSecret(tx: Db, tenantId: string, validUntil: number): Promise<void> {
  await tx
    .update(webhookSecrets)
    .set({ validUntil })
    .where(and(eq(webhookSecrets.tenantId, tenantId), isNull(webhookSecrets.validUntil)))
}

export async function deleteRetiredSecrets(tx: Db, tenantId: string): Promise<number> {
  const gone = await tx
    .delete(webhookSecrets)
    .where(and(eq(webhookSecrets.tenantId, tenantId), isNotNull(webhookSecrets.validUntil)))
    .returning({ id: webhookSecrets.id })
  return gone.length
}
