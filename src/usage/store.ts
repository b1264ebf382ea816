import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { usageDays } from '../db/schema.ts'
import { hot } from '../db/statements.ts'

export type UsageDay = { day: string; verificationsCreated: number }

const charge = hot<{ verifications_created: number }>(db =>
  db
    .insert(usageDays)
    .values({ tenantId: sql.placeholder('tenantId'), day: sql.placeholder('day'), verificationsCreated: 1 })
    .onConflictDoUpdate({
      target: [usageDays.tenantId, usageDays.day],
      set: { verificationsCreated: sql`${usageDays.verificationsCreated} + 1` },
      setWhere: sql`${usageDays.verificationsCreated} < ${sql.placeholder('quota')}`,
    })
    .returning({ verificationsCreated: usageDays.verificationsCreated }),
)

/** Counts one creation in a single statement; nothing comes back when the quota is spent. A quota of 0 must be refused before. */
export async function chargeDay(tx: Db, tenantId: string, day: string, quota: number): Promise<number | undefined> {
  const [row] = await charge(tx, { tenantId, day, quota })
  return row?.verifications_created
}

const add = hot(db =>
  db
    .update(usageDays)
    .set({ verificationsCreated: sql`${usageDays.verificationsCreated} + ${sql.placeholder('count')}` })
    .where(and(eq(usageDays.tenantId, sql.placeholder('tenantId')), eq(usageDays.day, sql.placeholder('day')))),
)

/** To a day that was charged before. */
export async function addToDay(tx: Db, tenantId: string, day: string, count: number): Promise<void> {
  await add(tx, { tenantId, day, count })
}

export async function listUsageDays(db: Db, tenantId: string, limit: number): Promise<UsageDay[]> {
  return await db
    .select({ day: usageDays.day, verificationsCreated: usageDays.verificationsCreated })
    .from(usageDays)
    .where(eq(usageDays.tenantId, tenantId))
    .orderBy(desc(usageDays.day))
    .limit(limit)
}
