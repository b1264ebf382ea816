import { and, eq, inArray, isNull, lte, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { verificationSessions } from '../../db/schema/verifications.ts'
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
