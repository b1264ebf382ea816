import { and, asc, desc, eq, exists, gt, isNotNull, isNull, lte, ne, notExists, notInArray, or, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { installation } from '../db/schema/installation.ts'
import {
  dashboardLinks,
  dashboardNetworks,
  dashboardPasskeys,
  dashboardSessions,
  dashboardUsers,
  loginChallenges,
  loginFailures,
  mailAddresses,
} from '../db/schema/people.ts'
import { locked, prepared } from '../db/statements.ts'

export type UserRow = typeof dashboardUsers.$inferSelect
export type SessionRow = typeof dashboardSessions.$inferSelect
export type LinkRow = typeof dashboardLinks.$inferSelect
type FailuresRow = typeof loginFailures.$inferSelect

/** An owner with a password: an invited one may never choose any. */
export async function hasOwner(db: Db): Promise<boolean> {
  const { id, memberOf, password } = dashboardUsers
  const [row] = await db
    .select({ id })
    .from(dashboardUsers)
    .where(and(isNull(memberOf), isNotNull(password)))
    .limit(1)
  return row !== undefined
}

export async function canAnyoneLogIn(db: Db): Promise<boolean> {
  const { id, password } = dashboardUsers
  const [row] = await db.select({ id }).from(dashboardUsers).where(isNotNull(password)).limit(1)
  return row !== undefined
}

export async function listUsers(db: Db): Promise<UserRow[]> {
  return await db.select().from(dashboardUsers).orderBy(asc(dashboardUsers.createdAt), asc(dashboardUsers.id))
}

export async function findUser(db: Db, id: string): Promise<UserRow | undefined> {
  const [row] = await db.select().from(dashboardUsers).where(eq(dashboardUsers.id, id)).limit(1)
  return row
}

/** Taken before a user's password, sessions, networks or links change. */
export async function lockUser(tx: Db, id: string): Promise<UserRow | undefined> {
  const [row] = await locked(tx.select().from(dashboardUsers).where(eq(dashboardUsers.id, id)), 'update')
  return row
}

export async function findUserByName(db: Db, name: string): Promise<UserRow | undefined> {
  const [row] = await db.select().from(dashboardUsers).where(eq(dashboardUsers.name, name)).limit(1)
  return row
}

/** False when the name is taken. */
export async function insertUser(tx: Db, row: UserRow): Promise<boolean> {
  const made = await tx
    .insert(dashboardUsers)
    .values(row)
    .onConflictDoNothing({ target: dashboardUsers.name })
    .returning({ id: dashboardUsers.id })
  return made.length > 0
}

export async function setPassword(tx: Db, userId: string, password: string): Promise<void> {
  await tx.update(dashboardUsers).set({ password }).where(eq(dashboardUsers.id, userId))
}

/** The user's row must be locked. */
export async function setRole(tx: Db, { id, memberOf, role }: UserRow): Promise<void> {
  await tx.update(dashboardUsers).set({ memberOf, role }).where(eq(dashboardUsers.id, id))
}

/**
 * The user's row must be locked, and its second factors removed. Also deletes the user's links,
 * sessions, challenges, networks and mail addresses.
 */
export async function deleteUser(tx: Db, userId: string): Promise<void> {
  await deleteLinksOf(tx, userId)
  await deleteSessionsOf(tx, userId)
  await tx.delete(loginChallenges).where(eq(loginChallenges.userId, userId))
  await tx.delete(dashboardNetworks).where(eq(dashboardNetworks.userId, userId))
  await tx.delete(mailAddresses).where(eq(mailAddresses.userId, userId))
  await tx.delete(dashboardUsers).where(eq(dashboardUsers.id, userId))
}

export async function insertLink(tx: Db, row: LinkRow): Promise<void> {
  await tx.insert(dashboardLinks).values(row)
}

export async function findLink(db: Db, hash: string, now: number): Promise<LinkRow | undefined> {
  const [row] = await db
    .select()
    .from(dashboardLinks)
    .where(and(eq(dashboardLinks.hash, hash), gt(dashboardLinks.expiresAt, now)))
    .limit(1)
  return row
}

/** Undefined when it is gone or has expired. */
export async function takeLink(tx: Db, hash: string, now: number): Promise<LinkRow | undefined> {
  const [row] = await tx
    .delete(dashboardLinks)
    .where(and(eq(dashboardLinks.hash, hash), gt(dashboardLinks.expiresAt, now)))
    .returning()
  return row
}

/** Null for the links of the set-up. */
export async function deleteLinksOf(tx: Db, userId: string | null): Promise<void> {
  await tx.delete(dashboardLinks).where(userId === null ? isNull(dashboardLinks.userId) : eq(dashboardLinks.userId, userId))
}

export async function insertSession(tx: Db, row: SessionRow): Promise<void> {
  await tx.insert(dashboardSessions).values(row)
}

/** The user's row must be locked. Deletes the oldest sessions above `keep`, never the given one. */
export async function deleteOldestSessions(tx: Db, { userId, hash }: SessionRow, keep: number): Promise<void> {
  const others = and(eq(dashboardSessions.userId, userId), ne(dashboardSessions.hash, hash))
  const newest = tx
    .select({ hash: dashboardSessions.hash })
    .from(dashboardSessions)
    .where(others)
    .orderBy(desc(dashboardSessions.createdAt), desc(dashboardSessions.hash))
    .limit(keep - 1)
  await tx.delete(dashboardSessions).where(and(others, notInArray(dashboardSessions.hash, newest)))
}

const selectSession = prepared(db => {
  const ofUser = eq(dashboardPasskeys.userId, dashboardUsers.id)
  const passkeys = db.select({ id: dashboardPasskeys.id }).from(dashboardPasskeys).where(ofUser)
  const rule = db.select({ name: installation.name }).from(installation).where(eq(installation.name, 'second_factor_required'))
  const isMissing = and(isNull(dashboardUsers.totpSince), notExists(passkeys), exists(rule))
  return db
    .select({
      session: dashboardSessions,
      user: dashboardUsers,
      isFactorMissing: sql`CASE WHEN ${isMissing} THEN 1 ELSE 0 END`.mapWith(value => Number(value) === 1),
    })
    .from(dashboardSessions)
    .innerJoin(dashboardUsers, eq(dashboardUsers.id, dashboardSessions.userId))
    .where(eq(dashboardSessions.hash, sql.placeholder('hash')))
    .prepare()
})

export async function findSession(
  db: Db,
  hash: string,
): Promise<{ session: SessionRow; user: UserRow; isFactorMissing: boolean } | undefined> {
  const [row] = await selectSession(db).execute({ hash })
  return row
}

type Alive = { now: number; seenAfter: number }

export async function listSessions(db: Db, userId: string, { now, seenAfter }: Alive): Promise<SessionRow[]> {
  const { createdAt, expiresAt, seenAt } = dashboardSessions
  return await db
    .select()
    .from(dashboardSessions)
    .where(and(eq(dashboardSessions.userId, userId), gt(expiresAt, now), gt(seenAt, seenAfter)))
    .orderBy(desc(createdAt), desc(dashboardSessions.hash))
}

export async function markSeen(tx: Db, hash: string, at: number): Promise<void> {
  await tx.update(dashboardSessions).set({ seenAt: at }).where(eq(dashboardSessions.hash, hash))
}

export async function markAuthenticated(tx: Db, hash: string, at: number): Promise<void> {
  await tx.update(dashboardSessions).set({ authenticatedAt: at }).where(eq(dashboardSessions.hash, hash))
}

export async function deleteSession(tx: Db, { userId, id }: { userId: string; id: string }): Promise<boolean> {
  const gone = await tx
    .delete(dashboardSessions)
    .where(and(eq(dashboardSessions.userId, userId), eq(dashboardSessions.id, id)))
    .returning({ id: dashboardSessions.id })
  return gone.length > 0
}

export async function deleteSessionsOf(tx: Db, userId: string): Promise<void> {
  await tx.delete(dashboardSessions).where(eq(dashboardSessions.userId, userId))
}

export async function deleteEndedSessions(tx: Db, { now, seenAfter }: Alive): Promise<void> {
  await tx.delete(dashboardSessions).where(or(lte(dashboardSessions.expiresAt, now), lte(dashboardSessions.seenAt, seenAfter)))
}

export async function markLoggedIn(tx: Db, userId: string, at: number): Promise<void> {
  await tx.update(dashboardUsers).set({ lastLoginAt: at }).where(eq(dashboardUsers.id, userId))
}

type Network = { userId: string; network: string }

export async function findNetwork(db: Db, { userId, network }: Network): Promise<number | undefined> {
  const [row] = await db
    .select({ seenAt: dashboardNetworks.seenAt })
    .from(dashboardNetworks)
    .where(and(eq(dashboardNetworks.userId, userId), eq(dashboardNetworks.network, network)))
    .limit(1)
  return row?.seenAt
}

/** The user's row must be locked. Adds the network, and deletes those seen longest ago. */
export async function keepNetwork(tx: Db, { userId, network }: Network, at: number, keep: number): Promise<void> {
  const { userId: user, network: name, seenAt } = dashboardNetworks
  await tx
    .insert(dashboardNetworks)
    .values({ userId, network, seenAt: at })
    .onConflictDoUpdate({ target: [user, name], set: { seenAt: at } })
  const latest = tx.select({ name }).from(dashboardNetworks).where(eq(user, userId)).orderBy(desc(seenAt), desc(name)).limit(keep)
  await tx.delete(dashboardNetworks).where(and(eq(user, userId), ne(name, network), notInArray(name, latest)))
}

type Throttled = { account: string; network: string }

const ofThrottled = ({ account, network }: Throttled) =>
  and(eq(loginFailures.account, account), eq(loginFailures.network, network))

/** Creates or locks the row in one statement, so that no attempt goes uncounted. */
export async function lockFailures(tx: Db, empty: FailuresRow): Promise<FailuresRow> {
  const { account, network } = empty
  const [row] = await tx
    .insert(loginFailures)
    .values(empty)
    .onConflictDoUpdate({ target: [loginFailures.account, loginFailures.network], set: { account, network } })
    .returning()
  return row!
}

export async function updateFailures(tx: Db, { account, network, ...counted }: FailuresRow): Promise<void> {
  await tx.update(loginFailures).set(counted).where(ofThrottled({ account, network }))
}

export async function deleteFailures(tx: Db, throttled: Throttled): Promise<void> {
  await tx.delete(loginFailures).where(ofThrottled(throttled))
}

export async function deleteForgotten(tx: Db, now: number): Promise<void> {
  await tx.delete(loginFailures).where(lte(loginFailures.forgetAt, now))
  await tx.delete(dashboardLinks).where(lte(dashboardLinks.expiresAt, now))
  await tx.delete(loginChallenges).where(lte(loginChallenges.expiresAt, now))
  await tx.delete(mailAddresses).where(lte(mailAddresses.expiresAt, now))
}
