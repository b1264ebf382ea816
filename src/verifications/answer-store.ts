// What the exchange with a wallet changes about a session: the key that opens the answer, the one answer, its result, the one redemption.
import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Db } from '#db'
import { verificationResults, verificationSessions } from '#schema'
import { prepared } from '../db/statements.ts'
import type { Owner, ResultRow, SessionKey } from './store.ts'

const column = <Name extends string>(name: Name) => sql.placeholder(name)

const sessionIs = ({ id, tenantId }: SessionKey) =>
  and(eq(verificationSessions.id, id), eq(verificationSessions.tenantId, tenantId))

/** Keeps the key if none is kept yet, and gives the one that is; nothing when the session has ended. */
export async function keepResponseKey(tx: Db, session: SessionKey, sealed: Buffer): Promise<Buffer | null> {
  const [row] = await tx
    .update(verificationSessions)
    .set({ sealedResponseKey: sql`coalesce(${verificationSessions.sealedResponseKey}, ${sealed})` })
    .where(and(sessionIs(session), eq(verificationSessions.status, 'pending')))
    .returning({ sealed: verificationSessions.sealedResponseKey })
  return row?.sealed ?? null
}

type Closing = SessionKey & {
  at: number
  status: 'completed' | 'failed'
  responseCodeHash?: string
  responseCodeExpiresAt?: number
}

const close = prepared(db =>
  db
    .update(verificationSessions)
    .set({
      status: sql`${column('status')}`,
      respondedAt: sql`${column('at')}`,
      responseCodeHash: sql`${column('responseCodeHash')}`,
      responseCodeExpiresAt: sql`${column('responseCodeExpiresAt')}`,
      sealedResponseKey: null,
    })
    .where(
      and(
        eq(verificationSessions.id, column('id')),
        eq(verificationSessions.tenantId, column('tenantId')),
        eq(verificationSessions.status, 'pending'),
        gt(verificationSessions.expiresAt, column('at')),
      ),
    )
    .returning({ id: verificationSessions.id })
    .prepare(),
)

/** True for the one answer that ends the session: pending, and not yet past its deadline. */
export async function closeSession(tx: Db, { responseCodeHash, responseCodeExpiresAt, ...closing }: Closing): Promise<boolean> {
  const code = { responseCodeHash: responseCodeHash ?? null, responseCodeExpiresAt: responseCodeExpiresAt ?? null }
  const rows = await close(tx).execute({ ...closing, ...code })
  return rows.length > 0
}

const insertResultRow = prepared(db =>
  db
    .insert(verificationResults)
    .values({
      verificationId: column('verificationId'),
      tenantId: column('tenantId'),
      salt: column('salt'),
      sealed: column('sealed'),
      createdAt: column('createdAt'),
      auditSeq: column('auditSeq'),
    })
    .prepare(),
)

export async function insertResult(tx: Db, row: ResultRow): Promise<void> {
  await insertResultRow(tx).execute(row)
}

/** True for the one redemption of a code that is right and in time. */
export async function markRedeemed(
  tx: Db,
  { tenantId, environment, deviceId }: Owner,
  id: string,
  codeHash: string,
  now: number,
): Promise<boolean> {
  const rows = await tx
    .update(verificationSessions)
    .set({ redeemedAt: now })
    .where(
      and(
        sessionIs({ id, tenantId }),
        eq(verificationSessions.environment, environment),
        deviceId === undefined ? undefined : eq(verificationSessions.deviceId, deviceId),
        eq(verificationSessions.responseCodeHash, codeHash),
        isNull(verificationSessions.redeemedAt),
        gt(verificationSessions.responseCodeExpiresAt, now),
      ),
    )
    .returning({ id: verificationSessions.id })
  return rows.length > 0
}
