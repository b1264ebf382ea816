import { and, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, max, type SQL, sql } from 'drizzle-orm'
import { type Db, hot, prepared } from '#db'
import { idempotencyKeys, verificationEvents, verificationResults, verificationSessions } from '#schema'

export type VerificationRow = typeof verificationSessions.$inferSelect
export type ResultRow = typeof verificationResults.$inferSelect
export type VerificationWithResult = { verification: VerificationRow; result: ResultRow | null }

/** Whose sessions: a tenant sees those of one environment only, a device those it created. */
export type Owner = { tenantId: string; environment: 'test' | 'live'; deviceId?: string }

/** No session is answered later than this after its creation (ttl_seconds). */
const LIFETIME_MAX_MS = 3_600_000

const column = <Name extends string>(name: Name) => sql.placeholder(name)

const ownedBy = () => [
  eq(verificationSessions.tenantId, column('tenantId')),
  eq(verificationSessions.environment, column('environment')),
]

const insert = hot(db =>
  db.insert(verificationSessions).values({
    id: column('id'),
    tenantId: column('tenantId'),
    environment: column('environment'),
    deviceId: column('deviceId'),
    status: 'pending',
    template: column('template'),
    templateVersion: column('templateVersion'),
    profile: column('profile'),
    clientId: column('clientId'),
    signingKeyId: column('signingKeyId'),
    nonce: column('nonce'),
    state: column('state'),
    createdAt: column('createdAt'),
    expiresAt: column('expiresAt'),
    auditSeq: column('auditSeq'),
    idempotencyHash: column('idempotencyHash'),
    salt: column('salt'),
    sealed: column('sealed'),
  }),
)

export async function insertVerification(tx: Db, { walletFormats: _, ...row }: VerificationRow): Promise<void> {
  insert(tx, row)
}

const selectNewest = prepared(db =>
  db
    .select({ at: max(verificationSessions.createdAt) })
    .from(verificationSessions)
    .where(and(...ownedBy()))
    .prepare(),
)

/** When the tenant's newest verification was created, of either environment; 0 without any. */
export async function newestCreation(db: Db, tenantId: string): Promise<number> {
  const [test] = await selectNewest(db).execute({ tenantId, environment: 'test' })
  const [live] = await selectNewest(db).execute({ tenantId, environment: 'live' })
  return Math.max(test?.at ?? 0, live?.at ?? 0)
}

const withResult = (db: Db) =>
  db
    .select({ verification: verificationSessions, result: verificationResults })
    .from(verificationSessions)
    .leftJoin(
      verificationResults,
      and(
        eq(verificationResults.verificationId, verificationSessions.id),
        eq(verificationResults.tenantId, verificationSessions.tenantId),
      ),
    )

const byDevice = () => eq(verificationSessions.deviceId, column('deviceId'))

const selectOneWhere = (...owned: SQL[]) =>
  prepared(db =>
    withResult(db)
      .where(and(eq(verificationSessions.id, column('id')), ...ownedBy(), ...owned))
      .prepare(),
  )

const selectOne = selectOneWhere()
const selectOneOfDevice = selectOneWhere(byDevice())

export async function findVerification(
  db: Db,
  { tenantId, environment, deviceId }: Owner,
  id: string,
): Promise<VerificationWithResult | undefined> {
  const select = deviceId === undefined ? selectOne : selectOneOfDevice
  const [row] = await select(db).execute({ tenantId, environment, deviceId, id })
  return row
}

const selectOneOfTenant = prepared(db =>
  withResult(db)
    .where(and(eq(verificationSessions.id, column('id')), eq(verificationSessions.tenantId, column('tenantId'))))
    .prepare(),
)

/** Of either environment. */
export async function findOfTenant(db: Db, tenantId: string, id: string): Promise<VerificationWithResult | undefined> {
  const [row] = await selectOneOfTenant(db).execute({ tenantId, id })
  return row
}

const selectPageWhere = (...owned: (SQL | undefined)[]) =>
  prepared(db =>
    withResult(db)
      .where(and(...owned, lt(verificationSessions.createdAt, column('before'))))
      .orderBy(desc(verificationSessions.createdAt))
      .limit(column('limit'))
      .prepare(),
  )

const selectPage = selectPageWhere(...ownedBy())
// The plus keeps the tenant's index out of it: with two equal columns SQLite prefers it, and would walk through the whole tenant's sessions.
const selectPageOfDevice = selectPageWhere(byDevice(), ...ownedBy().map(owned => sql`+(${owned})`))

export async function listVerifications(
  db: Db,
  { tenantId, environment, deviceId }: Owner,
  page: { before: number; limit: number },
): Promise<VerificationWithResult[]> {
  const select = deviceId === undefined ? selectPage : selectPageOfDevice
  return await select(db).execute({ tenantId, environment, deviceId, ...page })
}

export type Outline = Pick<VerificationRow, 'id' | 'createdAt' | 'expiresAt' | 'status' | 'template'>

/** What a filter needs of them, newest first. */
export async function listOutlines(
  db: Db,
  { tenantId, environment }: Owner,
  { before, limit }: { before: number; limit: number },
): Promise<Outline[]> {
  const { id, createdAt, expiresAt, status, template } = verificationSessions
  return await db
    .select({ id, createdAt, expiresAt, status, template })
    .from(verificationSessions)
    .where(
      and(eq(verificationSessions.tenantId, tenantId), eq(verificationSessions.environment, environment), lt(createdAt, before)),
    )
    .orderBy(desc(createdAt))
    .limit(limit)
}

const selectStatus = prepared(db =>
  db
    .select({ status: verificationSessions.status, expiresAt: verificationSessions.expiresAt })
    .from(verificationSessions)
    .where(eq(verificationSessions.id, column('id')))
    .prepare(),
)

/** Without a tenant: the id itself is the capability (interface 5.9). */
export async function findStatus(db: Db, id: string): Promise<Pick<VerificationRow, 'status' | 'expiresAt'> | undefined> {
  const [row] = await selectStatus(db).execute({ id })
  return row
}

/** The whole session by its id alone, for the wallet: there the id is the capability. */
const selectSession = prepared(db =>
  db
    .select()
    .from(verificationSessions)
    .where(eq(verificationSessions.id, column('id')))
    .prepare(),
)

export async function findSession(db: Db, id: string): Promise<VerificationRow | undefined> {
  const [row] = await selectSession(db).execute({ id })
  return row
}

type SessionKey = Pick<VerificationRow, 'id' | 'tenantId'>

const sessionIs = ({ id, tenantId }: SessionKey) =>
  and(eq(verificationSessions.id, id), eq(verificationSessions.tenantId, tenantId))

/** What the wallet that fetched last supports: its answer is checked against what it was asked. */
export async function recordFetch(tx: Db, session: SessionKey, walletFormats: string[] | null): Promise<void> {
  await tx.update(verificationSessions).set({ walletFormats }).where(sessionIs(session))
}

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

export type EventRow = typeof verificationEvents.$inferSelect

const insertEventRow = prepared(db =>
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
    .prepare(),
)

export async function insertEvent(tx: Db, row: Omit<EventRow, 'id'>): Promise<void> {
  await insertEventRow(tx).execute(row)
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

/** Where its moments stand on the audit chain. */
export async function listAuditSeqs(tx: Db, { id, tenantId }: SessionKey): Promise<number[]> {
  const rows = await tx
    .select({ seq: verificationEvents.auditSeq })
    .from(verificationEvents)
    .where(
      and(
        eq(verificationEvents.verificationId, id),
        eq(verificationEvents.tenantId, tenantId),
        isNotNull(verificationEvents.auditSeq),
      ),
    )
  return rows.flatMap(({ seq }) => seq ?? [])
}

/** Whether a wallet has fetched the request of a session. */
export async function wasFetched(db: Db, { id, tenantId }: SessionKey): Promise<boolean> {
  const rows = await db
    .select({ id: verificationEvents.id })
    .from(verificationEvents)
    .where(
      and(
        eq(verificationEvents.verificationId, id),
        eq(verificationEvents.tenantId, tenantId),
        eq(verificationEvents.event, 'request_fetched'),
      ),
    )
    .limit(1)
  return rows.length > 0
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

export async function countPending(db: Db): Promise<number> {
  const [row] = await db
    .select({ count: sql<number>`count(*)` })
    .from(verificationSessions)
    .where(eq(verificationSessions.status, 'pending'))
  return row?.count ?? 0
}

/** Stores `expired` on sessions past their deadline, forgets the keys that would open their answers, and names them. */
export async function markExpired(tx: Db, now: number, limit: number): Promise<Pick<VerificationRow, 'id' | 'environment'>[]> {
  const due = tx
    .select({ id: verificationSessions.id })
    .from(verificationSessions)
    .where(and(eq(verificationSessions.status, 'pending'), lte(verificationSessions.expiresAt, now)))
    .limit(limit)
  return await tx
    .update(verificationSessions)
    .set({ status: 'expired', sealedResponseKey: null })
    .where(inArray(verificationSessions.id, due))
    .returning({ id: verificationSessions.id, environment: verificationSessions.environment })
}

/** Sessions of a tenant that ended at or before a time, oldest first. */
export async function listEnded(db: Db, tenantId: string, endedBy: number, limit: number): Promise<VerificationRow[]> {
  const { createdAt, respondedAt, expiresAt } = verificationSessions
  return await db
    .select()
    .from(verificationSessions)
    .where(
      and(
        eq(verificationSessions.tenantId, tenantId),
        inArray(verificationSessions.environment, ['test', 'live']),
        lte(createdAt, endedBy),
        sql`coalesce(${respondedAt}, ${expiresAt}) <= ${endedBy}`,
      ),
    )
    .orderBy(createdAt)
    .limit(limit)
}

/** Every session there is, in the order of ids. */
export async function listKeys(
  db: Db,
  afterId: string,
  limit: number,
): Promise<Pick<VerificationRow, 'id' | 'tenantId' | 'environment'>[]> {
  const { id, tenantId, environment } = verificationSessions
  return await db.select({ id, tenantId, environment }).from(verificationSessions).where(gt(id, afterId)).orderBy(id).limit(limit)
}

/** A tenant's sessions that a wallet has answered at or after a time, in that order. */
export async function listAnsweredSince(
  db: Db,
  tenantId: string,
  since: number,
  limit: number,
): Promise<VerificationWithResult[]> {
  const { createdAt, respondedAt } = verificationSessions
  return await withResult(db)
    .where(
      and(
        eq(verificationSessions.tenantId, tenantId),
        inArray(verificationSessions.environment, ['test', 'live']),
        gte(createdAt, since - LIFETIME_MAX_MS),
        gte(respondedAt, since),
      ),
    )
    .orderBy(respondedAt, verificationSessions.id)
    .limit(limit)
}

/** Deletes a session with its result and its timeline; its deliveries must be gone before. Counts the rows of the two tables. */
export async function deleteVerification(tx: Db, tenantId: string, id: string): Promise<{ sessions: number; results: number }> {
  await tx
    .delete(verificationEvents)
    .where(and(eq(verificationEvents.verificationId, id), eq(verificationEvents.tenantId, tenantId)))
  const results = await tx
    .delete(verificationResults)
    .where(and(eq(verificationResults.verificationId, id), eq(verificationResults.tenantId, tenantId)))
    .returning({ id: verificationResults.verificationId })
  const sessions = await tx
    .delete(verificationSessions)
    .where(and(eq(verificationSessions.id, id), eq(verificationSessions.tenantId, tenantId)))
    .returning({ id: verificationSessions.id })
  return { sessions: sessions.length, results: results.length }
}

export type ReplayRow = typeof idempotencyKeys.$inferSelect

const selectReplay = prepared(db =>
  db
    .select()
    .from(idempotencyKeys)
    .where(eq(idempotencyKeys.hash, column('hash')))
    .prepare(),
)

export async function findReplay(db: Db, hash: string, now: number): Promise<ReplayRow | undefined> {
  const [row] = await selectReplay(db).execute({ hash })
  return row && row.expiresAt > now ? row : undefined
}

const insertReplay = hot<{ hash: string }>(db =>
  db
    .insert(idempotencyKeys)
    .values({
      hash: column('hash'),
      tenantId: column('tenantId'),
      fingerprint: column('fingerprint'),
      salt: column('salt'),
      sealed: column('sealed'),
      expiresAt: column('expiresAt'),
    })
    .onConflictDoUpdate({
      target: idempotencyKeys.hash,
      set: {
        fingerprint: sql`excluded.fingerprint`,
        salt: sql`excluded.salt`,
        sealed: sql`excluded.sealed`,
        expiresAt: sql`excluded.expires_at`,
      },
      setWhere: lte(idempotencyKeys.expiresAt, column('now')),
    })
    .returning({ hash: idempotencyKeys.hash }),
)

/** False when the key is taken by a row that is still valid. */
export async function keepReplay(tx: Db, row: ReplayRow, now: number): Promise<boolean> {
  return insertReplay(tx, { ...row, now }).length > 0
}

/**
 * Leaves a tombstone: the key stays taken, what it made cannot be read. Only of what is kept until before a time: after its day a key may
 * have made another session, whose answer is kept for longer.
 */
export async function forgetReplay(tx: Db, hash: string, keptUntilBefore: number): Promise<void> {
  await tx
    .update(idempotencyKeys)
    .set({ salt: null, sealed: null })
    .where(and(eq(idempotencyKeys.hash, hash), lt(idempotencyKeys.expiresAt, keptUntilBefore)))
}

export async function deleteExpiredReplays(tx: Db, now: number): Promise<void> {
  await tx.delete(idempotencyKeys).where(lte(idempotencyKeys.expiresAt, now))
}
