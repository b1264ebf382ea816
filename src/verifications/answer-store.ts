// What the exchange with a wallet changes about a session: the key that opens the answer, the one answer, its result, the one redemption.
import { and, eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import type { Db } from '#db'
import { verificationResults, verificationSessions } from '#schema'
import { hot } from '../db/statements.ts'
import type { Owner, ResultRow, SessionKey } from './store.ts'

const column = <Name extends string>(name: Name) => sql.placeholder(name)

const keep = hot<{ sealed_response_key: Uint8Array }>(db =>
  db
    .update(verificationSessions)
    .set({ sealedResponseKey: sql`coalesce(${verificationSessions.sealedResponseKey}, ${column('sealed')})` })
    .where(
      and(
        eq(verificationSessions.id, column('id')),
        eq(verificationSessions.tenantId, column('tenantId')),
        eq(verificationSessions.status, 'pending'),
      ),
    )
    .returning({ sealed: verificationSessions.sealedResponseKey }),
)

/** Keeps the key if none is kept yet, and gives the one that is; nothing when the session has ended. */
export async function keepResponseKey(tx: Db, { id, tenantId }: SessionKey, sealed: Uint8Array): Promise<Uint8Array | null> {
  const [row] = keep(tx, { id, tenantId, sealed })
  return row?.sealed_response_key ?? null
}

/** What answers, cancellations and the deadline race for. */
const isOpen = () =>
  and(
    eq(verificationSessions.id, column('id')),
    eq(verificationSessions.tenantId, column('tenantId')),
    eq(verificationSessions.status, 'pending'),
    gt(verificationSessions.expiresAt, column('at')),
  )

type Closing = SessionKey & {
  at: number
  status: 'completed' | 'failed'
  responseCodeHash?: string
  responseCodeExpiresAt?: number
}

const close = hot(db =>
  db
    .update(verificationSessions)
    .set({
      status: sql`${column('status')}`,
      respondedAt: sql`${column('at')}`,
      responseCodeHash: sql`${column('responseCodeHash')}`,
      responseCodeExpiresAt: sql`${column('responseCodeExpiresAt')}`,
      sealedResponseKey: null,
    })
    .where(isOpen())
    .returning({ id: verificationSessions.id }),
)

/** True for the one answer that ends the session: pending, and not yet past its deadline. */
export async function closeSession(tx: Db, { responseCodeHash, responseCodeExpiresAt, ...closing }: Closing): Promise<boolean> {
  const code = { responseCodeHash: responseCodeHash ?? null, responseCodeExpiresAt: responseCodeExpiresAt ?? null }
  const rows = close(tx, { ...closing, ...code })
  return rows.length > 0
}

const cancel = hot(db =>
  db
    .update(verificationSessions)
    .set({ status: 'failed', sealedResponseKey: null })
    .where(isOpen())
    .returning({ id: verificationSessions.id }),
)

/** True for the one cancellation of a session that is pending and within its time. `responded_at` stays empty: no wallet has answered. */
export async function cancelSession(tx: Db, { id, tenantId }: SessionKey, at: number): Promise<boolean> {
  return cancel(tx, { id, tenantId, at }).length > 0
}

const insert = hot(db =>
  db.insert(verificationResults).values({
    verificationId: column('verificationId'),
    tenantId: column('tenantId'),
    salt: column('salt'),
    sealed: column('sealed'),
    createdAt: column('createdAt'),
    auditSeq: column('auditSeq'),
  }),
)

export async function insertResult(tx: Db, row: ResultRow): Promise<void> {
  insert(tx, row)
}

const redeemWhere = (...owned: SQL[]) =>
  hot(db =>
    db
      .update(verificationSessions)
      .set({ redeemedAt: sql`${column('now')}` })
      .where(
        and(
          eq(verificationSessions.id, column('id')),
          eq(verificationSessions.tenantId, column('tenantId')),
          eq(verificationSessions.environment, column('environment')),
          ...owned,
          eq(verificationSessions.responseCodeHash, column('codeHash')),
          isNull(verificationSessions.redeemedAt),
          gt(verificationSessions.responseCodeExpiresAt, column('now')),
        ),
      )
      .returning({ id: verificationSessions.id }),
  )

const redeem = redeemWhere()
const redeemOfDevice = redeemWhere(eq(verificationSessions.deviceId, column('deviceId')))

/** True for the one redemption of a code that is right and in time. */
export async function markRedeemed(tx: Db, owner: Owner, id: string, codeHash: string, now: number): Promise<boolean> {
  const redeemIt = owner.deviceId === undefined ? redeem : redeemOfDevice
  return redeemIt(tx, { ...owner, id, codeHash, now }).length > 0
}
