// Sealed columns, read and replaced when keys change.
import { and, asc, eq, gt, gte, inArray, isNotNull } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { oidcLogins } from '../../db/schema/oidc.ts'
import { idempotencyKeys, verificationEvents, verificationResults, verificationSessions } from '../../db/schema/verifications.ts'
import { locked } from '../../db/statements.ts'
import type { ReplayRow } from '../create/replay-store.ts'
import type { EventRow } from '../event-store.ts'
import type { ResultRow, SessionKey } from '../store.ts'

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
  sealed: Pick<
    SealedSession,
    | 'sealed'
    | 'sealedQuery'
    | 'sealedResponseKey'
    | 'sealedDcRequests'
    | 'sealedInPerson'
    | 'sealedFetches'
    | 'terms'
    | 'beginnings'
    | 'idempotencyHash'
  >,
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

type LoginRow = typeof oidcLogins.$inferSelect

/** The log-in that a session is, if it is one. */
export async function findLoginOf(tx: Db, { id, tenantId }: SessionKey): Promise<LoginRow | undefined> {
  const [row] = await tx
    .select()
    .from(oidcLogins)
    .where(and(eq(oidcLogins.verificationId, id), eq(oidcLogins.tenantId, tenantId)))
  return row
}

export async function updateLogin(tx: Db, id: string, sealed: Pick<LoginRow, 'sealed' | 'sealedSub'>): Promise<void> {
  await tx.update(oidcLogins).set(sealed).where(eq(oidcLogins.id, id))
}

export async function listReplayHashes(tx: Db): Promise<string[]> {
  const { hash } = idempotencyKeys
  return (await tx.select({ hash }).from(idempotencyKeys)).map(row => row.hash)
}

export async function findReplays(tx: Db, hashes: readonly string[]): Promise<ReplayRow[]> {
  return await tx
    .select()
    .from(idempotencyKeys)
    .where(inArray(idempotencyKeys.hash, [...hashes]))
}

type Renamed = Pick<ReplayRow, 'hash' | 'fingerprint' | 'sealed'>

export async function renameReplay(tx: Db, hash: string, renamed: Renamed): Promise<void> {
  await tx.update(idempotencyKeys).set(renamed).where(eq(idempotencyKeys.hash, hash))
}

/** Created with an Idempotency-Key since a time. */
export async function listSessionsWithKey(tx: Db, since: number): Promise<(SessionKey & { idempotencyHash: string | null })[]> {
  const { id, tenantId, createdAt, idempotencyHash } = verificationSessions
  return await tx
    .select({ id, tenantId, idempotencyHash })
    .from(verificationSessions)
    .where(and(gte(createdAt, since), isNotNull(idempotencyHash)))
}

export async function renameKeyOf(tx: Db, { id, tenantId }: SessionKey, idempotencyHash: string): Promise<void> {
  await tx
    .update(verificationSessions)
    .set({ idempotencyHash })
    .where(and(eq(verificationSessions.id, id), eq(verificationSessions.tenantId, tenantId)))
}
