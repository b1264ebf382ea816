import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { tenantOrigins } from '../db/schema/tenants.ts'
import { prepared } from '../db/statements.ts'
import type { Owner } from './store.ts'

export type OriginRow = typeof tenantOrigins.$inferSelect

const isOf = ({ tenantId, environment }: Owner) =>
  and(eq(tenantOrigins.tenantId, tenantId), eq(tenantOrigins.environment, environment))

export async function listOrigins(db: Db, owner: Owner): Promise<OriginRow[]> {
  return await db.select().from(tenantOrigins).where(isOf(owner)).orderBy(asc(tenantOrigins.origin))
}

const select = prepared(db =>
  db
    .select({ origin: tenantOrigins.origin })
    .from(tenantOrigins)
    .where(
      and(
        eq(tenantOrigins.tenantId, sql.placeholder('tenantId')),
        eq(tenantOrigins.environment, sql.placeholder('environment')),
        eq(tenantOrigins.origin, sql.placeholder('origin')),
      ),
    )
    .prepare(),
)

export async function hasOrigin(db: Db, { tenantId, environment }: Owner, origin: string): Promise<boolean> {
  return (await select(db).execute({ tenantId, environment, origin })).length > 0
}

export async function insertOrigin(tx: Db, row: OriginRow): Promise<void> {
  await tx.insert(tenantOrigins).values(row)
}

export async function deleteOrigin(tx: Db, owner: Owner, origin: string): Promise<boolean> {
  const rows = await tx
    .delete(tenantOrigins)
    .where(and(isOf(owner), eq(tenantOrigins.origin, origin)))
    .returning({ origin: tenantOrigins.origin })
  return rows.length > 0
}
