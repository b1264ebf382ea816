// The first answer under an Idempotency-Key, for repeats.
import { and, eq, inArray, lt, lte, or, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { LIVING_NODES } from '../db/postgres/nodes.ts'
import { idempotencyKeys } from '../db/schema.ts'
import { column, hot, wholeRow } from '../db/statements.ts'

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
export async function keepReplay(tx: Db, row: Omit<ReplayRow, 'claimedBy' | 'claimedUntil'>, now: number): Promise<boolean> {
  return (await insertReplay(tx, { ...row, now })).length > 0
}

type ClaimRow = Pick<ReplayRow, 'hash' | 'tenantId' | 'fingerprint'> & { claimedBy: string; claimedUntil: number }

const upsertClaim = hot<{ hash: string }>(db =>
  db
    .insert(idempotencyKeys)
    .values({
      hash: column('hash'),
      tenantId: column('tenantId'),
      fingerprint: column('fingerprint'),
      expiresAt: column('claimedUntil'),
      claimedBy: column('claimedBy'),
      claimedUntil: column('claimedUntil'),
    })
    .onConflictDoUpdate({
      target: idempotencyKeys.hash,
      set: {
        fingerprint: sql`excluded.fingerprint`,
        salt: null,
        sealed: null,
        wrappingKey: null,
        expiresAt: sql`excluded.expires_at`,
        claimedBy: sql`excluded.claimed_by`,
        claimedUntil: sql`excluded.claimed_until`,
      },
      // Its own: the statement is repeated when a connection was lost.
      setWhere: or(
        and(lte(idempotencyKeys.expiresAt, column('now')), sql`${idempotencyKeys.claimedBy} IS NULL`),
        sql`${idempotencyKeys.claimedBy} = excluded.claimed_by`,
      ),
    })
    .returning({ hash: idempotencyKeys.hash }),
)

/** False when the key has an answer, or a request at work on one. */
export async function insertClaim(light: Db, row: ClaimRow, now: number): Promise<boolean> {
  return (await upsertClaim(light, { ...row, now })).length > 0
}

type FoundClaim = ReplayRow & { isHeld: boolean }

/** The row of a key. `isHeld`: its request is within its time, on a living node. */
export async function findClaim(light: Db, hash: string, now: number): Promise<FoundClaim | undefined> {
  const { claimedBy, claimedUntil } = idempotencyKeys
  const [found] = await light
    .select({
      row: idempotencyKeys,
      isHeld: sql<boolean>`coalesce(${claimedUntil} > ${now} AND split_part(${claimedBy}, ' ', 1) IN (${sql.raw(LIVING_NODES)}), false)`,
    })
    .from(idempotencyKeys)
    .where(eq(idempotencyKeys.hash, hash))
  return found && { ...found.row, isHeld: found.isHeld }
}

/** False when another request was faster, or the one that held it ended after all. */
export async function takeOverClaim(light: Db, own: ClaimRow, from: string): Promise<boolean> {
  const { hash, fingerprint, claimedBy, claimedUntil } = own
  const taken = await light
    .update(idempotencyKeys)
    .set({ fingerprint, claimedBy, claimedUntil, expiresAt: claimedUntil })
    // Its own: the statement is repeated when a connection was lost.
    .where(and(eq(idempotencyKeys.hash, hash), inArray(idempotencyKeys.claimedBy, [from, claimedBy])))
    .returning({ hash: idempotencyKeys.hash })
  return taken.length > 0
}

const updateClaim = hot<{ hash: string }>(db =>
  db
    .update(idempotencyKeys)
    .set({
      salt: sql`${column('salt')}`,
      sealed: sql`${column('sealed')}`,
      wrappingKey: sql`${column('wrappingKey')}`,
      expiresAt: sql`${column('expiresAt')}`,
      claimedBy: null,
      claimedUntil: null,
    })
    .where(and(eq(idempotencyKeys.hash, column('hash')), eq(idempotencyKeys.claimedBy, column('claimedBy'))))
    .returning({ hash: idempotencyKeys.hash }),
)

type Answer = Pick<ReplayRow, 'hash' | 'claimedBy' | 'salt' | 'sealed' | 'wrappingKey' | 'expiresAt'>

/** False when the claim is no longer this request's. */
export async function finishClaim(tx: Db, answer: Answer): Promise<boolean> {
  return (await updateClaim(tx, answer)).length > 0
}

export async function dropClaim(light: Db, { hash, claimedBy }: { hash: string; claimedBy: string }): Promise<void> {
  await light.delete(idempotencyKeys).where(and(eq(idempotencyKeys.hash, hash), eq(idempotencyKeys.claimedBy, claimedBy)))
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
