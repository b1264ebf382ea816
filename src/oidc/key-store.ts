import { and, asc, eq, lte } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { oidcKeys } from '../db/schema/oidc.ts'
import type { Issuer } from './client-store.ts'

export type KeyRow = typeof oidcKeys.$inferSelect

/** The first to be used comes first. */
export async function listKeys(db: Db, { tenantId, environment }: Issuer): Promise<KeyRow[]> {
  return await db
    .select()
    .from(oidcKeys)
    .where(and(eq(oidcKeys.tenantId, tenantId), eq(oidcKeys.environment, environment)))
    .orderBy(asc(oidcKeys.useFrom), asc(oidcKeys.kid))
}

export async function listAllKeys(db: Db): Promise<KeyRow[]> {
  return await db.select().from(oidcKeys)
}

export async function insertKey(tx: Db, row: KeyRow): Promise<void> {
  await tx.insert(oidcKeys).values(row)
}

export async function replaceKey(tx: Db, kid: string, end: Pick<KeyRow, 'useUntil' | 'removeAt'>): Promise<void> {
  await tx.update(oidcKeys).set(end).where(eq(oidcKeys.kid, kid))
}

export async function updateKeySealed(tx: Db, kid: string, sealed: Buffer): Promise<void> {
  await tx.update(oidcKeys).set({ sealed }).where(eq(oidcKeys.kid, kid))
}

export async function deleteKey(tx: Db, kid: string): Promise<void> {
  await tx.delete(oidcKeys).where(eq(oidcKeys.kid, kid))
}

export async function deleteKeysUntil(tx: Db, now: number): Promise<number> {
  return (await tx.delete(oidcKeys).where(lte(oidcKeys.removeAt, now)).returning({ kid: oidcKeys.kid })).length
}
