import { and, asc, desc, eq, gt, gte, inArray, lt, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { auditCheckpoints, auditRecords } from '../db/schema.ts'
import { hot } from '../db/statements.ts'
import type { AuditRecord, Checkpoint } from './chain.ts'

export type StoredRecord = AuditRecord & { salt: Uint8Array | null; sealed: Uint8Array | null }

export type Head = { seq: number; hash: string }

const selectHead = hot<Head>(db =>
  db.select({ seq: auditRecords.seq, hash: auditRecords.hash }).from(auditRecords).orderBy(desc(auditRecords.seq)).limit(1),
)

export async function findHead(db: Db): Promise<Head | undefined> {
  const [head] = await selectHead(db, {})
  return head
}

const column = <Name extends string>(name: Name) => sql.placeholder(name)

const insert = hot(db =>
  db.insert(auditRecords).values({
    seq: column('seq'),
    at: column('at'),
    tenantId: column('tenantId'),
    actor: column('actor'),
    action: column('action'),
    subject: column('subject'),
    commitment: column('commitment'),
    previous: column('previous'),
    hash: column('hash'),
    salt: column('salt'),
    sealed: column('sealed'),
  }),
)

export async function insertRecord(tx: Db, record: StoredRecord): Promise<void> {
  await insert(tx, record)
}

/** Forgets the text of records, and the salts that tie it to their commitments. */
export async function eraseDetails(tx: Db, seqs: readonly number[]): Promise<void> {
  await tx
    .update(auditRecords)
    .set({ salt: null, sealed: null })
    .where(inArray(auditRecords.seq, [...seqs]))
}

export async function listRecords(db: Db, afterSeq: number, limit: number): Promise<StoredRecord[]> {
  return await db.select().from(auditRecords).where(gt(auditRecords.seq, afterSeq)).orderBy(asc(auditRecords.seq)).limit(limit)
}

export async function findRecord(db: Db, seq: number): Promise<StoredRecord | undefined> {
  const [row] = await db.select().from(auditRecords).where(eq(auditRecords.seq, seq)).limit(1)
  return row
}

type Browsing = { before: number; limit: number; tenantId?: string; lookedAtMax: number }

/** Newest first, and down to which record was looked at. */
export async function listRecordsBefore(
  db: Db,
  { before, limit, tenantId, lookedAtMax }: Browsing,
): Promise<{ rows: StoredRecord[]; downTo: number }> {
  const head = await findHead(db)
  const from = Math.min(before, (head?.seq ?? 0) + 1)
  const lowest = tenantId === undefined ? 1 : Math.max(1, from - lookedAtMax)
  const { seq } = auditRecords
  const rows = await db
    .select()
    .from(auditRecords)
    .where(and(lt(seq, from), gte(seq, lowest), tenantId === undefined ? undefined : eq(auditRecords.tenantId, tenantId)))
    .orderBy(desc(seq))
    .limit(limit)
  return { rows, downTo: rows.length === limit ? (rows.at(-1)?.seq ?? lowest) : lowest }
}

/** What this connection reads stays as it is now until it is released. Never on a connection that others read by. */
export async function holdSnapshot(db: Db): Promise<() => void> {
  db.run(sql`BEGIN`)
  // The first read takes the snapshot, not BEGIN.
  await findHead(db)
  return () => void db.run(sql`COMMIT`)
}

export async function listCheckpoints(db: Db): Promise<Checkpoint[]> {
  return await db.select().from(auditCheckpoints).orderBy(asc(auditCheckpoints.seq))
}

export async function findLastCheckpoint(db: Db): Promise<Checkpoint | undefined> {
  const [last] = await db.select().from(auditCheckpoints).orderBy(desc(auditCheckpoints.seq)).limit(1)
  return last
}

export async function insertCheckpoint(tx: Db, checkpoint: Checkpoint): Promise<void> {
  await tx.insert(auditCheckpoints).values(checkpoint)
}
