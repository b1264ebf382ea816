// Sessions as lists show them, each list by the index of its filter.
import { and, desc, eq, getTableColumns, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { verificationSessions, verificationTerms } from '../db/schema.ts'
import type { Owner, VerificationRow } from './store.ts'

const { id, createdAt, expiresAt, respondedAt, status, template, deviceId, keyId } = getTableColumns(verificationSessions)
const OUTLINE = { id, createdAt, expiresAt, respondedAt, status, template, deviceId, keyId }

export type Outline = Pick<VerificationRow, keyof typeof OUTLINE>

/** The one filter of a read; the session's own columns as they are stored. */
export type By =
  | { name: 'all' }
  | { name: 'term'; value: Buffer }
  | { name: 'id' | 'device' | 'key' | 'template'; value: string }
  | { name: 'status'; value: VerificationRow['status'] }

export type Range = { from: number; before: number; limit: number }

/** Newest first, created at or after `from` and before `before`. */
export async function listOutlines(db: Db, owner: Owner, by: By, { from, before, limit }: Range): Promise<Outline[]> {
  if (by.name === 'term') return await listByTerm(db, owner, by.value, { from, before, limit })
  return await db
    .select(OUTLINE)
    .from(verificationSessions)
    .where(and(...conditionsOf(owner, by), gte(createdAt, from), lt(createdAt, before)))
    .orderBy(desc(createdAt))
    .limit(limit)
}

function conditionsOf({ tenantId, environment }: Owner, by: Exclude<By, { name: 'term' }>): SQL[] {
  const owned = [eq(verificationSessions.tenantId, tenantId), eq(verificationSessions.environment, environment)]
  // Without index: SQLite would prefer the tenant's, and read all sessions of the tenant.
  const unindexed = [
    sql`coalesce(${verificationSessions.tenantId}, '') = ${tenantId}`,
    sql`coalesce(${verificationSessions.environment}, '') = ${environment}`,
  ]
  switch (by.name) {
    case 'all':
      return owned
    case 'id':
      return [eq(id, by.value), ...owned]
    case 'device':
      return [eq(deviceId, by.value), ...unindexed]
    case 'key':
      return [eq(keyId, by.value), ...unindexed]
    case 'template':
      return [...owned, eq(template, by.value)]
    case 'status':
      return [...owned, eq(status, by.value)]
  }
}

async function listByTerm(
  db: Db,
  { tenantId, environment }: Owner,
  term: Buffer,
  { from, before, limit }: Range,
): Promise<Outline[]> {
  const found = verificationTerms
  return await db
    .select(OUTLINE)
    .from(found)
    .innerJoin(verificationSessions, and(eq(id, found.verificationId), eq(verificationSessions.tenantId, found.tenantId)))
    .where(
      and(
        eq(found.term, term),
        eq(found.tenantId, tenantId),
        eq(verificationSessions.environment, environment),
        gte(found.createdAt, from),
        lt(found.createdAt, before),
      ),
    )
    .orderBy(desc(found.createdAt))
    .limit(limit)
}
