import { asc, desc, eq, gt, sql } from 'drizzle-orm'
import { type Db, prepared } from '#db'
import { auditCheckpoints, auditRecords } from '#schema'
import type { AuditRecord, Checkpoint } from './chain.ts'

export type StoredRecord = AuditRecord & { salt: Uint8Array | null; sealed: Uint8Array | null }

const selectHead = prepared(db =>
  db
    .select({ seq: auditRecords.seq, hash: auditRecords.hash, at: auditRecords.at })
    .from(auditRecords)
    .orderBy(desc(auditRecords.seq))
    .limit(1)
    .prepare(),
)

export async function findHead(db: Db): Promise<{ seq: number; hash: string; at: number } | undefined> {
  const [head] = await selectHead(db).execute()
  return head
}

const insert = prepared(db =>
  db
    .insert(auditRecords)
    .values({
      seq: sql.placeholder('seq'),
      at: sql.placeholder('at'),
      tenantId: sql.placeholder('tenantId'),
      actor: sql.placeholder('actor'),
      action: sql.placeholder('action'),
      subject: sql.placeholder('subject'),
      commitment: sql.placeholder('commitment'),
      previous: sql.placeholder('previous'),
      hash: sql.placeholder('hash'),
      salt: sql.placeholder('salt'),
      sealed: sql.placeholder('sealed'),
    })
    .prepare(),
)

export async function insertRecord(tx: Db, record: StoredRecord): Promise<void> {
  await insert(tx).execute(record)
}

/** Forgets the text of all records about a subject, and the salts that tie it to their commitments. */
export async function eraseDetails(tx: Db, subject: string): Promise<void> {
  await tx.update(auditRecords).set({ salt: null, sealed: null }).where(eq(auditRecords.subject, subject))
}

export async function listRecords(db: Db, afterSeq: number, limit: number): Promise<StoredRecord[]> {
  return await db.select().from(auditRecords).where(gt(auditRecords.seq, afterSeq)).orderBy(asc(auditRecords.seq)).limit(limit)
}

/** What this connection reads stays as it is now until it is released. Only for a command: the server's readers share theirs. */
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
