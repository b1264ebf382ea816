import { and, asc, desc, eq, gt, lt, lte } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { signIns } from '../../db/schema/people.ts'

export type SignInRow = typeof signIns.$inferSelect

export async function insertSignIn(tx: Db, row: Omit<SignInRow, 'id'>): Promise<void> {
  await tx.insert(signIns).values(row)
}

type Filter = { userId?: string; before?: number; limit: number }

/** Newest first. */
export async function listSignIns(db: Db, { userId, before, limit }: Filter): Promise<SignInRow[]> {
  return await db
    .select()
    .from(signIns)
    .where(
      and(
        userId === undefined ? undefined : eq(signIns.userId, userId),
        before === undefined ? undefined : lt(signIns.id, before),
      ),
    )
    .orderBy(desc(signIns.id))
    .limit(limit)
}

export async function listSignInsAfter(tx: Db, id: number, limit: number): Promise<SignInRow[]> {
  return await tx.select().from(signIns).where(gt(signIns.id, id)).orderBy(asc(signIns.id)).limit(limit)
}

export async function updateSignIn(tx: Db, id: number, sealed: Buffer): Promise<void> {
  await tx.update(signIns).set({ sealed }).where(eq(signIns.id, id))
}

export async function deleteSignInsUntil(tx: Db, at: number): Promise<void> {
  await tx.delete(signIns).where(lte(signIns.at, at))
}
