// Sessions that end by time: expired, never redeemed, never compared.
import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { verificationSessions } from '../../db/schema/verifications.ts'
import { isAmongFree } from '../../db/statements.ts'
import type { FetchRow } from '../event-store.ts'
import { incomparableSince } from '../hold.ts'
import { unredeemableSince } from '../response-code.ts'
import { SESSION_COLUMNS, type SessionKey, type VerificationRow } from '../store.ts'

export type Expired = Pick<
  VerificationRow,
  'id' | 'tenantId' | 'environment' | 'template' | 'deviceId' | 'createdAt' | 'expiresAt' | 'auditSeq'
> &
  FetchRow

/**
 * Stores `expired` on sessions past their deadline, deletes their response keys, and returns them. The update repeats the status:
 * PostgreSQL does not repeat the inner select after it waited for a row.
 */
export async function markExpired(tx: Db, now: number, limit: number): Promise<Expired[]> {
  const due = tx
    .select({ id: verificationSessions.id })
    .from(verificationSessions)
    .where(
      and(
        eq(verificationSessions.status, 'pending'),
        isNull(verificationSessions.respondedAt),
        lte(verificationSessions.expiresAt, now),
      ),
    )
    .limit(limit)
  const { id, tenantId, environment, template, deviceId, createdAt, expiresAt, auditSeq } = verificationSessions
  const { salt, wrappingKey, fetchedAt, sealedFetches } = verificationSessions
  return await tx
    .update(verificationSessions)
    .set({ status: 'expired', sealedResponseKey: null, sealedDcRequests: null, sealedInPerson: null })
    .where(and(isAmongFree(verificationSessions.id, due), eq(verificationSessions.status, 'pending')))
    .returning({
      ...{ id, tenantId, environment, template, deviceId, createdAt, expiresAt, auditSeq },
      ...{ salt, wrappingKey, fetchedAt, sealedFetches },
    })
}

/** Stores which record of the audit chain tells of the expiry. */
export async function keepExpirySeq(tx: Db, { id, tenantId }: SessionKey, expirySeq: number): Promise<void> {
  await tx
    .update(verificationSessions)
    .set({ expirySeq })
    .where(and(eq(verificationSessions.id, id), eq(verificationSessions.tenantId, tenantId)))
}

/** Fails sessions whose answer was held for too long, and returns them. */
export async function markOverdue(tx: Db, now: number, limit: number): Promise<VerificationRow[]> {
  const { respondedAt, release } = verificationSessions
  const due = tx
    .select({ id: verificationSessions.id })
    .from(verificationSessions)
    // A literal: with a bound value SQLite would not use the partial index.
    .where(
      and(
        sql`${verificationSessions.status} = 'pending'`,
        lte(respondedAt, incomparableSince(now)),
        or(isNull(release), lte(respondedAt, unredeemableSince(now))),
      ),
    )
    .limit(limit)
  return await tx
    .update(verificationSessions)
    .set({ status: 'failed' })
    .where(and(isAmongFree(verificationSessions.id, due), eq(verificationSessions.status, 'pending')))
    .returning(SESSION_COLUMNS)
}
