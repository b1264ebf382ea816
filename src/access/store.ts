import { and, desc, eq, gt, isNull, lt, lte, notInArray, or, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { apiKeys } from '../db/schema/access.ts'
import { knownNetworks, pairingGuesses } from '../db/schema/guesses.ts'
import { tenants } from '../db/schema/tenants.ts'
import { hot, locked } from '../db/statements.ts'
import type { Plan } from '../tenants/settings.ts'

export type ApiKeyRow = typeof apiKeys.$inferSelect

/** A key with its tenant's plan and app schemes: all that a request needs. */
export type KeyCredentials = {
  id: string
  tenant_id: string
  environment: ApiKeyRow['environment']
  hash: string
  prefix: string
  /** JSON. */
  scopes: string
  expires_at: number | null
  revoked_at: number | null
  plan: Plan
  daily_quota: number | null
  /** JSON. */
  app_schemes: string | null
}

const selectByHash = hot<KeyCredentials>(db =>
  db
    .select({
      id: apiKeys.id,
      tenantId: apiKeys.tenantId,
      environment: apiKeys.environment,
      hash: apiKeys.hash,
      prefix: apiKeys.prefix,
      scopes: apiKeys.scopes,
      expiresAt: apiKeys.expiresAt,
      revokedAt: apiKeys.revokedAt,
      plan: tenants.plan,
      dailyQuota: tenants.dailyQuota,
      appSchemes: tenants.appSchemes,
    })
    .from(apiKeys)
    .innerJoin(tenants, eq(tenants.id, apiKeys.tenantId))
    .where(eq(apiKeys.hash, sql.placeholder('hash'))),
)

export async function findKeyByHash(db: Db, hash: string): Promise<KeyCredentials | undefined> {
  const [row] = await selectByHash(db, { hash })
  return row
}

export async function findKey(db: Db, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.id, id)).limit(1)
  return row
}

export async function lockKey(tx: Db, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await locked(tx.select().from(apiKeys).where(eq(apiKeys.id, id)), 'no key update')
  return row
}

export async function listKeys(db: Db, tenantId: string): Promise<ApiKeyRow[]> {
  return await db.select().from(apiKeys).where(eq(apiKeys.tenantId, tenantId)).orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
}

export async function insertKey(tx: Db, row: ApiKeyRow): Promise<void> {
  await tx.insert(apiKeys).values(row)
}

/** Undefined when it is unknown or was revoked before. */
export async function markKeyRevoked(tx: Db, id: string, at: number): Promise<ApiKeyRow | undefined> {
  const [row] = await tx
    .update(apiKeys)
    .set({ revokedAt: at })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
    .returning()
  return row
}

export async function markKeyRolled(tx: Db, id: string, rolled: { expiresAt: number; successorId: string }): Promise<void> {
  await tx.update(apiKeys).set(rolled).where(eq(apiKeys.id, id))
}

/** Nothing changes when it was used in that hour, or later. */
export async function markKeyUsed(tx: Db, id: string, at: number): Promise<void> {
  await tx
    .update(apiKeys)
    .set({ lastUsedAt: at })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, at))))
}

export type GuessesRow = typeof pairingGuesses.$inferSelect

/** As many as a page shows. */
const LOCKS_MAX = 50

export async function findGuesses(db: Db, network: string): Promise<GuessesRow | undefined> {
  const [row] = await db.select().from(pairingGuesses).where(eq(pairingGuesses.network, network)).limit(1)
  return row
}

/** Creates or locks the row in one statement, so that no wrong guess goes uncounted. */
export async function lockGuesses(tx: Db, empty: GuessesRow): Promise<GuessesRow> {
  const { network } = empty
  const [row] = await tx
    .insert(pairingGuesses)
    .values(empty)
    .onConflictDoUpdate({ target: pairingGuesses.network, set: { network } })
    .returning()
  return row!
}

export async function updateGuesses(tx: Db, { network, ...guesses }: GuessesRow): Promise<void> {
  await tx.update(pairingGuesses).set(guesses).where(eq(pairingGuesses.network, network))
}

export async function deleteGuessesBefore(tx: Db, now: number): Promise<void> {
  await tx.delete(pairingGuesses).where(lte(pairingGuesses.forgetAt, now))
}

/** Locked out after `now` and not seen since `seenAfter`, which would void the lock; the latest first. */
export async function listLocked(db: Db, { now, seenAfter }: { now: number; seenAfter: number }): Promise<GuessesRow[]> {
  const { lockedUntil, network } = pairingGuesses
  const known = db.select({ network: knownNetworks.network }).from(knownNetworks).where(gt(knownNetworks.seenAt, seenAfter))
  return await db
    .select()
    .from(pairingGuesses)
    .where(and(gt(lockedUntil, now), notInArray(network, known)))
    .orderBy(desc(lockedUntil), network)
    .limit(LOCKS_MAX)
}

/** Forgets the wrong codes of a network that is locked out; false when it is not. */
export async function deleteLock(tx: Db, network: string, now: number): Promise<boolean> {
  const gone = await tx
    .delete(pairingGuesses)
    .where(and(eq(pairingGuesses.network, network), gt(pairingGuesses.lockedUntil, now)))
    .returning({ network: pairingGuesses.network })
  return gone.length > 0
}

export async function findNetwork(db: Db, network: string): Promise<number | undefined> {
  const [row] = await db.select().from(knownNetworks).where(eq(knownNetworks.network, network)).limit(1)
  return row?.seenAt
}

/** Writes only when the network was last seen at `seenBy` or before. */
export async function keepNetwork(tx: Db, network: string, { at, seenBy }: { at: number; seenBy: number }): Promise<void> {
  await tx
    .insert(knownNetworks)
    .values({ network, seenAt: at })
    .onConflictDoUpdate({ target: knownNetworks.network, set: { seenAt: at }, setWhere: lte(knownNetworks.seenAt, seenBy) })
}

export async function deleteNetworksSeenBy(tx: Db, seenBy: number): Promise<void> {
  await tx.delete(knownNetworks).where(lte(knownNetworks.seenAt, seenBy))
}
