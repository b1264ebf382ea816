// The statements that link entries to the chain, where the database lets acts commit side by side.
import { count, min, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { auditLinks, auditLow, auditUnlinked } from '../db/schema/audit-entries.ts'
import { hot } from '../db/statements.ts'
import type { AuditRecord } from './chain.ts'

/** Any number: the same one for everybody who links. */
const CHAIN_LOCK = 7_634_021_002
const LINKS_MAX = 1000

const once = sql`(VALUES (1)) AS once`

/** Waits for the chain's lock, which is held to the end of the transaction. */
export async function lockChain(tx: Db): Promise<void> {
  await tx.select({ locked: sql`pg_advisory_xact_lock(${sql.raw(String(CHAIN_LOCK))})::text` }).from(once)
}

/** False when somebody else has it. */
export async function tryLockChain(tx: Db): Promise<boolean> {
  const [row] = await tx.select({ isLocked: sql<boolean>`pg_try_advisory_xact_lock(${sql.raw(String(CHAIN_LOCK))})` }).from(once)
  return row!.isLocked
}

export type UnlinkedEntry = Omit<AuditRecord, 'seq' | 'previous' | 'hash'> & { id: number }

/** Entries in the order of their transactions: an act that began after another had ended comes after it. */
export async function listUnlinked(tx: Db): Promise<UnlinkedEntry[]> {
  return await tx.select().from(auditUnlinked)
}

/** Entries of all processes. */
export async function countUnlinked(db: Db): Promise<{ count: number; oldestAt: number | null }> {
  const [row] = await db.select({ count: count(), oldestAt: min(auditUnlinked.at) }).from(auditUnlinked)
  return row!
}

/** The oldest transaction under way: entries of older ones are committed or will never be there. */
export async function findOldestRunning(tx: Db): Promise<string> {
  const [row] = await tx.select({ tx: sql<string>`pg_snapshot_xmin(pg_current_snapshot())::text` }).from(once)
  return row!.tx
}

export type Link = { seq: number; entry_id: number; previous: string; hash: string }

/** One statement for any number of rows. */
const insert = hot(db => {
  const rows = sql`json_to_recordset(${sql.placeholder('links')}::text::json)`
  return db.insert(auditLinks).select(sql`SELECT * FROM ${rows} AS link (seq bigint, entry_id bigint, previous text, hash text)`)
})

export async function insertLinks(tx: Db, links: readonly Link[]): Promise<void> {
  for (let i = 0; i < links.length; i += LINKS_MAX) await insert(tx, { links: JSON.stringify(links.slice(i, i + LINKS_MAX)) })
}

const update = hot(db => db.update(auditLow).set({ low: sql`${sql.placeholder('low')}::text::xid8` }))

/** Entries of older transactions are not looked at again. */
export async function raiseLow(tx: Db, low: string): Promise<void> {
  await update(tx, { low })
}
