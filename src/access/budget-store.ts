// Budgets that nodes share. Times of `full_at` are in 1024ths of a millisecond (http/rate-limit.ts).
import { count, eq, lte, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { rateBuckets } from '../db/postgres/schema.ts'
import { hot } from '../db/statements.ts'
import { PARTS_PER_MS, type Pace, TOTAL_KEPT_MS } from '../http/rate-limit.ts'

export type Bucket = Pick<typeof rateBuckets.$inferSelect, 'fullAt' | 'taken'>

const column = <Name extends string>(name: Name) => sql`${sql.placeholder(name)}::bigint`

const upsert = hot<{ full_at: number; taken: number }>(db => {
  const { name, fullAt, taken } = rateBuckets
  const from = sql`greatest(${fullAt}, ${column('at')})`
  return db
    .insert(rateBuckets)
    .values({
      name: sql.placeholder('name'),
      fullAt: sql`${column('at')} + ${column('interval')}`,
      taken: sql`1`,
      forgetAt: sql`${column('forgetAt')}`,
    })
    .onConflictDoUpdate({
      target: name,
      set: {
        fullAt: sql`${from} + ${column('interval')}`,
        taken: sql`${taken} + 1`,
        forgetAt: sql`greatest((${from} + ${column('interval')}) / ${PARTS_PER_MS} + 1, ${column('atMs')} + ${column('keptMs')} * (${taken} + 1))`,
      },
      setWhere: sql`${from} - ${column('at')} <= ${column('ahead')} AND ${taken} < ${column('total')}`,
    })
    .returning({ fullAt, taken })
})

type Taking = Pace & { name: string; at: number }

/** The bucket after one was taken; nothing when it is spent. */
export async function takeFromBucket(
  light: Db,
  { name, at: atMs, burst, interval, total: totalMax }: Taking,
): Promise<Bucket | undefined> {
  const at = atMs * PARTS_PER_MS
  const total = Math.min(totalMax, Number.MAX_SAFE_INTEGER)
  const keptMs = Math.ceil(TOTAL_KEPT_MS / total)
  const forgetAt = Math.max(Math.ceil((at + interval) / PARTS_PER_MS), atMs + keptMs)
  const ahead = (burst - 1) * interval
  const [row] = await upsert(light, { name, at, atMs, interval, keptMs, forgetAt, ahead, total })
  return row && { fullAt: row.full_at, taken: row.taken }
}

export async function findBucket(light: Db, name: string): Promise<Bucket | undefined> {
  const { fullAt, taken } = rateBuckets
  const [row] = await light.select({ fullAt, taken }).from(rateBuckets).where(eq(rateBuckets.name, name))
  return row
}

export async function giveBackToBucket(light: Db, name: string, interval: number): Promise<void> {
  const { fullAt, taken } = rateBuckets
  await light
    .update(rateBuckets)
    .set({ fullAt: sql`${fullAt} - ${interval}`, taken: sql`${taken} - 1` })
    .where(eq(rateBuckets.name, name))
}

export async function deleteForgottenBuckets(light: Db, now: number): Promise<void> {
  await light.delete(rateBuckets).where(lte(rateBuckets.forgetAt, now))
}

/** No further than `max`. */
export async function countBuckets(light: Db, max: number): Promise<number> {
  const some = light.select({ name: rateBuckets.name }).from(rateBuckets).limit(max).as('some')
  const [row] = await light.select({ n: count() }).from(some)
  return row?.n ?? 0
}
