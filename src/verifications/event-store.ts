// The moments of a session, for its timeline.
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
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

export async function hasHappened(db: Db, { id, tenantId }: SessionKey, event: 'qr_shown' | 'userinfo_read'): Promise<boolean> {
  return (await selectFirst(db, { id, tenantId, event })).length > 0
}

const isSession = () => and(eq(verificationSessions.id, column('id')), eq(verificationSessions.tenantId, column('tenantId')))

const firstFetch = hot<{ sealed_response_key: Uint8Array | null }>(db =>
  db
    .update(verificationSessions)
    .set({
      fetchedAt: sql`${column('fetchedAt')}`,
      sealedFetches: sql`${column('sealedFetches')}`,
      sealedResponseKey: sql`coalesce(${verificationSessions.sealedResponseKey}, ${column('sealedResponseKey')})`,
    })
    .where(
      and(
        isSession(),
        eq(verificationSessions.status, 'pending'),
        isNull(verificationSessions.respondedAt),
        isNull(verificationSessions.fetchedAt),
      ),
    )
    .returning({ sealedResponseKey: verificationSessions.sealedResponseKey }),
)

type FirstFetch = { fetchedAt: number; sealedFetches: Uint8Array | null; sealedResponseKey: Uint8Array | null }

/** Stores the first fetch of a request, with the key made for it, and gives the stored key; undefined unless it is the first of an open session. */
export async function keepFirstFetch(
  tx: Db,
  { id, tenantId }: SessionKey,
  first: FirstFetch,
): Promise<{ sealedResponseKey: Uint8Array | null } | undefined> {
  const [row] = await firstFetch(tx, { id, tenantId, ...first })
  return row && { sealedResponseKey: row.sealed_response_key }
}

const { id, salt, wrappingKey, status, respondedAt, fetchedAt, sealedFetches, sealedResponseKey } = verificationSessions
const fetchColumns = { id, tenantId: verificationSessions.tenantId, salt, wrappingKey, fetchedAt, sealedFetches }

/** What a session keeps of the fetches of its request, and what opens it. */
export type FetchRow = Pick<
  typeof verificationSessions.$inferSelect,
  'id' | 'tenantId' | 'salt' | 'wrappingKey' | 'fetchedAt' | 'sealedFetches'
>

export async function findFetches(db: Db, session: SessionKey): Promise<FetchRow | undefined> {
  const [row] = await db.select(fetchColumns).from(verificationSessions).where(isThe(session))
  return row
}

type OpenFetches = FetchRow & Pick<typeof verificationSessions.$inferSelect, 'status' | 'respondedAt' | 'sealedResponseKey'>

/** The same, locked before another one is added. */
export async function lockFetches(tx: Db, session: SessionKey): Promise<OpenFetches | undefined> {
  const select = tx
    .select({ ...fetchColumns, status, respondedAt, sealedResponseKey })
    .from(verificationSessions)
    .where(isThe(session))
  const [row] = await locked(select, 'update')
  return row
}

export async function updateFetches(tx: Db, session: SessionKey, sealed: Buffer): Promise<void> {
  await tx.update(verificationSessions).set({ sealedFetches: sealed }).where(isThe(session))
}

const isThe = (session: SessionKey) =>
  and(eq(verificationSessions.id, session.id), eq(verificationSessions.tenantId, session.tenantId))
