import { and, eq, gt, lte } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { portraits } from '../db/schema/portraits.ts'

type SessionKey = { id: string; tenantId: string }
export type PortraitRow = typeof portraits.$inferSelect

const isOf = ({ id, tenantId }: SessionKey) => and(eq(portraits.verificationId, id), eq(portraits.tenantId, tenantId))

export async function insertPortrait(tx: Db, row: PortraitRow): Promise<void> {
  await tx.insert(portraits).values(row)
}

/** Undefined after its time, whether it was swept or not. */
export async function findPortrait(db: Db, { id, tenantId }: SessionKey, now: number): Promise<PortraitRow | undefined> {
  const [row] = await db
    .select()
    .from(portraits)
    .where(and(isOf({ id, tenantId }), gt(portraits.keptUntil, now)))
  return row
}

/** For a transaction that seals it again. */
export async function updatePortrait(tx: Db, session: SessionKey, sealed: Buffer): Promise<void> {
  await tx.update(portraits).set({ sealed }).where(isOf(session))
}

export async function deletePortrait(tx: Db, session: SessionKey): Promise<void> {
  await tx.delete(portraits).where(isOf(session))
}

/** Returns how many there were. */
export async function deletePortraitsUntil(tx: Db, now: number): Promise<number> {
  const deleted = await tx.delete(portraits).where(lte(portraits.keptUntil, now)).returning({ id: portraits.verificationId })
  return deleted.length
}
