import { and, desc, eq, gt, lte, notInArray } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { knownNetworks, pairingGuesses } from '../db/schema/guesses.ts'

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
