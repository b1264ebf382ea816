// The first answer under an Idempotency-Key, for repeats.
import { and, eq, lt, lte, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { idempotencyKeys } from '../db/schema.ts'
import { hot, prepared } from '../db/statements.ts'

export type ReplayRow = typeof idempotencyKeys.$inferSelect

const column = <Name extends string>(name: Name) => sql.placeholder(name)

const selectReplay = prepared(db =>
  db
    .select()
    .from(idempotencyKeys)
    .where(eq(idempotencyKeys.hash, column('hash')))
    .prepare(),
)

export async function findReplay(db: Db, hash: string, now: number): Promise<ReplayRow | undefined> {
  const [row] = await selectReplay(db).execute({ hash })
  return row && row.expiresAt > now ? row : undefined
}

const insertReplay = hot<{ hash: string }>(db =>
  db
    .insert(idempotencyKeys)
    .values({
      hash: column('hash'),
      tenantId: column('tenantId'),
      fingerprint: column('fingerprint'),
      salt: column('salt'),
      sealed: column('sealed'),
      expiresAt: column('expiresAt'),
    })
    .onConflictDoUpdate({
      target: idempotencyKeys.hash,
      set: {
        fingerprint: sql`excluded.fingerprint`,
        salt: sql`excluded.salt`,
        sealed: sql`excluded.sealed`,
        expiresAt: sql`excluded.expires_at`,
      },
      setWhere: lte(idempotencyKeys.expiresAt, column('now')),
    })
    .returning({ hash: idempotencyKeys.hash }),
)

/** False when the key is taken by a row that is still valid. */
export async function keepReplay(tx: Db, row: Omit<ReplayRow, 'claimedBy' | 'claimedUntil'>, now: number): Promise<boolean> {
  return (await insertReplay(tx, { ...row, now })).length > 0
}

/**
 * Leaves a tombstone: the key stays taken, its answer is gone. Only of an answer that ends before a
 * time: after its day a key may have made another session, whose answer is kept for longer.
 */
export async function forgetReplay(tx: Db, hash: string, keptUntilBefore: number): Promise<void> {
  await tx
    .update(idempotencyKeys)
    .set({ salt: null, sealed: null })
    .where(and(eq(idempotencyKeys.hash, hash), lt(idempotencyKeys.expiresAt, keptUntilBefore)))
}

export async function deleteExpiredReplays(tx: Db, now: number): Promise<void> {
  await tx.delete(idempotencyKeys).where(lte(idempotencyKeys.expiresAt, now))
}
