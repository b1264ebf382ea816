// Sessions: created, found, listed, locked, deleted. Their ends by time, answers, moments and replays have stores of their own.
import { and, count, desc, eq, getTableColumns, gt, gte, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { oidcLogins } from '../db/schema/oidc.ts'
import { sessionKeys } from '../db/schema/session-keys.ts'
import { verificationEvents, verificationResults, verificationSessions } from '../db/schema/verifications.ts'
import { column, hot, locked, rowWithout, wholeRow } from '../db/statements.ts'
import { deletePortrait } from './portrait-store.ts'
import { TTL_SECONDS } from './schema.ts'
import { deleteTerms, insertTerms } from './term-store.ts'

const { sealedQuery, sealedFetches: _, ...sessionColumns } = getTableColumns(verificationSessions)
/** Of every read of sessions: their queries are as large as all the rest, and few readers need one, or their fetches. */
export const SESSION_COLUMNS = sessionColumns

export type VerificationRow = Omit<typeof verificationSessions.$inferSelect, 'sealedQuery' | 'sealedFetches'>
export type ResultRow = typeof verificationResults.$inferSelect
export type VerificationWithResult = { verification: VerificationRow; result: ResultRow | null }

export type SessionKey = { id: string; tenantId: string }
/** A session and its environment. */
export type PlacedSession = SessionKey & { environment: VerificationRow['environment'] }
/** A session with the wrapping key that its own key depends on. */
export type KeyedSession = SessionKey & { wrappingKey: VerificationRow['wrappingKey'] }

/** A tenant sees the sessions of one environment, a device those that it created. */
export type Owner = { tenantId: string; environment: 'test' | 'live'; deviceId?: string }

/** The longest time from creation to end: lifetime, redemption, and a margin for the sweep. */
const LIFETIME_MAX_MS = TTL_SECONDS.maximum * 1000 + 1_200_000

const ownedBy = () => [
  eq(verificationSessions.tenantId, column('tenantId')),
  eq(verificationSessions.environment, column('environment')),
]

type SealedQuery = Pick<typeof verificationSessions.$inferSelect, 'sealedQuery'>
/** A session as one look-up gives it, or one of a list, whose query is read where it is needed. */
export type SessionRow = VerificationRow & Partial<SealedQuery>

const insert = hot(db =>
  db.insert(verificationSessions).values({
    id: column('id'),
    tenantId: column('tenantId'),
    environment: column('environment'),
    deviceId: column('deviceId'),
    keyId: column('keyId'),
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
    release: column('release'),
    pageOwnerHash: column('pageOwnerHash'),
    loginClientId: column('loginClientId'),
    isSameDevice: column('isSameDevice'),
    eraseAfter: column('eraseAfter'),
    wrappingKey: column('wrappingKey'),
    terms: column('terms'),
    beginnings: column('beginnings'),
    sealedQuery: column('sealedQuery'),
  }),
)

/** A new session with its own query, if any, and its search terms. */
export async function insertVerification(tx: Db, row: VerificationRow & SealedQuery): Promise<void> {
  await insert(tx, row)
  await insertTerms(tx, row)
}

const isItsResult = and(
  eq(verificationResults.verificationId, verificationSessions.id),
  eq(verificationResults.tenantId, verificationSessions.tenantId),
)

const withResult = (db: Db) =>
  db
    .select({ verification: sessionColumns, result: verificationResults })
    .from(verificationSessions)
    .leftJoin(verificationResults, isItsResult)

const byDevice = () => eq(verificationSessions.deviceId, column('deviceId'))

const wholeSession = rowWithout(verificationSessions, ['sealedQuery', 'sealedFetches'])
const wholeResult = wholeRow(verificationResults, 'result_')

const selectOneWhere = (...owned: SQL[]) =>
  hot<Record<string, unknown>>(db =>
    db
      .select({ ...wholeSession.columns, ...wholeResult.columns })
      .from(verificationSessions)
      .leftJoin(verificationResults, isItsResult)
      .where(and(eq(verificationSessions.id, column('id')), eq(verificationSessions.tenantId, column('tenantId')), ...owned)),
  )

const inEnvironment = eq(verificationSessions.environment, column('environment'))
const selectOne = selectOneWhere(inEnvironment)
const selectOneOfDevice = selectOneWhere(inEnvironment, byDevice())
const selectOneOfTenant = selectOneWhere()

const bothOf = (row: Record<string, unknown>): VerificationWithResult => ({
  verification: wholeSession.read(row),
  result: row.result_verificationId === null ? null : wholeResult.read(row),
})

export async function findVerification(
  db: Db,
  { tenantId, environment, deviceId }: Owner,
  id: string,
): Promise<VerificationWithResult | undefined> {
  const select = deviceId === undefined ? selectOne : selectOneOfDevice
  const [row] = await select(db, { tenantId, environment, deviceId, id })
  return row && bothOf(row)
}

/** A session of either environment. */
export async function findOfTenant(db: Db, tenantId: string, id: string): Promise<VerificationWithResult | undefined> {
  const [row] = await selectOneOfTenant(db, { tenantId, id })
  return row && bothOf(row)
}

/** A page of longer rows would hold the event loop while the database reads them: they are read one at a time. */
const LISTED_BYTES_MAX = 8 * 1024
const sealedBytes = sql`coalesce(length(${verificationSessions.sealed}), 0) + coalesce(length(${verificationResults.sealed}), 0)`
const isListed = sql`${sealedBytes} <= ${sql.raw(String(LISTED_BYTES_MAX))}`
/** Only pending sessions of this profile show their query, in a link. */
const queryBytes = sql`CASE WHEN ${verificationSessions.profile} = 'eu-av' AND ${verificationSessions.status} = 'pending' THEN coalesce(length(${sealedQuery}), 0) ELSE 0 END`
const listedColumns = {
  ...wholeSession.columns,
  ...wholeResult.columns,
  sealed: sql`CASE WHEN ${isListed} THEN ${verificationSessions.sealed} END`.as('sealed'),
  result_sealed: sql`CASE WHEN ${isListed} THEN ${verificationResults.sealed} END`.as('result_sealed'),
  isLong: sql`NOT (${isListed})`.as('isLong'),
  bytes: sql`${sealedBytes} + ${queryBytes}`.as('bytes'),
}

const selectPageWhere = (...owned: (SQL | undefined)[]) =>
  hot<Record<string, unknown>>(db =>
    db
      .select(listedColumns)
      .from(verificationSessions)
      .leftJoin(verificationResults, isItsResult)
      .where(and(...owned, lt(verificationSessions.createdAt, column('before'))))
      .orderBy(desc(verificationSessions.createdAt))
      .limit(column('limit')),
  )

const selectPage = selectPageWhere(...ownedBy())
/** No index fits: SQLite would prefer the tenant's, and read all sessions of the tenant. PostgreSQL estimates it like `=`. */
const unindexed = (name: 'tenantId' | 'environment') => sql`(${verificationSessions[name]} = ${column(name)}) IS TRUE`
const selectPageOfDevice = selectPageWhere(byDevice(), unindexed('tenantId'), unindexed('environment'))

/** A row of a list; `isLong` if what is sealed of it is still to be read. `bytes`: about as many as it has when it is shown. */
export type ListedVerification = VerificationWithResult & { isLong: boolean; bytes: number }

export async function listVerifications(
  db: Db,
  { tenantId, environment, deviceId }: Owner,
  page: { before: number; limit: number },
): Promise<ListedVerification[]> {
  const select = deviceId === undefined ? selectPage : selectPageOfDevice
  const rows = await select(db, { tenantId, environment, deviceId, ...page })
  return rows.map(row => ({
    ...bothOf(row),
    isLong: Boolean(row.isLong),
    bytes: Number(row.bytes),
  }))
}

type StatusRow = Pick<VerificationRow, 'status' | 'release'> & {
  tenant_id: string
  expires_at: number
  responded_at: number | null
}

const selectStatus = hot<StatusRow>(db =>
  db
    .select({
      tenantId: verificationSessions.tenantId,
      status: verificationSessions.status,
      expiresAt: verificationSessions.expiresAt,
      respondedAt: verificationSessions.respondedAt,
      release: verificationSessions.release,
    })
    .from(verificationSessions)
    .where(eq(verificationSessions.id, column('id'))),
)

/** Without a tenant: the id is the capability (interface 5.9). */
export async function findStatus(
  db: Db,
  id: string,
): Promise<Pick<VerificationRow, 'tenantId' | 'status' | 'expiresAt' | 'respondedAt' | 'release'> | undefined> {
  const [row] = await selectStatus(db, { id })
  return (
    row && {
      tenantId: row.tenant_id,
      status: row.status,
      expiresAt: row.expires_at,
      respondedAt: row.responded_at,
      release: row.release,
    }
  )
}

const sessionWithQuery = rowWithout(verificationSessions, ['sealedFetches'])

const selectSession = hot<Record<string, unknown>>(db =>
  db
    .select(sessionWithQuery.columns)
    .from(verificationSessions)
    .where(eq(verificationSessions.id, column('id'))),
)

/** Without a tenant: for wallets and the hosted page the id is the capability. They need its query, too. */
export async function findSession(db: Db, id: string): Promise<(VerificationRow & SealedQuery) | undefined> {
  const [found] = await selectSession(db, { id })
  return found && sessionWithQuery.read(found)
}

/** With what is sealed where that is still to be read; undefined when it was erased since. */
export async function findWhole(db: Db, listed: ListedVerification): Promise<VerificationWithResult | undefined> {
  const { id, tenantId } = listed.verification
  return listed.isLong ? await findOfTenant(db, tenantId, id) : listed
}

const selectQuery = hot<{ sealed_query: Uint8Array | null }>(db =>
  db
    .select({ sealedQuery })
    .from(verificationSessions)
    .where(and(eq(verificationSessions.id, column('id')), eq(verificationSessions.tenantId, column('tenantId')))),
)

/** A session's own query; undefined when the session is gone. */
export async function findSealedQuery(db: Db, { id, tenantId }: SessionKey): Promise<Uint8Array | null | undefined> {
  const [row] = await selectQuery(db, { id, tenantId })
  return row?.sealed_query
}

const selectLocked = hot<Record<string, unknown>>(db =>
  locked(
    db
      .select(wholeSession.columns)
      .from(verificationSessions)
      .where(and(eq(verificationSessions.id, column('id')), eq(verificationSessions.tenantId, column('tenantId')))),
    'update',
  ),
)

/**
 * A session of its owner as it is now, locked until the commit, before rows that belong to it are written or deleted: its
 * answers, cancellations and erasures wait.
 */
export async function lockSession(
  tx: Db,
  { tenantId, environment, deviceId }: Owner,
  id: string,
): Promise<VerificationRow | undefined> {
  const [found] = await selectLocked(tx, { id, tenantId })
  if (!found) return undefined
  const row = wholeSession.read(found)
  return row.environment === environment && (deviceId === undefined || row.deviceId === deviceId) ? row : undefined
}

export async function countPending(db: Db): Promise<number> {
  const [row] = await db.select({ pending: count() }).from(verificationSessions).where(eq(verificationSessions.status, 'pending'))
  return row?.pending ?? 0
}

/** All sessions, by id. */
export async function listKeys(db: Db, afterId: string, limit: number): Promise<PlacedSession[]> {
  const { id, tenantId, environment } = verificationSessions
  return await db.select({ id, tenantId, environment }).from(verificationSessions).where(gt(id, afterId)).orderBy(id).limit(limit)
}

/** A tenant's sessions that completed or failed at or after a time, in that order; without log-ins, of which nobody is sent word. */
export async function listEndedSince(
  db: Db,
  tenantId: string,
  since: number,
  limit: number,
): Promise<(VerificationWithResult & { result: ResultRow })[]> {
  const { createdAt: endedAt } = verificationResults
  const rows = await withResult(db)
    .where(
      and(
        eq(verificationSessions.tenantId, tenantId),
        inArray(verificationSessions.environment, ['test', 'live']),
        gte(verificationSessions.createdAt, since - LIFETIME_MAX_MS),
        inArray(verificationSessions.status, ['completed', 'failed']),
        isNull(verificationSessions.loginClientId),
        gte(endedAt, since),
      ),
    )
    .orderBy(endedAt, verificationSessions.id)
    .limit(limit)
  return rows.flatMap(({ verification, result }) => (result ? [{ verification, result }] : []))
}

type Deleted = Pick<VerificationRow, 'auditSeq' | 'createdAt' | 'idempotencyHash'> & {
  results: number
  /** The records of session, result, expiry and timeline on the audit chain. */
  auditSeqs: number[]
}

/**
 * Deletes a locked session with its result, portrait, timeline, search terms, log-in and key; its deliveries must be deleted before.
 * Undefined when it was gone.
 */
export async function deleteVerification(tx: Db, { id, tenantId }: SessionKey): Promise<Deleted | undefined> {
  const events = await tx
    .delete(verificationEvents)
    .where(and(eq(verificationEvents.verificationId, id), eq(verificationEvents.tenantId, tenantId)))
    .returning({ auditSeq: verificationEvents.auditSeq })
  const results = await tx
    .delete(verificationResults)
    .where(and(eq(verificationResults.verificationId, id), eq(verificationResults.tenantId, tenantId)))
    .returning({ auditSeq: verificationResults.auditSeq })
  await deletePortrait(tx, { id, tenantId })
  await tx.delete(oidcLogins).where(and(eq(oidcLogins.verificationId, id), eq(oidcLogins.tenantId, tenantId)))
  await tx.delete(sessionKeys).where(and(eq(sessionKeys.verificationId, id), eq(sessionKeys.tenantId, tenantId)))
  const { auditSeq, expirySeq, createdAt, idempotencyHash, terms } = verificationSessions
  const [session] = await tx
    .delete(verificationSessions)
    .where(and(eq(verificationSessions.id, id), eq(verificationSessions.tenantId, tenantId)))
    .returning({ auditSeq, expirySeq, createdAt, idempotencyHash, terms })
  if (!session) return undefined
  await deleteTerms(tx, { id, tenantId, ...session })
  return {
    ...session,
    results: results.length,
    auditSeqs: [...[session, ...results, ...events].map(each => each.auditSeq), session.expirySeq].flatMap(seq => seq ?? []),
  }
}

/** The entries of a session, its result, its expiry and its timeline on the audit chain. */
export async function listAuditEntries(db: Db, { id, tenantId }: SessionKey): Promise<number[]> {
  const entriesOf = (table: typeof verificationResults | typeof verificationEvents) =>
    db
      .select({ auditSeq: table.auditSeq })
      .from(table)
      .where(and(eq(table.verificationId, id), eq(table.tenantId, tenantId)))
  const { auditSeq, expirySeq } = verificationSessions
  const [session] = await db
    .select({ auditSeq, expirySeq })
    .from(verificationSessions)
    .where(and(eq(verificationSessions.id, id), eq(verificationSessions.tenantId, tenantId)))
  if (!session) return []
  const rows = [session, ...(await entriesOf(verificationResults)), ...(await entriesOf(verificationEvents))]
  return [...rows.map(row => row.auditSeq), session.expirySeq].flatMap(seq => seq ?? [])
}

/** Templates of the latest 500 live sessions. */
export async function listTemplatesInUse(db: Db, tenantId: string): Promise<string[]> {
  const { template, environment, createdAt } = verificationSessions
  const latest = db
    .select({ template })
    .from(verificationSessions)
    .where(and(eq(verificationSessions.tenantId, tenantId), eq(environment, 'live')))
    .orderBy(desc(createdAt))
    .limit(500)
    .as('latest')
  const rows = await db.selectDistinct({ template: latest.template }).from(latest)
  return rows.flatMap(row => row.template ?? [])
}

export async function countVerifications(db: Db): Promise<number> {
  return await db.$count(verificationSessions)
}
