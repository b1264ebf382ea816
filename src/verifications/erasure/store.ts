import { and, eq, inArray, isNotNull, isNull, lte, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { verificationResults, verificationSessions } from '../../db/schema/verifications.ts'
import { LOGIN_KEPT_MS } from '../status.ts'
import { SESSION_COLUMNS, type VerificationRow } from '../store.ts'

/**
 * Sessions of a tenant that ended at or before a time, oldest first. Without held ones: the webhook
 * of their failure is still to be sent.
 */
export async function listEnded(db: Db, tenantId: string, endedBy: number, limit: number): Promise<VerificationRow[]> {
  const { createdAt, respondedAt, expiresAt, status } = verificationSessions
  return await db
    .select(SESSION_COLUMNS)
    .from(verificationSessions)
    .where(
      and(
        eq(verificationSessions.tenantId, tenantId),
        inArray(verificationSessions.environment, ['test', 'live']),
        lte(createdAt, endedBy),
        sql`coalesce(${respondedAt}, ${expiresAt}) <= ${endedBy}`,
        or(ne(status, 'pending'), isNull(respondedAt)),
      ),
    )
    .orderBy(createdAt)
    .limit(limit)
}

const isTest = (tenantId: string) =>
  and(eq(verificationSessions.tenantId, tenantId), eq(verificationSessions.environment, 'test'))

/** Test sessions of a tenant in any state, oldest first. */
export async function listTest(db: Db, tenantId: string, limit: number): Promise<VerificationRow[]> {
  const { createdAt } = verificationSessions
  return await db.select(SESSION_COLUMNS).from(verificationSessions).where(isTest(tenantId)).orderBy(createdAt).limit(limit)
}

export const countTest = async (db: Db, tenantId: string): Promise<number> =>
  await db.$count(verificationSessions, isTest(tenantId))

/** Log-ins that ended long enough ago, oldest first. They end with their result or, without one, by time. */
export async function listEndedLogins(db: Db, now: number, limit: number): Promise<VerificationRow[]> {
  const { createdAt, expiresAt, eraseAfter, status } = verificationSessions
  const isItsResult = and(
    eq(verificationResults.verificationId, verificationSessions.id),
    eq(verificationResults.tenantId, verificationSessions.tenantId),
  )
  return await db
    .select(SESSION_COLUMNS)
    .from(verificationSessions)
    .leftJoin(verificationResults, isItsResult)
    .where(
      and(
        isNotNull(eraseAfter),
        lte(createdAt, now - LOGIN_KEPT_MS),
        ne(status, 'pending'),
        sql`coalesce(${verificationResults.createdAt}, ${expiresAt}) + ${eraseAfter} <= ${now}`,
      ),
    )
    .orderBy(createdAt)
    .limit(limit)
}
