// The moments of a session, for its timeline.
import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { verificationEvents, verificationSessions } from '../db/schema/verifications.ts'
import { column, hot, locked } from '../db/statements.ts'
import type { SessionKey } from './store.ts'

export type EventRow = typeof verificationEvents.$inferSelect

const insert = hot(db =>
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
    // Changes nothing. For SQLite, drizzle writes the condition of `onConflictDoNothing` in the wrong place.
    .onConflictDoUpdate({
      target: verificationEvents.verificationId,
      targetWhere: sql`event = 'qr_shown'`,
      set: { at: sql`${verificationEvents.at}` },
    }),
)

/** A session has one `qr_shown`: the first stays, and a later one is not stored. */
export async function insertEvent(tx: Db, row: Omit<EventRow, 'id'>): Promise<void> {
  await insert(tx, row)
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

/** Of the newest moments of all sessions those of one kind, the newest first. */
export async function listNewest(db: Db, event: string, { among, limit }: { among: number; limit: number }): Promise<EventRow[]> {
  const newest = db.select().from(verificationEvents).orderBy(desc(verificationEvents.id)).limit(among).as('newest')
  return await db.select().from(newest).where(eq(newest.event, event)).orderBy(desc(newest.id)).limit(limit)
}

const isEvent = ({ id, tenantId }: SessionKey, event: string) =>
  and(eq(verificationEvents.verificationId, id), eq(verificationEvents.tenantId, tenantId), eq(verificationEvents.event, event))

/** The moment of a kind that a session has only once. */
export async function findEvent(db: Db, session: SessionKey, event: 'response_posted'): Promise<EventRow | undefined> {
  const [row] = await db.select().from(verificationEvents).where(isEvent(session, event))
  return row
}

/** Deletes one kind of moment of a session. */
export async function deleteEvents(tx: Db, session: SessionKey, event: string): Promise<void> {
  await tx.delete(verificationEvents).where(isEvent(session, event))
}

const { verificationId, tenantId: ofTenant } = verificationEvents
const ofSession = sql`${verificationId} = ${column('id')} and ${ofTenant} = ${column('tenantId')}`

const events = sql`select count(*) from ${verificationEvents} where ${ofSession}`
const selectCount = hot<{ all: number; alike: number }>(db =>
  locked(
    db
      .select({
        all: sql`(${events})`.as('all'),
        alike: sql`(${events} and ${verificationEvents.event} = ${column('event')})`.as('alike'),
      })
      .from(verificationSessions)
      .where(and(eq(verificationSessions.id, column('id')), eq(verificationSessions.tenantId, column('tenantId')))),
    'no key update',
  ),
)

/** All of a session, and those of one kind; undefined when the session is gone. */
export async function countEvents(
  tx: Db,
  { id, tenantId }: SessionKey,
  event: string,
): Promise<{ all: number; alike: number } | undefined> {
  return (await selectCount(tx, { id, tenantId, event }))[0]
}

const selectFirst = hot(db =>
  db
    .select({ id: verificationEvents.id })
    .from(verificationEvents)
    .where(
      and(
        eq(verificationEvents.verificationId, column('id')),
        eq(verificationEvents.tenantId, column('tenantId')),
        eq(verificationEvents.event, column('event')),
      ),
    )
    .limit(1),
)

export async function hasHappened(
  db: Db,
  { id, tenantId }: SessionKey,
  event: 'qr_shown' | 'request_fetched' | 'userinfo_read',
): Promise<boolean> {
  return (await selectFirst(db, { id, tenantId, event })).length > 0
}
