import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { type Db, prepared } from '#db'
import { signingKeys, trustAnchors } from '#schema'

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

export async function findSigningKey(db: Db, id: string): Promise<SigningKeyRow | undefined> {
  const [row] = await db.select().from(signingKeys).where(eq(signingKeys.id, id)).limit(1)
  return row
}

export type AnchorRow = typeof trustAnchors.$inferSelect

const selectAnchors = prepared(db =>
  db
    .select()
    .from(trustAnchors)
    .where(eq(trustAnchors.environment, sql.placeholder('environment')))
    .orderBy(trustAnchors.createdAt)
    .prepare(),
)

export async function listAnchors(db: Db, environment: AnchorRow['environment']): Promise<AnchorRow[]> {
  return await selectAnchors(db).execute({ environment })
}

export async function insertSigningKey(tx: Db, row: SigningKeyRow): Promise<void> {
  await tx.insert(signingKeys).values(row)
}
