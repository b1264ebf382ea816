// The first answer under an Idempotency-Key, for repeats.
import { and, eq, lt, lte, sql } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { idempotencyKeys } from '../../db/schema/verifications.ts'
import { column, hot, wholeRow } from '../../db/statements.ts'

export type ReplayRow = typeof idempotencyKeys.$inferSelect

const wholeReplay = wholeRow(idempotencyKeys)

const selectReplay = hot<Record<string, unknown>>(db =>
  db
    .select(wholeReplay.columns)
    .from(idempotencyKeys)
    .where(eq(idempotencyKeys.hash, column('hash'))),
)

export async function findReplay(db: Db, hash: string, now: number): Promise<ReplayRow | undefined> {
  const [found] = await selectReplay(db, { hash })
  const row = found && wholeReplay.read(found)
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
      wrappingKey: column('wrappingKey'),
    })
    .onConflictDoUpdate({
      target: idempotencyKeys.hash,
      set: {
        fingerprint: sql`excluded.fingerprint`,
        salt: sql`excluded.salt`,
        sealed: sql`excluded.sealed`,
        expiresAt: sql`excluded.expires_at`,
        wrappingKey: sql`excluded.wrapping_key`,
      },
      setWhere: lte(idempotencyKeys.expiresAt, column('now')),
    })
    .returning({ hash: idempotencyKeys.hash }),
)

/** False when the key is taken by a row that is still valid. */
export async function keepReplay(tx: Db, row: ReplayRow, now: number): Promise<boolean> {
  return (await insertReplay(tx, { ...row, now })).length > 0
}

/**
 * Leaves a tombstone: the key stays taken, its answer is deleted. Only for an answer that ends before a time: a day later the key
 * may have created another session, whose answer is kept for longer.
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
