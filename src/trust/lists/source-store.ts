import { and, asc, eq, inArray, isNotNull, isNull, lte, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { trustAnchors, trustBlocks, trustLists, trustSourcePins, trustSources } from '../../db/schema/trust.ts'
import { locked } from '../../db/statements.ts'
import type { AnchorRow } from '../store.ts'
import type { PinRow, SourceRow } from './source.ts'

export type BlockRow = typeof trustBlocks.$inferSelect

/** SQLite takes 32,766 values in a statement, PostgreSQL 65,535. */
const ROWS_AT_ONCE = 500

export async function listSources(db: Db): Promise<SourceRow[]> {
  return await db.select().from(trustSources).orderBy(asc(trustSources.environment), asc(trustSources.createdAt))
}

export async function findSource(db: Db, id: string): Promise<SourceRow | undefined> {
  const [row] = await db.select().from(trustSources).where(eq(trustSources.id, id))
  return row
}

/** Holds the row until the commit: a refresh and a command may bring two lists at once. */
export async function lockSource(tx: Db, id: string): Promise<SourceRow | undefined> {
  const [row] = await locked(tx.select().from(trustSources).where(eq(trustSources.id, id)), 'update')
  return row
}

/** Sources with a location whose time has come, the longest overdue first. */
export async function listDueSources(db: Db, now: number): Promise<SourceRow[]> {
  return await db
    .select()
    .from(trustSources)
    .where(and(isNotNull(trustSources.location), lte(trustSources.dueAt, now)))
    .orderBy(asc(trustSources.dueAt))
}

export async function insertSource(tx: Db, row: SourceRow): Promise<void> {
  await tx.insert(trustSources).values(row)
}

export async function updateSource(tx: Db, id: string, changes: Partial<SourceRow>): Promise<void> {
  await tx.update(trustSources).set(changes).where(eq(trustSources.id, id))
}

/** Deletes a source with its anchors, pins and list. */
export async function deleteSource(tx: Db, id: string): Promise<void> {
  await tx.delete(trustAnchors).where(eq(trustAnchors.sourceId, id))
  await tx.delete(trustLists).where(eq(trustLists.sourceId, id))
  await tx.delete(trustSourcePins).where(eq(trustSourcePins.sourceId, id))
  await tx.delete(trustSources).where(eq(trustSources.id, id))
}

export async function listAllPins(db: Db): Promise<PinRow[]> {
  return await db.select().from(trustSourcePins).orderBy(asc(trustSourcePins.addedAt), asc(trustSourcePins.fingerprint))
}

export async function listPins(db: Db, sourceId: string): Promise<PinRow[]> {
  return await db
    .select()
    .from(trustSourcePins)
    .where(eq(trustSourcePins.sourceId, sourceId))
    .orderBy(asc(trustSourcePins.addedAt), asc(trustSourcePins.fingerprint))
}

export async function insertPin(tx: Db, row: PinRow): Promise<void> {
  await tx.insert(trustSourcePins).values(row)
}

/** A pin given by its fingerprint gets its certificate from the first list that has it. */
export async function completePin(tx: Db, { sourceId, fingerprint, certificate }: PinRow): Promise<void> {
  await tx
    .update(trustSourcePins)
    .set({ certificate })
    .where(and(eq(trustSourcePins.sourceId, sourceId), eq(trustSourcePins.fingerprint, fingerprint)))
}

export async function deletePin(tx: Db, sourceId: string, fingerprint: string): Promise<void> {
  await tx
    .delete(trustSourcePins)
    .where(and(eq(trustSourcePins.sourceId, sourceId), eq(trustSourcePins.fingerprint, fingerprint)))
}

export async function findList(db: Db, sourceId: string): Promise<Uint8Array | undefined> {
  const [row] = await db.select().from(trustLists).where(eq(trustLists.sourceId, sourceId))
  return row?.bytes
}

export async function deleteList(tx: Db, sourceId: string): Promise<void> {
  await tx.delete(trustLists).where(eq(trustLists.sourceId, sourceId))
}

export async function saveList(tx: Db, sourceId: string, bytes: Uint8Array): Promise<void> {
  const row = { sourceId, bytes: Buffer.from(bytes) }
  await tx
    .insert(trustLists)
    .values(row)
    .onConflictDoUpdate({ target: trustLists.sourceId, set: { bytes: row.bytes } })
}

export type EntryCount = { sourceId: string; count: number }

/** Certificates by source: a list names some of them for several types. */
export async function countEntries(db: Db, isWithdrawn: boolean): Promise<EntryCount[]> {
  const { sourceId, use, certificate } = trustAnchors
  const rows = await db
    .select({ sourceId, count: sql`count(distinct ${certificate})`.mapWith(Number) })
    .from(trustAnchors)
    .where(and(isNotNull(sourceId), isWithdrawn ? eq(use, 'none') : ne(use, 'none')))
    .groupBy(sourceId)
  return rows.map(({ sourceId, count }) => ({ sourceId: sourceId!, count }))
}

/** Anchors that vouch for something. `use` is null in those that the operator added. */
export async function countLiveAnchors(db: Db): Promise<number> {
  const { environment, use } = trustAnchors
  const [row] = await db
    .select({ count: sql`count(*)`.mapWith(Number) })
    .from(trustAnchors)
    .where(and(eq(environment, 'live'), or(isNull(use), inArray(use, ['both', 'documents', 'status']))))
  return row?.count ?? 0
}

/** Anchors for the operator's own papers; the certificate is PEM. */
export async function listRelyingPartyAnchors(db: Db): Promise<{ certificate: string; service: string | null }[]> {
  const { certificate, trustedFor: service, use } = trustAnchors
  return await db.select({ certificate, service }).from(trustAnchors).where(eq(use, 'relying_party'))
}

export async function listAnchorsOf(db: Db, sourceId: string): Promise<AnchorRow[]> {
  return await db.select().from(trustAnchors).where(eq(trustAnchors.sourceId, sourceId)).orderBy(asc(trustAnchors.label))
}

export async function insertAnchors(tx: Db, rows: readonly AnchorRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    await tx.insert(trustAnchors).values(rows.slice(from, from + ROWS_AT_ONCE))
}

export async function deleteAnchors(tx: Db, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += ROWS_AT_ONCE)
    await tx.delete(trustAnchors).where(inArray(trustAnchors.id, ids.slice(from, from + ROWS_AT_ONCE)))
}

export async function listBlocks(db: Db): Promise<BlockRow[]> {
  return await db.select().from(trustBlocks).orderBy(asc(trustBlocks.environment), asc(trustBlocks.createdAt))
}

/** False when it was blocked already. */
export async function insertBlock(tx: Db, row: BlockRow): Promise<boolean> {
  const made = await tx
    .insert(trustBlocks)
    .values(row)
    .onConflictDoNothing({ target: [trustBlocks.environment, trustBlocks.fingerprint] })
    .returning()
  return made.length > 0
}

export type Blocked = { environment: BlockRow['environment']; fingerprint: string }

export async function deleteBlock(tx: Db, { environment, fingerprint }: Blocked): Promise<BlockRow | undefined> {
  const own = and(eq(trustBlocks.environment, environment), eq(trustBlocks.fingerprint, fingerprint))
  const [row] = await tx.delete(trustBlocks).where(own).returning()
  return row
}
