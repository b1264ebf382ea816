// Second factors, and log-ins that wait for one.
import { and, asc, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { installation } from '../../db/schema/installation.ts'
import { dashboardPasskeys, dashboardUsers, loginChallenges, recoveryCodes } from '../../db/schema/people.ts'

export type PasskeyRow = typeof dashboardPasskeys.$inferSelect
type ChallengeRow = typeof loginChallenges.$inferSelect
type RecoveryRow = typeof recoveryCodes.$inferSelect
type RecoveryCode = { userId: string; hash: string }

const REQUIRED = 'second_factor_required'

export async function isFactorRequired(db: Db): Promise<boolean> {
  const [row] = await db.select({ name: installation.name }).from(installation).where(eq(installation.name, REQUIRED))
  return row !== undefined
}

export async function requireFactor(tx: Db, isRequired: boolean): Promise<void> {
  if (!isRequired) await tx.delete(installation).where(eq(installation.name, REQUIRED))
  else
    await tx
      .insert(installation)
      .values({ name: REQUIRED, value: Buffer.from('1') })
      .onConflictDoNothing({ target: installation.name })
}

/** Users with one-time codes or a passkey. */
export async function listUsersWithFactor(db: Db): Promise<string[]> {
  const { id, totpSince } = dashboardUsers
  const withCodes = await db.select({ id }).from(dashboardUsers).where(isNotNull(totpSince))
  const withPasskeys = await db.selectDistinct({ id: dashboardPasskeys.userId }).from(dashboardPasskeys)
  return [...withCodes, ...withPasskeys].map(row => row.id)
}

/** Not in use before its first code was right. */
export async function draftTotp(tx: Db, userId: string, secret: { totpSalt: Buffer; totpSealed: Buffer }): Promise<void> {
  await tx
    .update(dashboardUsers)
    .set({ ...secret, totpSince: null, totpStep: null })
    .where(eq(dashboardUsers.id, userId))
}

export async function sealTotp(tx: Db, userId: string, totpSealed: Buffer): Promise<void> {
  await tx.update(dashboardUsers).set({ totpSealed }).where(eq(dashboardUsers.id, userId))
}

export async function startTotp(tx: Db, userId: string, at: number): Promise<void> {
  await tx.update(dashboardUsers).set({ totpSince: at }).where(eq(dashboardUsers.id, userId))
}

export async function deleteTotp(tx: Db, userId: string): Promise<void> {
  await tx
    .update(dashboardUsers)
    .set({ totpSalt: null, totpSealed: null, totpSince: null, totpStep: null })
    .where(eq(dashboardUsers.id, userId))
}

/** False when a code of this step or a later one was taken before. */
export async function takeStep(tx: Db, userId: string, step: number): Promise<boolean> {
  const { id, totpStep } = dashboardUsers
  const taken = await tx
    .update(dashboardUsers)
    .set({ totpStep: step })
    .where(and(eq(id, userId), or(isNull(totpStep), lt(totpStep, step))))
    .returning({ id })
  return taken.length > 0
}

export async function listPasskeys(db: Db, userId: string): Promise<PasskeyRow[]> {
  const { createdAt, id } = dashboardPasskeys
  return await db.select().from(dashboardPasskeys).where(eq(dashboardPasskeys.userId, userId)).orderBy(asc(createdAt), asc(id))
}

export async function findPasskey(db: Db, id: string): Promise<PasskeyRow | undefined> {
  const [row] = await db.select().from(dashboardPasskeys).where(eq(dashboardPasskeys.id, id))
  return row
}

/** False when it is known already. */
export async function insertPasskey(tx: Db, row: PasskeyRow): Promise<boolean> {
  const added = await tx
    .insert(dashboardPasskeys)
    .values(row)
    .onConflictDoNothing({ target: dashboardPasskeys.id })
    .returning({ id: dashboardPasskeys.id })
  return added.length > 0
}

/** False when it was used or removed since it was read. */
export async function markPasskeyUsed(
  tx: Db,
  { id, signatures }: PasskeyRow,
  next: { count: number; at: number },
): Promise<boolean> {
  const used = await tx
    .update(dashboardPasskeys)
    .set({ signatures: next.count, lastUsedAt: next.at })
    .where(and(eq(dashboardPasskeys.id, id), eq(dashboardPasskeys.signatures, signatures)))
    .returning({ id: dashboardPasskeys.id })
  return used.length > 0
}

export async function deletePasskey(tx: Db, { userId, id }: { userId: string; id: string }): Promise<PasskeyRow | undefined> {
  const [gone] = await tx
    .delete(dashboardPasskeys)
    .where(and(eq(dashboardPasskeys.userId, userId), eq(dashboardPasskeys.id, id)))
    .returning()
  return gone
}

export async function deletePasskeysOf(tx: Db, userId: string): Promise<void> {
  await tx.delete(dashboardPasskeys).where(eq(dashboardPasskeys.userId, userId))
}

export async function countRecoveryCodes(db: Db, userId: string): Promise<number> {
  const [row] = await db
    .select({ count: sql`count(*)`.mapWith(Number) })
    .from(recoveryCodes)
    .where(eq(recoveryCodes.userId, userId))
  return row?.count ?? 0
}

export async function insertRecoveryCodes(tx: Db, rows: RecoveryRow[]): Promise<void> {
  await tx.insert(recoveryCodes).values(rows)
}

/** False when there is none, or it was used. */
export async function takeRecoveryCode(tx: Db, { userId, hash }: RecoveryCode): Promise<boolean> {
  const taken = await tx
    .delete(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.hash, hash)))
    .returning({ hash: recoveryCodes.hash })
  return taken.length > 0
}

export async function hasRecoveryCode(db: Db, { userId, hash }: RecoveryCode): Promise<boolean> {
  const [row] = await db
    .select({ hash: recoveryCodes.hash })
    .from(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.hash, hash)))
  return row !== undefined
}

export async function deleteRecoveryCodesOf(tx: Db, userId: string): Promise<void> {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
}

/** False when it is there already: what a challenge allows is done once. */
export async function insertChallenge(tx: Db, row: ChallengeRow): Promise<boolean> {
  const added = await tx
    .insert(loginChallenges)
    .values(row)
    .onConflictDoNothing({ target: loginChallenges.hash })
    .returning({ hash: loginChallenges.hash })
  return added.length > 0
}

/** Counts an attempt before its answer is compared; undefined when none is left, or the ticket is too old. */
export async function takeAttempt(
  tx: Db,
  hash: string,
  { now, attemptsMax }: { now: number; attemptsMax: number },
): Promise<ChallengeRow | undefined> {
  const { purpose, failures, expiresAt } = loginChallenges
  const [row] = await tx
    .update(loginChallenges)
    .set({ failures: sql`${failures} + 1` })
    .where(and(eq(loginChallenges.hash, hash), eq(purpose, 'second_factor'), gt(expiresAt, now), lt(failures, attemptsMax)))
    .returning()
  return row
}

/** False when another request was first. */
export async function deleteChallenge(tx: Db, hash: string): Promise<boolean> {
  const gone = await tx.delete(loginChallenges).where(eq(loginChallenges.hash, hash)).returning({ hash: loginChallenges.hash })
  return gone.length > 0
}

/** Half log-ins. Answered challenges of passkeys stay, so that no answer counts twice. */
export async function deleteTicketsOf(tx: Db, userId: string): Promise<void> {
  await tx.delete(loginChallenges).where(and(eq(loginChallenges.userId, userId), eq(loginChallenges.challenge, '')))
}

export async function listRecoveryCodes(tx: Db): Promise<RecoveryCode[]> {
  const { userId, hash } = recoveryCodes
  return await tx.select({ userId, hash }).from(recoveryCodes)
}

export async function replaceRecoveryHash(
  tx: Db,
  { userId, hash, replacement }: RecoveryCode & { replacement: string },
): Promise<void> {
  await tx
    .update(recoveryCodes)
    .set({ hash: replacement })
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.hash, hash)))
}
