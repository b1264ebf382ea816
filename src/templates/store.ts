import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { templates, templateVersions } from '../db/schema/templates.ts'
import { locked, prepared } from '../db/statements.ts'

export type TemplateRow = typeof templates.$inferSelect

const selectTemplate = prepared(db =>
  db
    .select()
    .from(templates)
    .where(and(eq(templates.tenantId, sql.placeholder('tenantId')), eq(templates.key, sql.placeholder('key'))))
    .prepare(),
)

export async function findTemplate(db: Db, tenantId: string, key: string): Promise<TemplateRow | undefined> {
  const [row] = await selectTemplate(db).execute({ tenantId, key })
  return row
}

/** Its first live verification waits until the transaction is over, or is seen by it. */
export async function lockTemplate(tx: Db, tenantId: string, key: string): Promise<TemplateRow | undefined> {
  const found = tx
    .select()
    .from(templates)
    .where(and(eq(templates.tenantId, tenantId), eq(templates.key, key)))
  const [row] = await locked(found, 'update')
  return row
}

export async function listTemplates(db: Db, tenantId: string): Promise<TemplateRow[]> {
  return await db.select().from(templates).where(eq(templates.tenantId, tenantId)).orderBy(asc(templates.key))
}

/** Keeps `created_at` and `live_since` when the template exists already. */
export async function upsertTemplate(tx: Db, row: TemplateRow): Promise<void> {
  const { title, query, profile, rules, purpose, translations, updatedAt } = row
  await tx
    .insert(templates)
    .values(row)
    .onConflictDoUpdate({
      target: [templates.tenantId, templates.key],
      set: { title, query, profile, rules, purpose, translations, updatedAt },
    })
}

/** Called in the transaction of the template's first live verification. */
export async function markLive(tx: Db, { tenantId, key }: { tenantId: string; key: string }, at: number): Promise<void> {
  await tx
    .update(templates)
    .set({ liveSince: at })
    .where(and(eq(templates.tenantId, tenantId), eq(templates.key, key), isNull(templates.liveSince)))
}

export async function deleteTemplate(tx: Db, tenantId: string, key: string): Promise<boolean> {
  const gone = await tx
    .delete(templates)
    .where(and(eq(templates.tenantId, tenantId), eq(templates.key, key)))
    .returning({ key: templates.key })
  return gone.length > 0
}

type VersionRow = typeof templateVersions.$inferSelect

export async function keepVersion(tx: Db, row: VersionRow): Promise<void> {
  await tx.insert(templateVersions).values(row).onConflictDoNothing({ target: templateVersions.hash })
}

const selectVersion = prepared(db =>
  db
    .select()
    .from(templateVersions)
    .where(eq(templateVersions.hash, sql.placeholder('hash')))
    .prepare(),
)

export async function findVersion(db: Db, hash: string): Promise<VersionRow | undefined> {
  const [row] = await selectVersion(db).execute({ hash })
  return row
}
