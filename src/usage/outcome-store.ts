import { and, eq, gte, sql, sum } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { answerTimeDays, outcomeDays, sourceDays } from '../db/schema/usage.ts'
import { column, hot } from '../db/statements.ts'

export type OutcomeCount = typeof outcomeDays.$inferSelect
export type AnswerTimeCount = typeof answerTimeDays.$inferSelect
export type SourceCount = typeof sourceDays.$inferSelect
export type Owner = { tenantId: string; environment: OutcomeCount['environment'] }
type Since = Owner & { day: string }

const addOutcome = hot(db =>
  db
    .insert(outcomeDays)
    .values({
      tenantId: column('tenantId'),
      environment: column('environment'),
      day: column('day'),
      outcome: column('outcome'),
      count: column('count'),
    })
    .onConflictDoUpdate({
      target: [outcomeDays.tenantId, outcomeDays.environment, outcomeDays.day, outcomeDays.outcome],
      set: { count: sql`${outcomeDays.count} + excluded.count` },
    }),
)

export async function addToOutcome(tx: Db, count: OutcomeCount): Promise<void> {
  await addOutcome(tx, count)
}

const addAnswerTime = hot(db =>
  db
    .insert(answerTimeDays)
    .values({
      tenantId: column('tenantId'),
      environment: column('environment'),
      day: column('day'),
      atLeastMs: column('atLeastMs'),
      count: column('count'),
    })
    .onConflictDoUpdate({
      target: [answerTimeDays.tenantId, answerTimeDays.environment, answerTimeDays.day, answerTimeDays.atLeastMs],
      set: { count: sql`${answerTimeDays.count} + excluded.count` },
    }),
)

export async function addToAnswerTime(tx: Db, count: AnswerTimeCount): Promise<void> {
  await addAnswerTime(tx, count)
}

const addSource = hot(db =>
  db
    .insert(sourceDays)
    .values({
      tenantId: column('tenantId'),
      environment: column('environment'),
      day: column('day'),
      template: column('template'),
      deviceId: column('deviceId'),
      kind: column('kind'),
      count: column('count'),
    })
    .onConflictDoUpdate({
      target: [
        sourceDays.tenantId,
        sourceDays.environment,
        sourceDays.day,
        sourceDays.template,
        sourceDays.deviceId,
        sourceDays.kind,
      ],
      set: { count: sql`${sourceDays.count} + excluded.count` },
    }),
)

export async function addToSource(tx: Db, count: SourceCount): Promise<void> {
  await addSource(tx, count)
}

/** Ends from a day on, by template or by till. */
export async function listSources(
  db: Db,
  { tenantId, environment, day }: Since,
  by: 'template' | 'deviceId',
): Promise<(Pick<SourceCount, 'kind' | 'count'> & { name: string })[]> {
  const [name, kind] = [sourceDays[by], sourceDays.kind]
  return await db
    .select({ name, kind, count: sum(sourceDays.count).mapWith(Number) })
    .from(sourceDays)
    .where(and(eq(sourceDays.tenantId, tenantId), eq(sourceDays.environment, environment), gte(sourceDays.day, day)))
    .groupBy(name, kind)
}

/** Outcomes from a day on. */
export async function listOutcomes(
  db: Db,
  { tenantId, environment, day }: Since,
): Promise<Pick<OutcomeCount, 'day' | 'outcome' | 'count'>[]> {
  return await db
    .select({ day: outcomeDays.day, outcome: outcomeDays.outcome, count: outcomeDays.count })
    .from(outcomeDays)
    .where(and(eq(outcomeDays.tenantId, tenantId), eq(outcomeDays.environment, environment), gte(outcomeDays.day, day)))
}

/** Steps from a day on, the shortest first. */
export async function listAnswerTimes(
  db: Db,
  { tenantId, environment, day }: Since,
): Promise<Pick<AnswerTimeCount, 'atLeastMs' | 'count'>[]> {
  return await db
    .select({ atLeastMs: answerTimeDays.atLeastMs, count: sum(answerTimeDays.count).mapWith(Number) })
    .from(answerTimeDays)
    .where(and(eq(answerTimeDays.tenantId, tenantId), eq(answerTimeDays.environment, environment), gte(answerTimeDays.day, day)))
    .groupBy(answerTimeDays.atLeastMs)
    .orderBy(answerTimeDays.atLeastMs)
}

/** Whether an outcome was ever counted. */
export async function hasOutcome(
  db: Db,
  { tenantId, environment, outcome }: Omit<OutcomeCount, 'day' | 'count'>,
): Promise<boolean> {
  const rows = await db
    .select({ day: outcomeDays.day })
    .from(outcomeDays)
    .where(and(eq(outcomeDays.tenantId, tenantId), eq(outcomeDays.environment, environment), eq(outcomeDays.outcome, outcome)))
    .limit(1)
  return rows.length > 0
}
