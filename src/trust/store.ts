import { eq, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { trustAnchors } from '../db/schema.ts'
import { prepared } from '../db/statements.ts'

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

export async function listAllAnchors(db: Db): Promise<AnchorRow[]> {
  return await db.select().from(trustAnchors).orderBy(trustAnchors.environment, trustAnchors.createdAt)
}

export async function insertAnchor(tx: Db, row: AnchorRow): Promise<void> {
  await tx.insert(trustAnchors).values(row)
}

export async function deleteAnchor(tx: Db, id: string): Promise<AnchorRow | undefined> {
  const [row] = await tx.delete(trustAnchors).where(eq(trustAnchors.id, id)).returning()
  return row
}
