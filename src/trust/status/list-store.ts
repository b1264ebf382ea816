import { and, desc, eq, getTableColumns, gte, inArray, isNull, lte, or, sql } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { revocationLists } from '../../db/schema/trust.ts'
import type { ListBytes, ListMedia } from '../../openid4vp/trust/list-cache.ts'

export type ListRow = typeof revocationLists.$inferSelect
export type ListKey = { uri: string; media: ListMedia }
export type ListOutline = Omit<ListRow, 'bytes'> & { size: number }

const isAt = ({ uri, media }: ListKey) => and(eq(revocationLists.uri, uri), eq(revocationLists.media, media))
const { bytes: _, ...OUTLINE } = getTableColumns(revocationLists)
const SIZE = sql`length(${revocationLists.bytes})`.mapWith(Number)

/** The newest of these media. */
export async function findList(db: Db, uri: string, media: readonly ListMedia[]): Promise<ListRow | undefined> {
  const [row] = await db
    .select()
    .from(revocationLists)
    .where(and(eq(revocationLists.uri, uri), inArray(revocationLists.media, [...media])))
    .orderBy(desc(revocationLists.issuedAt), desc(revocationLists.fetchedAt))
    .limit(1)
  return row
}

/** The last to go when there is no room is first. */
export async function listRevocationLists(db: Db): Promise<ListOutline[]> {
  const { wanted, seenAt, uri, media } = revocationLists
  return await db
    .select({ ...OUTLINE, size: SIZE })
    .from(revocationLists)
    .orderBy(desc(wanted), desc(seenAt), uri, media)
}

export async function listDueLists(db: Db, { now, seenSince }: { now: number; seenSince: number }): Promise<ListKey[]> {
  const { uri, media, wanted, seenAt, dueAt } = revocationLists
  return await db
    .select({ uri, media })
    .from(revocationLists)
    .where(and(lte(dueAt, now), or(eq(wanted, 1), gte(seenAt, seenSince))))
    .orderBy(dueAt)
}

/** False when there is none yet. The row stays as it is when it has a later issue. */
export async function updateList(tx: Db, list: ListBytes, changes: Partial<ListRow>): Promise<boolean> {
  const { issuedAt } = list
  const rows = await tx
    .update(revocationLists)
    .set({ ...columnsOf(list), ...changes })
    .where(and(isAt(list), lte(revocationLists.issuedAt, issuedAt)))
    .returning({ uri: revocationLists.uri })
  if (rows.length > 0) return true
  const found = await tx.select({ uri: revocationLists.uri }).from(revocationLists).where(isAt(list))
  return found.length > 0
}

export async function insertList(tx: Db, list: ListBytes, rest: Pick<ListRow, 'seenAt' | 'dueAt' | 'wanted'>): Promise<void> {
  const { uri, media } = list
  await tx
    .insert(revocationLists)
    .values({ uri, media, ...columnsOf(list), ...rest })
    .onConflictDoNothing({ target: [revocationLists.uri, revocationLists.media] })
}

const columnsOf = ({ bytes, issuedAt, endsAt, ttlMs, fetchedAt, from }: ListBytes) => ({
  ...{ bytes: Buffer.from(bytes), issuedAt, endsAt, ttlMs, fetchedAt, from },
})

export async function postponeList(tx: Db, key: ListKey, dueAt: number): Promise<void> {
  await tx.update(revocationLists).set({ dueAt }).where(isAt(key))
}

/** False when there is none. */
export async function markSeen(tx: Db, key: ListKey, seenAt: number): Promise<boolean> {
  const rows = await tx.update(revocationLists).set({ seenAt }).where(isAt(key)).returning({ uri: revocationLists.uri })
  return rows.length > 0
}

export async function deleteList(tx: Db, key: ListKey): Promise<void> {
  await tx.delete(revocationLists).where(isAt(key))
}

/** False when there was none. */
export async function deleteListsAt(tx: Db, uri: string): Promise<boolean> {
  const rows = await tx.delete(revocationLists).where(eq(revocationLists.uri, uri)).returning({ uri: revocationLists.uri })
  return rows.length > 0
}

/** Bytes of those that have not ended, the latest issue first. */
export async function listCountingLists(db: Db, now: number): Promise<ListRow[]> {
  const { endsAt, issuedAt, uri } = revocationLists
  return await db
    .select()
    .from(revocationLists)
    .where(or(isNull(endsAt), gte(endsAt, now)))
    .orderBy(desc(issuedAt), uri)
}
