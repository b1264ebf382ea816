import { eq, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { tenantLooks } from '../db/schema/tenants.ts'
import { prepared } from '../db/statements.ts'

type LookRow = typeof tenantLooks.$inferSelect
type Changes = Partial<Omit<LookRow, 'tenantId'>> & Pick<LookRow, 'updatedAt'>
export type LogoType = NonNullable<LookRow['logoType']>
export type Look = Omit<LookRow, 'tenantId' | 'logo'>
export type Logo = { bytes: Buffer; type: LogoType }

const LOOK = {
  accent: tenantLooks.accent,
  privacyUrl: tenantLooks.privacyUrl,
  withoutWallet: tenantLooks.withoutWallet,
  logoType: tenantLooks.logoType,
  updatedAt: tenantLooks.updatedAt,
}

const select = prepared(db =>
  db
    .select(LOOK)
    .from(tenantLooks)
    .where(eq(tenantLooks.tenantId, sql.placeholder('tenantId')))
    .prepare(),
)

/** Without the logo itself: every poll of a hosted page reads it. */
export async function findLook(db: Db, tenantId: string): Promise<Look | undefined> {
  return (await select(db).execute({ tenantId }))[0]
}

export async function findLogo(db: Db, tenantId: string): Promise<Logo | undefined> {
  const [row] = await db
    .select({ bytes: tenantLooks.logo, type: tenantLooks.logoType })
    .from(tenantLooks)
    .where(eq(tenantLooks.tenantId, tenantId))
  return row?.bytes && row.type ? { bytes: row.bytes, type: row.type } : undefined
}

export async function upsertLook(tx: Db, tenantId: string, changes: Changes): Promise<Look> {
  const [look] = await tx
    .insert(tenantLooks)
    .values({ tenantId, ...changes })
    .onConflictDoUpdate({ target: tenantLooks.tenantId, set: changes })
    .returning(LOOK)
  return look!
}
