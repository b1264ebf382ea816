import { desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { auditRecords, installation, verificationSessions } from '../db/schema.ts'

const count = sql<number>`count(*)`

export async function countVerifications(db: Db): Promise<number> {
  const [row] = await db.select({ count }).from(verificationSessions)
  return row?.count ?? 0
}

export async function countRecords(db: Db, action: string): Promise<number> {
  const [row] = await db.select({ count }).from(auditRecords).where(eq(auditRecords.action, action))
  return row?.count ?? 0
}

export type Head = { seq: number; hash: string; at: number }

export async function findHead(db: Db): Promise<Head | undefined> {
  const { seq, hash, at } = auditRecords
  const [head] = await db.select({ seq, hash, at }).from(auditRecords).orderBy(desc(seq)).limit(1)
  return head
}

export async function findHash(db: Db, seq: number): Promise<string | undefined> {
  const [row] = await db.select({ hash: auditRecords.hash }).from(auditRecords).where(eq(auditRecords.seq, seq))
  return row?.hash
}

export async function replaceRootKey(tx: Db, wrapped: Buffer): Promise<void> {
  await tx.update(installation).set({ value: wrapped }).where(eq(installation.name, 'root_key'))
}

/** What says that a database is a copy, and from when. */
export async function forgetSnapshotTime(tx: Db): Promise<void> {
  await tx.delete(installation).where(eq(installation.name, 'snapshot_taken_at'))
}
