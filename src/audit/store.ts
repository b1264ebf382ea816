import { and, asc, desc, eq, getTableColumns, gt, inArray, lt, lte, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { auditCheckpoints, auditRecords } from '../db/schema/audit.ts'
import { auditEntries, recordEntryId } from '../db/schema/audit-entries.ts'
import { column, hot, locked } from '../db/statements.ts'
import type { AuditAction, AuditRecord, Checkpoint, Head } from './chain.ts'

/** How far a search by action goes back: an index by action would cost every record. */
const SEARCHED_MAX = 5000

type Details = {
  salt: Uint8Array | null
  sealed: Uint8Array | null
  sessionId: string | null
  wrappingKey: number | null
}

/** `id` is that of its entry: acts keep it, and its details are sealed for it. */
export type StoredRecord = AuditRecord & Details & { id: number }

const selectHead = hot<Head>(db => {
  const { seq, at, hash } = auditRecords
  return db.select({ seq, at, hash }).from(auditRecords).orderBy(desc(seq)).limit(1)
})

export async function findHead(db: Db): Promise<Head | undefined> {
  const [head] = await selectHead(db, {})
  return head
}

const ENTRY = {
  at: column('at'),
  tenantId: column('tenantId'),
  actor: column('actor'),
  action: column('action'),
  subject: column('subject'),
  commitment: column('commitment'),
  salt: column('salt'),
  sealed: column('sealed'),
  sessionId: column('sessionId'),
  wrappingKey: column('wrappingKey'),
}

const insertLinked = hot(db =>
  db.insert(auditRecords).values({ ...ENTRY, seq: column('seq'), previous: column('previous'), hash: column('hash') }),
)

export async function insertRecord(tx: Db, record: AuditRecord & Details): Promise<void> {
  await insertLinked(tx, record)
}

const insertUnlinked = hot(db => db.insert(auditEntries).values({ ...ENTRY, id: column('id') }))

export async function insertEntry(tx: Db, entry: Omit<StoredRecord, 'seq' | 'previous' | 'hash'>): Promise<void> {
  await insertUnlinked(tx, entry)
}

/** A commitment reveals nothing about erased details once its salt is gone. */
export async function eraseDetails(tx: Db, ids: readonly number[]): Promise<void> {
  await tx
    .update(auditEntries)
    .set({ salt: null, sealed: null, sessionId: null, wrappingKey: null })
    .where(inArray(auditEntries.id, [...ids]))
}

const sealedColumns = {
  id: auditEntries.id,
  tenantId: auditEntries.tenantId,
  salt: auditEntries.salt,
  sealed: auditEntries.sealed,
  sessionId: auditEntries.sessionId,
}

export type SealedEntry = Pick<StoredRecord, 'id' | 'tenantId' | 'salt' | 'sealed' | 'sessionId'>

/** Linked or not, by id; locked, since an erasure may forget them meanwhile. */
export async function listSealedEntries(tx: Db, afterId: number, limit: number): Promise<SealedEntry[]> {
  const { id } = auditEntries
  const batch = tx.select(sealedColumns).from(auditEntries).where(gt(id, afterId)).orderBy(asc(id)).limit(limit)
  return await locked(batch, 'update')
}

export async function findSealedEntries(tx: Db, ids: readonly number[]): Promise<SealedEntry[]> {
  return await tx
    .select(sealedColumns)
    .from(auditEntries)
    .where(inArray(auditEntries.id, [...ids]))
}

export async function updateDetails(tx: Db, id: number, sealed: Buffer): Promise<void> {
  await tx.update(auditEntries).set({ sealed }).where(eq(auditEntries.id, id))
}

const stored = { ...getTableColumns(auditRecords), id: recordEntryId }

export async function listRecords(db: Db, afterSeq: number, limit: number): Promise<StoredRecord[]> {
  const { seq } = auditRecords
  return await db.select(stored).from(auditRecords).where(gt(seq, afterSeq)).orderBy(asc(seq)).limit(limit)
}

export async function findHash(db: Db, seq: number): Promise<string | undefined> {
  const [row] = await db.select({ hash: auditRecords.hash }).from(auditRecords).where(eq(auditRecords.seq, seq)).limit(1)
  return row?.hash
}

/** Linked or not. */
export async function findActor(db: Db, entryId: number): Promise<string | undefined> {
  const [row] = await db.select({ actor: auditEntries.actor }).from(auditEntries).where(eq(auditEntries.id, entryId)).limit(1)
  return row?.actor
}

/** Linked or not, by id. */
export async function listEntries(
  db: Db,
  afterId: number,
  limit: number,
): Promise<{ id: number; at: number; action: string; subject: string }[]> {
  const { id, at, action, subject } = auditEntries
  return await db.select({ id, at, action, subject }).from(auditEntries).where(gt(id, afterId)).orderBy(asc(id)).limit(limit)
}

/** The newest record of an action among the last 5,000 records. */
export async function findLatestOf(db: Db, wanted: AuditAction): Promise<{ at: number } | undefined> {
  const { seq, at, action } = auditRecords
  const head = db.select({ seq }).from(auditRecords).orderBy(desc(seq)).limit(1)
  const [row] = await db
    .select({ at })
    .from(auditRecords)
    .where(and(gt(seq, sql`(${head}) - ${SEARCHED_MAX}`), eq(action, wanted)))
    .orderBy(desc(seq))
    .limit(1)
  return row
}

export async function countOf(db: Db, action: AuditAction): Promise<number> {
  return await db.$count(auditRecords, eq(auditRecords.action, action))
}

type Page = { before: number; limit: number; tenantId?: string; lookedAtMax: number }

/** Newest first; `downTo` is the lowest record that was looked at. One statement, so that both belong to one moment. */
export async function listRecordsBefore(
  db: Db,
  { before, limit, tenantId, lookedAtMax }: Page,
): Promise<{ rows: StoredRecord[]; downTo: number }> {
  const { seq } = auditRecords
  const lookedAt = tenantId === undefined ? limit : lookedAtMax
  // Not max(): PostgreSQL would read the whole chain for it.
  const newest = db
    .select({ top: sql`${seq}`.mapWith(seq).as('top') })
    .from(auditRecords)
    .where(lt(seq, before))
    .orderBy(desc(seq))
    .limit(1)
    .as('newest')
  const isShown = and(
    lte(seq, newest.top),
    gt(seq, sql`${newest.top} - ${lookedAt}`),
    tenantId === undefined ? undefined : eq(auditRecords.tenantId, tenantId),
  )
  const found = await db
    .select({ top: newest.top, row: stored })
    .from(newest)
    .leftJoin(auditRecords, isShown)
    .orderBy(desc(seq))
    .limit(limit)
  const rows = found.flatMap(({ row }) => row ?? [])
  const lowest = Math.max(1, (found[0]?.top ?? 0) - lookedAt + 1)
  return { rows, downTo: rows.length === limit ? (rows.at(-1)?.seq ?? lowest) : lowest }
}

export async function listCheckpoints(db: Db): Promise<Checkpoint[]> {
  return await db.select().from(auditCheckpoints).orderBy(asc(auditCheckpoints.seq))
}

export async function findLastCheckpoint(db: Db): Promise<Checkpoint | undefined> {
  const [last] = await db.select().from(auditCheckpoints).orderBy(desc(auditCheckpoints.seq)).limit(1)
  return last
}

export async function updateSignature(tx: Db, { seq, signature }: { seq: number; signature: string }): Promise<void> {
  await tx.update(auditCheckpoints).set({ signature }).where(eq(auditCheckpoints.seq, seq))
}

/** A head that is signed already keeps its first signature. */
export async function insertCheckpoint(tx: Db, checkpoint: Checkpoint): Promise<void> {
  await tx.insert(auditCheckpoints).values(checkpoint).onConflictDoNothing({ target: auditCheckpoints.seq })
}
