import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { type Db, hot } from '#db'
import { apiKeys, tenants } from '#schema'
import type { Plan } from '../tenants/settings.ts'

export type ApiKeyRow = typeof apiKeys.$inferSelect

/** What a request needs to know of its key, and of the tenant behind it. */
export type KeyCredentials = {
  id: string
  tenant_id: string
  environment: ApiKeyRow['environment']
  hash: string
  prefix: string
  /** JSON. */
  scopes: string
  expires_at: number | null
  revoked_at: number | null
  plan: Plan
  daily_quota: number | null
}

const selectByHash = hot<KeyCredentials>(db =>
  db
    .select({
      id: apiKeys.id,
      tenantId: apiKeys.tenantId,
      environment: apiKeys.environment,
      hash: apiKeys.hash,
      prefix: apiKeys.prefix,
      scopes: apiKeys.scopes,
      expiresAt: apiKeys.expiresAt,
      revokedAt: apiKeys.revokedAt,
      plan: tenants.plan,
      dailyQuota: tenants.dailyQuota,
    })
    .from(apiKeys)
    .innerJoin(tenants, eq(tenants.id, apiKeys.tenantId))
    .where(eq(apiKeys.hash, sql.placeholder('hash'))),
)

export async function findKeyByHash(db: Db, hash: string): Promise<KeyCredentials | undefined> {
  const [row] = selectByHash(db, { hash })
  return row
}

export async function findKey(db: Db, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.id, id)).limit(1)
  return row
}

export async function listKeys(db: Db, tenantId: string): Promise<ApiKeyRow[]> {
  return await db.select().from(apiKeys).where(eq(apiKeys.tenantId, tenantId)).orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
}

export async function insertKey(tx: Db, row: ApiKeyRow): Promise<void> {
  await tx.insert(apiKeys).values(row)
}

/** The row when this call revoked it; nothing when it is unknown or was revoked before. */
export async function markKeyRevoked(tx: Db, id: string, at: number): Promise<ApiKeyRow | undefined> {
  const [row] = await tx
    .update(apiKeys)
    .set({ revokedAt: at })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
    .returning()
  return row
}

export async function setKeyExpiry(tx: Db, id: string, expiresAt: number): Promise<void> {
  await tx.update(apiKeys).set({ expiresAt }).where(eq(apiKeys.id, id))
}
