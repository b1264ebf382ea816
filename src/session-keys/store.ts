import { and, asc, eq, gt, inArray, isNull, lt, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { sessionKeys, wrappingKeys } from '../db/schema/session-keys.ts'
import { verificationSessions } from '../db/schema/verifications.ts'
import { hot, locked } from '../db/statements.ts'

export type WrappingKeyRow = typeof wrappingKeys.$inferSelect

export async function listWrappingKeys(db: Db): Promise<WrappingKeyRow[]> {
  return await db.select().from(wrappingKeys).orderBy(asc(wrappingKeys.id))
}

/** The first one counts when two processes make the same number. */
export async function insertWrappingKey(tx: Db, row: WrappingKeyRow): Promise<void> {
  await tx.insert(wrappingKeys).values(row).onConflictDoNothing({ target: wrappingKeys.id })
}

export async function updateWrappingKey(
  tx: Db,
  id: number,
  change: Partial<Pick<WrappingKeyRow, 'activeAt' | 'unreadableAt'>>,
): Promise<void> {
  await tx.update(wrappingKeys).set(change).where(eq(wrappingKeys.id, id))
}

/** All that were active before the given one. */
export async function retireBefore(tx: Db, id: number, retiredAt: number): Promise<void> {
  await tx
    .update(wrappingKeys)
    .set({ retiredAt })
    .where(and(lt(wrappingKeys.id, id), isNull(wrappingKeys.retiredAt)))
}

export async function deleteWrappingKey(tx: Db, id: number): Promise<void> {
  await tx.delete(wrappingKeys).where(eq(wrappingKeys.id, id))
}

export type WrappedKey = Pick<typeof sessionKeys.$inferSelect, 'wrappingKey' | 'wrapped'>

/** Wrapped keys by session. */
export async function findWrapped(db: Db, ids: readonly string[]): Promise<Map<string, WrappedKey>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .select()
    .from(sessionKeys)
    .where(inArray(sessionKeys.verificationId, [...ids]))
  return new Map(rows.map(({ verificationId, wrappingKey, wrapped }) => [verificationId, { wrappingKey, wrapped }]))
}

export type KeyedSession = { id: string; tenantId: string; wrappingKey: number }

/** All sessions by id, locked: their keys are wrapped anew in this transaction. */
export async function lockKeyedSessions(tx: Db, afterId: string, limit: number): Promise<KeyedSession[]> {
  const { id, tenantId, wrappingKey } = verificationSessions
  const batch = tx
    .select({ id, tenantId, wrappingKey })
    .from(verificationSessions)
    .where(gt(id, afterId))
    .orderBy(asc(id))
    .limit(limit)
  return await locked(batch, 'no key update')
}

export async function keepWrapped(tx: Db, rows: (typeof sessionKeys.$inferInsert)[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .insert(sessionKeys)
    .values(rows)
    .onConflictDoUpdate({
      target: [sessionKeys.verificationId, sessionKeys.tenantId],
      set: { wrappingKey: sql`excluded.wrapping_key`, wrapped: sql`excluded.wrapped` },
    })
}

const selectWrappingKeyOf = hot<{ id: string; tenant_id: string; wrapping_key: number }>(db => {
  const { id, tenantId, wrappingKey } = verificationSessions
  return db
    .select({ id, tenantId, wrappingKey })
    .from(verificationSessions)
    .where(eq(id, sql.placeholder('id')))
})

export async function findWrappingKeyOf(db: Db, id: string): Promise<KeyedSession | undefined> {
  const [row] = await selectWrappingKeyOf(db, { id })
  return row && { id, tenantId: row.tenant_id, wrappingKey: row.wrapping_key }
}

export async function listWrappingKeysOf(db: Db, ids: readonly string[]): Promise<KeyedSession[]> {
  const { id, tenantId, wrappingKey } = verificationSessions
  return await db
    .select({ id, tenantId, wrappingKey })
    .from(verificationSessions)
    .where(inArray(id, [...ids]))
}
