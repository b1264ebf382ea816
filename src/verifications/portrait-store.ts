import { and, eq, gt, lte } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { refuseForeign } from '../db/foreign-row.ts'
import { portraits } from '../db/postgres/schema.ts'

type PortraitRow = typeof portraits.$inferSelect

export async function insertPortrait(tx: Db, row: PortraitRow): Promise<void> {
  await tx.insert(portraits).values(row)
}

export async function findPortrait(
  db: Db,
  { id, tenantId }: { id: string; tenantId: string },
  now: number,
): Promise<PortraitRow | undefined> {
  const { verificationId, tenantId: tenant, keptUntil } = portraits
  const own = and(eq(verificationId, id), eq(tenant, tenantId), gt(keptUntil, now))
  const [row] = await db.select().from(portraits).where(own)
  if (row) refuseForeign(db, row, { verificationId: id, tenantId })
  return row
}

export async function deletePortrait(tx: Db, id: string): Promise<void> {
  await tx.delete(portraits).where(eq(portraits.verificationId, id))
}

export async function deletePortraitsUntil(light: Db, now: number): Promise<void> {
  await light.delete(portraits).where(lte(portraits.keptUntil, now))
}
