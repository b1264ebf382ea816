import { and, desc, eq, isNull } from 'drizzle-orm'
import { type Db, prepared } from '#db'
import { signingKeys } from '#schema'

export type SigningKeyRow = typeof signingKeys.$inferSelect

const selectCurrentLeaf = prepared(db =>
  db
    .select({ id: signingKeys.id, clientId: signingKeys.clientId })
    .from(signingKeys)
    .where(and(eq(signingKeys.role, 'leaf'), isNull(signingKeys.retiredAt)))
    .orderBy(desc(signingKeys.createdAt))
    .limit(1)
    .prepare(),
)

export async function findCurrentLeaf(db: Db): Promise<Pick<SigningKeyRow, 'id' | 'clientId'> | undefined> {
  const [row] = await selectCurrentLeaf(db).execute()
  return row
}

export async function insertSigningKey(tx: Db, row: SigningKeyRow): Promise<void> {
  await tx.insert(signingKeys).values(row)
}
