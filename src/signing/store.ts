import { and, asc, desc, eq, inArray, isNull, lte, or } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { signingKeys } from '../db/schema/signing.ts'
import { prepared } from '../db/statements.ts'

export type SigningKeyRow = typeof signingKeys.$inferSelect

/** The shop whose keys they are; null for the installation. */
export type KeyOwner = string | null

export type Leaf = Pick<SigningKeyRow, 'id' | 'clientId' | 'tenantId' | 'startsAt' | 'createdAt'>

const isLeaf = and(eq(signingKeys.role, 'leaf'), isNull(signingKeys.retiredAt))

const isOf = (owner: KeyOwner) => (owner === null ? isNull(signingKeys.tenantId) : eq(signingKeys.tenantId, owner))

const selectLeaves = prepared(db =>
  db
    .select({
      id: signingKeys.id,
      clientId: signingKeys.clientId,
      tenantId: signingKeys.tenantId,
      startsAt: signingKeys.startsAt,
      createdAt: signingKeys.createdAt,
    })
    .from(signingKeys)
    .where(isLeaf)
    .prepare(),
)

/** Leaves of all owners that are not retired, those that start later included. */
export async function listLeaves(db: Db): Promise<Leaf[]> {
  return await selectLeaves(db).execute()
}

/** The same with keys and chains, of one owner. */
export async function listLeavesOf(db: Db, owner: KeyOwner): Promise<SigningKeyRow[]> {
  return await db
    .select()
    .from(signingKeys)
    .where(and(isLeaf, isOf(owner)))
}

const isReader = and(eq(signingKeys.role, 'reader'), isNull(signingKeys.retiredAt))

/** Certificates of all owners, the oldest first. */
export async function listReaders(db: Db): Promise<SigningKeyRow[]> {
  return await db.select().from(signingKeys).where(isReader).orderBy(asc(signingKeys.createdAt), asc(signingKeys.id))
}

export async function retireReaders(tx: Db, ids: string[], at: number): Promise<void> {
  await tx
    .update(signingKeys)
    .set({ retiredAt: at })
    .where(and(isReader, inArray(signingKeys.id, ids)))
}

export async function findSigningKey(db: Db, id: string): Promise<SigningKeyRow | undefined> {
  const [row] = await db.select().from(signingKeys).where(eq(signingKeys.id, id)).limit(1)
  return row
}

export async function findAuthority(db: Db): Promise<SigningKeyRow | undefined> {
  const [row] = await db.select().from(signingKeys).where(eq(signingKeys.role, 'authority')).limit(1)
  return row
}

/** Keys that a certificate can be imported for, the newest pending one first. */
export async function listCandidates(db: Db): Promise<SigningKeyRow[]> {
  return await db
    .select()
    .from(signingKeys)
    .where(or(eq(signingKeys.role, 'pending'), isLeaf))
    .orderBy(desc(signingKeys.role), desc(signingKeys.createdAt))
}

/** The newest first. */
export async function listPending(db: Db, owner: KeyOwner): Promise<SigningKeyRow[]> {
  return await db
    .select()
    .from(signingKeys)
    .where(and(eq(signingKeys.role, 'pending'), isOf(owner)))
    .orderBy(desc(signingKeys.createdAt), desc(signingKeys.id))
}

export async function deletePending(tx: Db, ids: string[]): Promise<void> {
  await tx.delete(signingKeys).where(and(eq(signingKeys.role, 'pending'), inArray(signingKeys.id, ids)))
}

/** Retires the certificates that have started; one that starts later stays. */
export async function retireStarted(tx: Db, owner: KeyOwner, at: number): Promise<void> {
  const hasStarted = or(isNull(signingKeys.startsAt), lte(signingKeys.startsAt, at))
  await tx
    .update(signingKeys)
    .set({ retiredAt: at })
    .where(and(isLeaf, isOf(owner), hasStarted))
}

export async function retireLeaves(tx: Db, ids: string[], at: number): Promise<void> {
  await tx
    .update(signingKeys)
    .set({ retiredAt: at })
    .where(and(isLeaf, inArray(signingKeys.id, ids)))
}

export async function insertSigningKey(tx: Db, row: SigningKeyRow): Promise<void> {
  await tx.insert(signingKeys).values(row)
}

export async function listSigningKeys(db: Db): Promise<SigningKeyRow[]> {
  return await db.select().from(signingKeys)
}

export async function listRetired(db: Db, retiredBy: number): Promise<SigningKeyRow[]> {
  return await db
    .select()
    .from(signingKeys)
    .where(and(inArray(signingKeys.role, ['leaf', 'reader']), lte(signingKeys.retiredAt, retiredBy)))
}

export async function updateSigningKey(tx: Db, id: string, sealed: Buffer): Promise<void> {
  await tx.update(signingKeys).set({ sealed }).where(eq(signingKeys.id, id))
}

/** The row stays: it has the certificate that wallets saw. */
export async function eraseKey(tx: Db, id: string): Promise<void> {
  await tx
    .update(signingKeys)
    .set({ sealed: Buffer.alloc(0), salt: Buffer.alloc(0) })
    .where(eq(signingKeys.id, id))
}
