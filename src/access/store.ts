import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { type Db, prepared } from '#db'
import { apiKeys } from '#schema'

export type ApiKeyRow = typeof apiKeys.$inferSelect

const selectByHash = prepared(db =>
  db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.hash, sql.placeholder('hash')))
    .limit(1)
    .prepare(),
)

export async function findKeyByHash(db: Db, hash: string): Promise<ApiKeyRow | undefined> {
  const [row] = await selectByHash(db).execute({ hash })
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
