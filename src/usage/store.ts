import { and, desc, eq, lt, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { usageDays } from '../db/schema/usage.ts'
import { column, hot, locked } from '../db/statements.ts'

type UsageDay = { day: string; verificationsCreated: number }

/** A tenant's creations of one day, and the time of the newest. */
export type DayCount = { day: string; created: number; newestAt: number }

const { tenantId: ofTenant, day: ofDay, verificationsCreated, newestAt } = usageDays

/** A later day with a creation: a clock put back over midnight opens no second quota. */
const isLater = sql`${ofTenant} = ${column('tenantId')} and ${ofDay} > ${column('day')}`
const laterDay = sql`select max(${ofDay}) from ${usageDays} where ${isLater}`

const charge = hot<{ day: string; verifications_created: number; newest_at: number }>(db =>
  db
    .insert(usageDays)
    .values({
      tenantId: column('tenantId'),
      day: sql`coalesce((${laterDay}), ${column('day')})`,
      verificationsCreated: 1,
      newestAt: column('at'),
    })
    .onConflictDoUpdate({
      target: [ofTenant, ofDay],
      set: {
        verificationsCreated: sql`${verificationsCreated} + 1`,
        newestAt: sql`case when ${newestAt} < excluded.newest_at then excluded.newest_at else ${newestAt} + 1 end`,
      },
      setWhere: and(lt(verificationsCreated, column('quota')), lt(newestAt, column('lastMs'))),
    })
    .returning({ day: ofDay, verificationsCreated, newestAt }),
)

type ToCharge = { day: string; at: number; lastMs: number; quota: number }

/**
 * Counts one creation and gives its time in a single statement; nothing comes back when the quota is spent, or when no
 * millisecond of the day up to `lastMs` is left. A quota of 0 must be refused before.
 */
export async function chargeDay(tx: Db, tenantId: string, { day, at, lastMs, quota }: ToCharge): Promise<DayCount | undefined> {
  const [row] = await charge(tx, { tenantId, day, at, lastMs, quota })
  return row && { day: row.day, created: row.verifications_created, newestAt: row.newest_at }
}

/** The time of the tenant's newest creation; 0 without any. */
export async function findNewestCreation(tx: Db, tenantId: string): Promise<number> {
  const newest = tx.select({ at: newestAt }).from(usageDays).where(eq(ofTenant, tenantId)).orderBy(desc(ofDay)).limit(1)
  return (await locked(newest, 'update'))[0]?.at ?? 0
}

const add = hot(db =>
  db
    .update(usageDays)
    .set({ verificationsCreated: sql`${verificationsCreated} + ${column('count')}`, newestAt: sql`${column('newestAt')}` })
    .where(and(eq(ofTenant, column('tenantId')), eq(ofDay, column('day')))),
)

/** Adds to a day that was charged before in the same transaction. */
export async function addToDay(tx: Db, tenantId: string, { day, newestAt }: DayCount, count: number): Promise<void> {
  await add(tx, { tenantId, day, newestAt, count })
}

export async function listUsageDays(db: Db, tenantId: string, limit: number): Promise<UsageDay[]> {
  return await db
    .select({ day: usageDays.day, verificationsCreated: usageDays.verificationsCreated })
    .from(usageDays)
    .where(eq(usageDays.tenantId, tenantId))
    .orderBy(desc(usageDays.day))
    .limit(limit)
}
