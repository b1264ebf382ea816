// Sealed columns, read and replaced when keys change.
import { and, asc, eq, gt } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { idempotencyKeys, verificationEvents, verificationResults, verificationSessions } from '../db/schema.ts'
import { locked } from '../db/statements.ts'
import type { EventRow } from './event-store.ts'
import type { ReplayRow } from './replay-store.ts'
import type { ResultRow, SessionKey } from './store.ts'

const isResultOf = ({ id, tenantId }: SessionKey) =>
  and(eq(verificationResults.verificationId, id), eq(verificationResults.tenantId, tenantId))

/** With all that is sealed. */
export type SealedSession = typeof verificationSessions.$inferSelect
export type SealedRows = { verification: SealedSession; result: ResultRow | null }

/** Sessions by id, locked one table at a time: a result may be missing, and PostgreSQL locks no missing row. */
export async function lockSessionsAfter(tx: Db, { after, limit }: { after: string; limit: number }): Promise<SealedRows[]> {
  const batch = tx
    .select()
    .from(verificationSessions)
    .where(gt(verificationSessions.id, after))
    .orderBy(asc(verificationSessions.id))
    .limit(limit)
  const found: SealedRows[] = []
  for (const verification of await locked(batch, 'update')) {
    const [result = null] = await tx.select().from(verificationResults).where(isResultOf(verification))
    found.push({ verification, result })
  }
  return found
}

export async function updateSession(
  tx: Db,
  { id, tenantId }: SessionKey,
  sealed: Pick<SealedSession, 'sealed' | 'sealedQuery' | 'sealedResponseKey' | 'sealedDcRequests'>,
): Promise<void> {
  await tx
    .update(verificationSessions)
    .set(sealed)
    .where(and(eq(verificationSessions.id, id), eq(verificationSessions.tenantId, tenantId)))
}

export async function updateResult(tx: Db, session: SessionKey, sealed: Buffer): Promise<void> {
  await tx.update(verificationResults).set({ sealed }).where(isResultOf(session))
}

/** Unbounded: a session has a few hundred at most. */
export async function listSealedEvents(tx: Db, { id, tenantId }: SessionKey): Promise<EventRow[]> {
  return await tx
    .select()
    .from(verificationEvents)
    .where(and(eq(verificationEvents.verificationId, id), eq(verificationEvents.tenantId, tenantId)))
}

export async function updateEvent(tx: Db, { id }: EventRow, sealed: Buffer): Promise<void> {
  await tx.update(verificationEvents).set({ sealed }).where(eq(verificationEvents.id, id))
}

export async function listReplaysAfter(tx: Db, afterHash: string, limit: number): Promise<ReplayRow[]> {
  const batch = tx
    .select()
    .from(idempotencyKeys)
    .where(gt(idempotencyKeys.hash, afterHash))
    .orderBy(asc(idempotencyKeys.hash))
    .limit(limit)
  return await locked(batch, 'update')
}

export async function updateReplay(tx: Db, hash: string, sealed: Buffer): Promise<void> {
  await tx.update(idempotencyKeys).set({ sealed }).where(eq(idempotencyKeys.hash, hash))
}
