import { and, desc, eq, isNull } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { signingKeys } from '../db/schema.ts'
import { prepared } from '../db/statements.ts'

export type SigningKeyRow = typeof signingKeys.$inferSelect

const isCurrentLeaf = and(eq(signingKeys.role, 'leaf'), isNull(signingKeys.retiredAt))

const selectCurrentLeaf = prepared(db =>
  db
    .select({ id: signingKeys.id, clientId: signingKeys.clientId })
    .from(signingKeys)
    .where(isCurrentLeaf)
    .orderBy(desc(signingKeys.createdAt))
    .limit(1)
    .prepare(),
)

export async function findCurrentLeaf(db: Db): Promise<Pick<SigningKeyRow, 'id' | 'clientId'> | undefined> {
  const [row] = await selectCurrentLeaf(db).execute()
  return row
}

export async function findSigningKey(db: Db, id: string): Promise<SigningKeyRow | undefined> {
  const [row] = await db.select().from(signingKeys).where(eq(signingKeys.id, id)).limit(1)
  return row
}

export async function findCurrentSigningKey(db: Db): Promise<SigningKeyRow | undefined> {
  const [row] = await db.select().from(signingKeys).where(isCurrentLeaf).orderBy(desc(signingKeys.createdAt)).limit(1)
  return row
}

export async function findAuthority(db: Db): Promise<SigningKeyRow | undefined> {
  const [row] = await db.select().from(signingKeys).where(eq(signingKeys.role, 'authority')).limit(1)
  return row
}

export async function retireLeaves(tx: Db, at: number): Promise<void> {
  await tx.update(signingKeys).set({ retiredAt: at }).where(isCurrentLeaf)
}

export async function insertSigningKey(tx: Db, row: SigningKeyRow): Promise<void> {
  await tx.insert(signingKeys).values(row)
}

export async function listSigningKeys(db: Db): Promise<SigningKeyRow[]> {
  return await db.select().from(signingKeys)
}

export async function updateSigningKey(tx: Db, id: string, sealed: Buffer): Promise<void> {
  await tx.update(signingKeys).set({ sealed }).where(eq(signingKeys.id, id))
}
