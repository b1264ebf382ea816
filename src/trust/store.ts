import { and, eq, getTableColumns, isNull, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { trustAnchors, trustBlocks, trustSources } from '../db/schema/trust.ts'
import { prepared } from '../db/statements.ts'

export type AnchorRow = typeof trustAnchors.$inferSelect

/** The list that names an anchor, as far as it decides whether the anchor counts. */
type NamedBy = Pick<typeof trustSources.$inferSelect, 'id' | 'label' | 'sequence' | 'issuedAt' | 'nextUpdate' | 'graceMs'>

/** Never one for the operator's own papers. */
export type ListedAnchor = Omit<AnchorRow, 'use'> & {
  use: Exclude<AnchorRow['use'], 'relying_party'>
  list: NamedBy | null
}

const selectAnchors = prepared(db => {
  const { id, label, sequence, issuedAt, nextUpdate, graceMs } = trustSources
  return db
    .select({ ...getTableColumns(trustAnchors), list: { id, label, sequence, issuedAt, nextUpdate, graceMs } })
    .from(trustAnchors)
    .leftJoin(trustSources, eq(trustSources.id, trustAnchors.sourceId))
    .where(
      and(
        eq(trustAnchors.environment, sql.placeholder('environment')),
        or(isNull(trustAnchors.use), ne(trustAnchors.use, 'relying_party')),
      ),
    )
    .orderBy(sql`${trustAnchors.sourceId} is not null`, trustAnchors.createdAt)
    .prepare()
})

/** Anchors of issuers, those of the operator first. Anchor and list are read together: a refresh replaces both. */
export async function listAnchors(db: Db, environment: AnchorRow['environment']): Promise<ListedAnchor[]> {
  return (await selectAnchors(db).execute({ environment })) as ListedAnchor[]
}

/** Fingerprints. */
export async function listBlocked(db: Db, environment: AnchorRow['environment']): Promise<string[]> {
  const { fingerprint } = trustBlocks
  const rows = await db.select({ fingerprint }).from(trustBlocks).where(eq(trustBlocks.environment, environment))
  return rows.map(row => row.fingerprint)
}

export async function listAllAnchors(db: Db): Promise<AnchorRow[]> {
  return await db.select().from(trustAnchors).orderBy(trustAnchors.environment, trustAnchors.createdAt)
}

export async function findAnchor(db: Db, id: string): Promise<AnchorRow | undefined> {
  const [row] = await db.select().from(trustAnchors).where(eq(trustAnchors.id, id))
  return row
}

export async function existsAnchor(db: Db, environment: AnchorRow['environment']): Promise<boolean> {
  const rows = await db
    .select({ id: trustAnchors.id })
    .from(trustAnchors)
    .where(eq(trustAnchors.environment, environment))
    .limit(1)
  return rows.length > 0
}

export async function insertAnchor(tx: Db, row: AnchorRow): Promise<void> {
  await tx.insert(trustAnchors).values(row)
}

export async function deleteAnchor(tx: Db, id: string): Promise<AnchorRow | undefined> {
  const [row] = await tx.delete(trustAnchors).where(eq(trustAnchors.id, id)).returning()
  return row
}
