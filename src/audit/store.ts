import { and, asc, desc, eq, getTableColumns, gt, gte, inArray, lt, lte, ne, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { auditCheckpoints, auditRecords, isByPerson, isRare } from '../db/schema/audit.ts'
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

/** `from` and `until` are times. */
export type RecordFilter = { tenantId?: string; action?: string; actor?: string; from?: number; until?: number }

type Page = RecordFilter & { before: number; limit: number; lookedAtMax: number }

/** Newest first; `downTo` is the lowest record that was looked at. */
export async function listRecordsBefore(db: Db, page: Page): Promise<{ rows: StoredRecord[]; downTo: number }> {
  const { limit, lookedAtMax, tenantId, action, actor, from, until } = page
  const after = from === undefined ? 0 : await findSignedBy(db, from)
  const before = Math.min(page.before, until === undefined ? page.before : await findSignedAfter(db, until))
  const narrowed = narrowing(page)
  const lowest = Math.max(after + 1, await findLowest(db, { narrowed, before, nth: lookedAtMax }))
  const { seq, at } = auditRecords
  const isShown = and(
    lt(seq, before),
    gte(seq, lowest),
    narrowed,
    tenantId === undefined ? undefined : eq(auditRecords.tenantId, tenantId),
    action === undefined ? undefined : eq(auditRecords.action, action),
    actor === undefined ? undefined : eq(auditRecords.actor, actor),
    from === undefined ? undefined : gte(at, from),
    until === undefined ? undefined : lt(at, until),
  )
  const rows = await db.select(stored).from(auditRecords).where(isShown).orderBy(desc(seq)).limit(limit)
  if (rows.length === limit) return { rows, downTo: rows.at(-1)!.seq }
  return { rows, downTo: lowest === after + 1 ? 1 : lowest }
}

const FREQUENT = ['verification.created', 'verification.completed', 'verification.failed']

/** What an index knows of a filter. */
function narrowing({ action, actor, tenantId }: RecordFilter): SQL | undefined {
  if (action !== undefined && !FREQUENT.includes(action)) return and(eq(auditRecords.action, action), isRare)
  if (actor === undefined || !/^(dashboard:|command li)/.test(actor)) return undefined
  return and(eq(auditRecords.actor, actor), isByPerson, tenantId === undefined ? undefined : eq(auditRecords.tenantId, tenantId))
}

type Place = { narrowed: SQL | undefined; before: number; nth: number }

/** The record that many places down, or 1. Without an index that knows better, the numbers themselves tell. */
async function findLowest(db: Db, { narrowed, before, nth }: Place): Promise<number> {
  const { seq } = auditRecords
  const down = db
    .select({ seq })
    .from(auditRecords)
    .where(and(lt(seq, before), narrowed))
    .orderBy(desc(seq))
    .limit(1)
  const [row] = await (narrowed ? down.offset(nth - 1) : down)
  return Math.max(1, row ? row.seq - (narrowed ? 0 : nth - 1) : 1)
}

/** A checkpoint tells the time of its record, so that a day is found without an index of times; the nearest one may be an hour off. */
async function findSignedBy(db: Db, time: number): Promise<number> {
  const { seq, at } = auditCheckpoints
  const [row] = await db.select({ seq }).from(auditCheckpoints).where(lte(at, time)).orderBy(desc(seq)).limit(1)
  return row?.seq ?? 0
}

/** Every record before that time is below it. */
async function findSignedAfter(db: Db, time: number): Promise<number> {
  const { seq, at } = auditCheckpoints
  const [row] = await db.select({ seq }).from(auditCheckpoints).where(gte(at, time)).orderBy(asc(seq)).limit(1)
  return (row?.seq ?? Number.MAX_SAFE_INTEGER - 1) + 1
}

type About = { tenantId: string | undefined; entryIds: readonly number[]; subjects: readonly string[]; limit: number }

/** Records of one subject, newest first: by their entries, and the rare ones by the subject's names. */
export async function listRecordsAbout(db: Db, { tenantId, entryIds, subjects, limit }: About): Promise<StoredRecord[]> {
  const { seq, subject } = auditRecords
  const own = tenantId === undefined ? undefined : eq(auditRecords.tenantId, tenantId)
  const listOf = (is: SQL | undefined) => db.select(stored).from(auditRecords).where(is).orderBy(desc(seq)).limit(limit)
  const named = await listOf(and(inArray(subject, [...subjects]), isRare, own))
  const entered = entryIds.length > 0 ? await listOf(and(inArray(recordEntryId, [...entryIds]), own)) : []
  const both = new Map([...named, ...entered].map(row => [row.seq, row]))
  return [...both.values()].sort((a, b) => b.seq - a.seq).slice(0, limit)
}

type Others = { tenantId: string; downTo: number; before: number; limit: number }

/** The records between that are not of this tenant, newest first. */
export async function listOthers(
  db: Db,
  { tenantId, downTo, before, limit }: Others,
): Promise<Pick<AuditRecord, 'seq' | 'tenantId'>[]> {
  const { seq } = auditRecords
  return await db
    .select({ seq, tenantId: auditRecords.tenantId })
    .from(auditRecords)
    .where(and(gte(seq, downTo), lt(seq, before), ne(auditRecords.tenantId, tenantId)))
    .orderBy(desc(seq))
    .limit(limit)
}

/** The first person after another, by name, who acted for anybody. */
export async function findPersonAfter(db: Db, name: string): Promise<string | undefined> {
  const { actor } = auditRecords
  const [row] = await db
    .select({ actor })
    .from(auditRecords)
    .where(and(gt(actor, name), isByPerson))
    .orderBy(asc(actor))
    .limit(1)
  return row?.actor
}

export async function hasActed(db: Db, name: string, tenantId: string): Promise<boolean> {
  const { seq, actor } = auditRecords
  const is = and(eq(actor, name), isByPerson, eq(auditRecords.tenantId, tenantId))
  return (await db.select({ seq }).from(auditRecords).where(is).limit(1)).length > 0
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
