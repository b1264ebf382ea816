import { and, desc, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { apiKeys } from '../db/schema/access.ts'
import { tenants } from '../db/schema/tenants.ts'
import { hot, locked } from '../db/statements.ts'
import type { Plan } from '../tenants/settings.ts'

export type ApiKeyRow = typeof apiKeys.$inferSelect

/** A key with its tenant's plan and app schemes: all that a request needs. */
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
  /** JSON. */
  app_schemes: string | null
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
      appSchemes: tenants.appSchemes,
    })
    .from(apiKeys)
    .innerJoin(tenants, eq(tenants.id, apiKeys.tenantId))
    .where(eq(apiKeys.hash, sql.placeholder('hash'))),
)

export async function findKeyByHash(db: Db, hash: string): Promise<KeyCredentials | undefined> {
  const [row] = await selectByHash(db, { hash })
  return row
}

export async function findKey(db: Db, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.id, id)).limit(1)
  return row
}

export async function lockKey(tx: Db, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await locked(tx.select().from(apiKeys).where(eq(apiKeys.id, id)), 'no key update')
  return row
}

export async function listKeys(db: Db, tenantId: string): Promise<ApiKeyRow[]> {
  return await db.select().from(apiKeys).where(eq(apiKeys.tenantId, tenantId)).orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
}

export async function insertKey(tx: Db, row: ApiKeyRow): Promise<void> {
  await tx.insert(apiKeys).values(row)
}

/** Undefined when it is unknown or was revoked before. */
export async function markKeyRevoked(tx: Db, id: string, at: number): Promise<ApiKeyRow | undefined> {
  const [row] = await tx
    .update(apiKeys)
    .set({ revokedAt: at })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
    .returning()
  return row
}

export async function markKeyRolled(tx: Db, id: string, rolled: { expiresAt: number; successorId: string }): Promise<void> {
  await tx.update(apiKeys).set(rolled).where(eq(apiKeys.id, id))
}

/** Nothing changes when it was used in that hour, or later. */
export async function markKeyUsed(tx: Db, id: string, at: number): Promise<void> {
  await tx
    .update(apiKeys)
    .set({ lastUsedAt: at })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, at))))
}
