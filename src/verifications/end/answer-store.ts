// The answer of a session: the key that opens it, its result, its response code and the one redemption. Sessions are in store.ts.
import { and, eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { verificationResults, verificationSessions } from '../../db/schema/verifications.ts'
import { column, hot } from '../../db/statements.ts'
import type { FetchRow } from '../event-store.ts'
import { incomparableSince } from '../hold.ts'
import type { storedResponseCode } from '../response-code.ts'
import type { Owner, ResultRow, SessionKey } from '../store.ts'

const isResultOf = ({ id, tenantId }: SessionKey) =>
  and(eq(verificationResults.verificationId, id), eq(verificationResults.tenantId, tenantId))

const isSession = () => and(eq(verificationSessions.id, column('id')), eq(verificationSessions.tenantId, column('tenantId')))

const isUnanswered = () => and(isSession(), eq(verificationSessions.status, 'pending'), isNull(verificationSessions.respondedAt))

/** Answers, cancellations and the deadline race for an open session. */
const isOpen = () => and(isUnanswered(), gt(verificationSessions.expiresAt, column('at')))

const keepRequests = hot<{ id: string }>(db =>
  db
    .update(verificationSessions)
    .set({ sealedDcRequests: sql`${column('sealed')}` })
    .where(isUnanswered())
    .returning({ id: verificationSessions.id }),
)

/** False when the session is answered or ended. */
export async function keepDcRequests(tx: Db, { id, tenantId }: SessionKey, sealed: Uint8Array): Promise<boolean> {
  return (await keepRequests(tx, { id, tenantId, sealed })).length > 0
}

const keepOne = hot(db =>
  db
    .update(verificationSessions)
    .set({ sealedInPerson: sql`${column('sealed')}` })
    .where(isSession()),
)

/** Called under the lock of an open session; null deletes it. */
export async function keepInPerson(tx: Db, { id, tenantId }: SessionKey, sealed: Uint8Array | null): Promise<void> {
  await keepOne(tx, { id, tenantId, sealed })
}

type Closing = SessionKey & {
  at: number
  /** `pending` for an answer that is held. */
  status: 'completed' | 'failed' | 'pending'
  answeredFrom: 'qr' | null
  responseCodeHash?: string
  responseCodeExpiresAt?: number
}

const close = hot<{ fetched_at: number | null; sealed_fetches: Uint8Array | null }>(db =>
  db
    .update(verificationSessions)
    .set({
      status: sql`${column('status')}`,
      respondedAt: sql`${column('at')}`,
      answeredFrom: sql`${column('answeredFrom')}`,
      responseCodeHash: sql`${column('responseCodeHash')}`,
      responseCodeExpiresAt: sql`${column('responseCodeExpiresAt')}`,
      sealedResponseKey: null,
      sealedDcRequests: null,
      sealedInPerson: null,
    })
    .where(isOpen())
    .returning({ fetchedAt: verificationSessions.fetchedAt, sealedFetches: verificationSessions.sealedFetches }),
)

/** For the first answer of a session before its deadline, the fetches of its request; undefined for any other. */
export async function closeSession(
  tx: Db,
  { responseCodeHash, responseCodeExpiresAt, ...closing }: Closing,
): Promise<Pick<FetchRow, 'fetchedAt' | 'sealedFetches'> | undefined> {
  const code = { responseCodeHash: responseCodeHash ?? null, responseCodeExpiresAt: responseCodeExpiresAt ?? null }
  const [row] = await close(tx, { ...closing, ...code })
  return row && { fetchedAt: row.fetched_at, sealedFetches: row.sealed_fetches && Buffer.from(row.sealed_fetches) }
}

const cancel = hot(db =>
  db
    .update(verificationSessions)
    .set({ status: 'failed', sealedResponseKey: null, sealedDcRequests: null, sealedInPerson: null })
    .where(isOpen())
    .returning({ id: verificationSessions.id }),
)

/** True for the one cancellation of an open session. `responded_at` stays null. */
export async function cancelSession(tx: Db, { id, tenantId }: SessionKey, at: number): Promise<boolean> {
  return (await cancel(tx, { id, tenantId, at })).length > 0
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
  await insert(tx, row)
}

/** Deletes a held answer. */
export async function deleteResult(tx: Db, session: SessionKey): Promise<void> {
  await tx.delete(verificationResults).where(isResultOf(session))
}

/** Dates a held result anew: its session ends with the redemption, or the comparison. */
export async function dateResult(tx: Db, session: SessionKey, end: { createdAt: number; auditSeq: number }): Promise<void> {
  await tx.update(verificationResults).set(end).where(isResultOf(session))
}

const decide = hot<{ id: string }>(db =>
  db
    .update(verificationSessions)
    .set({ status: sql`${column('status')}` })
    .where(
      and(
        isSession(),
        eq(verificationSessions.environment, column('environment')),
        eq(verificationSessions.deviceId, column('deviceId')),
        eq(verificationSessions.status, 'pending'),
        isNull(verificationSessions.release),
        gt(verificationSessions.respondedAt, column('incomparableSince')),
      ),
    )
    .returning({ id: verificationSessions.id }),
)

/** True for the one decision of the device about a held answer, in time. */
export async function endComparison(
  tx: Db,
  { tenantId, environment, deviceId }: Required<Owner>,
  id: string,
  { status, at }: { status: 'completed' | 'failed'; at: number },
): Promise<boolean> {
  const [row] = await decide(tx, { id, tenantId, environment, deviceId, status, incomparableSince: incomparableSince(at) })
  return row !== undefined
}

const isRedeemableBy = (...owned: SQL[]) =>
  and(
    isSession(),
    eq(verificationSessions.environment, column('environment')),
    ...owned,
    eq(verificationSessions.responseCodeHash, column('codeHash')),
    isNull(verificationSessions.redeemedAt),
    gt(verificationSessions.responseCodeExpiresAt, column('now')),
  )

const byDevice = eq(verificationSessions.deviceId, column('deviceId'))

const selectWhere = (...owned: SQL[]) =>
  hot<{ id: string }>(db =>
    db
      .select({ id: verificationSessions.id })
      .from(verificationSessions)
      .where(isRedeemableBy(...owned)),
  )

const selectRedeemable = selectWhere()
const selectRedeemableOfDevice = selectWhere(byDevice)

/** True for a code that is right, unspent and in time. */
export async function isRedeemable(db: Db, owner: Owner, id: string, codeHash: string, now: number): Promise<boolean> {
  const select = owner.deviceId === undefined ? selectRedeemable : selectRedeemableOfDevice
  const [row] = await select(db, { ...owner, id, codeHash, now })
  return row !== undefined
}

type Redeemed = { status: 'completed' | 'failed'; release: 'on_redeem' | null }

const redeemWhere = (...owned: SQL[]) =>
  hot<Redeemed>(db =>
    db
      .update(verificationSessions)
      .set({
        redeemedAt: sql`${column('now')}`,
        status: sql`CASE ${verificationSessions.status} WHEN 'pending' THEN 'completed' ELSE ${verificationSessions.status} END`,
      })
      .where(isRedeemableBy(...owned))
      .returning({ status: verificationSessions.status, release: verificationSessions.release }),
  )

const redeem = redeemWhere()
const redeemOfDevice = redeemWhere(byDevice)

/** Undefined unless it is the one redemption of the code; `wasHeld` if it ended the session. */
export async function markRedeemed(
  tx: Db,
  owner: Owner,
  id: string,
  codeHash: string,
  now: number,
): Promise<{ wasHeld: boolean } | undefined> {
  const redeemIt = owner.deviceId === undefined ? redeem : redeemOfDevice
  const [row] = await redeemIt(tx, { ...owner, id, codeHash, now })
  // A session of this kind completes in no other way.
  return row && { wasHeld: row.release === 'on_redeem' && row.status === 'completed' }
}

const claim = hot(db =>
  db
    .update(verificationSessions)
    .set({ pageOwnerHash: sql`${column('ownerHash')}` })
    .where(and(isOpen(), isNull(verificationSessions.pageOwnerHash)))
    .returning({ id: verificationSessions.id }),
)

/** True for the one browser that opens the hosted page first, before there is an answer. */
export async function claimPage(tx: Db, { id, tenantId }: SessionKey, ownerHash: string, at: number): Promise<boolean> {
  return (await claim(tx, { id, tenantId, ownerHash, at })).length > 0
}

const replaceCode = hot(db =>
  db
    .update(verificationSessions)
    .set({
      responseCodeHash: sql`${column('responseCodeHash')}`,
      responseCodeExpiresAt: sql`${column('responseCodeExpiresAt')}`,
    })
    .where(
      and(
        isSession(),
        eq(verificationSessions.pageOwnerHash, column('ownerHash')),
        eq(verificationSessions.answeredFrom, 'qr'),
        isNull(verificationSessions.redeemedAt),
      ),
    )
    .returning({ id: verificationSessions.id }),
)

/** Replaces the response code; false once one was redeemed. */
export async function replaceResponseCode(
  tx: Db,
  { id, tenantId }: SessionKey,
  ownerHash: string,
  code: ReturnType<typeof storedResponseCode>,
): Promise<boolean> {
  return (await replaceCode(tx, { id, tenantId, ownerHash, ...code })).length > 0
}
