import { and, desc, eq, isNotNull, sql } from 'drizzle-orm'
import type { Db } from '#db'
import { verificationEvents } from '#schema'
import { prepared } from '../db/statements.ts'
import type { SessionKey } from './store.ts'

export type EventRow = typeof verificationEvents.$inferSelect

const column = <Name extends string>(name: Name) => sql.placeholder(name)

const insertEventRow = prepared(db =>
  db
    .insert(verificationEvents)
    .values({
      verificationId: column('verificationId'),
      tenantId: column('tenantId'),
      at: column('at'),
      event: column('event'),
      salt: column('salt'),
      sealed: column('sealed'),
      auditSeq: column('auditSeq'),
    })
    .prepare(),
)

export async function insertEvent(tx: Db, row: Omit<EventRow, 'id'>): Promise<void> {
  await insertEventRow(tx).execute(row)
}

/** The latest moments of a session, oldest first. */
export async function listEvents(db: Db, { id, tenantId }: SessionKey, limit: number): Promise<EventRow[]> {
  const latest = await db
    .select()
    .from(verificationEvents)
    .where(and(eq(verificationEvents.verificationId, id), eq(verificationEvents.tenantId, tenantId)))
    .orderBy(desc(verificationEvents.id))
    .limit(limit)
  return latest.reverse()
}

/** Where its moments stand on the audit chain. */
export async function listAuditSeqs(tx: Db, { id, tenantId }: SessionKey): Promise<number[]> {
  const rows = await tx
    .select({ seq: verificationEvents.auditSeq })
    .from(verificationEvents)
    .where(
      and(
        eq(verificationEvents.verificationId, id),
        eq(verificationEvents.tenantId, tenantId),
        isNotNull(verificationEvents.auditSeq),
      ),
    )
  return rows.flatMap(({ seq }) => seq ?? [])
}

/** How many moments a session has, up to a number. */
export async function countEvents(db: Db, { id, tenantId }: SessionKey, max: number): Promise<number> {
  const rows = await db
    .select({ id: verificationEvents.id })
    .from(verificationEvents)
    .where(and(eq(verificationEvents.verificationId, id), eq(verificationEvents.tenantId, tenantId)))
    .limit(max)
  return rows.length
}

/** Whether it has happened to a session at all: that a page showed it, that a wallet fetched its request. */
export async function hasHappened(db: Db, { id, tenantId }: SessionKey, event: 'qr_shown' | 'request_fetched'): Promise<boolean> {
  const rows = await db
    .select({ id: verificationEvents.id })
    .from(verificationEvents)
    .where(
      and(
        eq(verificationEvents.verificationId, id),
        eq(verificationEvents.tenantId, tenantId),
        eq(verificationEvents.event, event),
      ),
    )
    .limit(1)
  return rows.length > 0
}
