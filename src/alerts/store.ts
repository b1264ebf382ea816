import { and, eq, inArray, isNotNull, isNull, lt, lte, notInArray } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { alerts } from '../db/schema/alerts.ts'
import { installation } from '../db/schema/installation.ts'

export type AlertRow = typeof alerts.$inferSelect
type Finding = AlertRow['finding']

export async function listRaised(db: Db): Promise<AlertRow[]> {
  return await db.select().from(alerts).where(isNotNull(alerts.raisedAt))
}

export async function listDue(db: Db, now: number): Promise<AlertRow[]> {
  return await db.select().from(alerts).where(lte(alerts.dueAt, now))
}

/** False when it is raised already. */
export async function raise(tx: Db, row: Pick<AlertRow, 'cause' | 'checkName' | 'finding'>, raisedAt: number): Promise<boolean> {
  const raised = await tx
    .insert(alerts)
    .values({ ...row, raisedAt, mailDay: '', unsent: [], dueAt: null, attempts: 0 })
    .onConflictDoUpdate({ target: alerts.cause, set: { finding: row.finding, raisedAt }, setWhere: isNull(alerts.raisedAt) })
    .returning({ cause: alerts.cause })
  return raised.length > 0
}

/** Ends what these checks found before and do not find any more. */
export async function clearOthers(tx: Db, checks: readonly string[], causes: readonly string[]): Promise<AlertRow[]> {
  return await tx
    .update(alerts)
    .set({ raisedAt: null })
    .where(and(isNotNull(alerts.raisedAt), inArray(alerts.checkName, [...checks]), notInArray(alerts.cause, [...causes])))
    .returning()
}

/** Once a day: one statement, so that of two processes only one owes the mail. Replaces what was not sent the day before. */
export async function oweMail(
  tx: Db,
  { cause, finding }: { cause: string; finding: Finding },
  { unsent, day, at }: { unsent: string[]; day: string; at: number },
): Promise<void> {
  await tx
    .update(alerts)
    .set({ finding, unsent, mailDay: day, dueAt: at, attempts: 0 })
    .where(and(eq(alerts.cause, cause), lt(alerts.mailDay, day)))
}

/** Undefined when another process has taken it. */
export async function claimDue(tx: Db, { cause, dueAt, attempts }: AlertRow, until: number): Promise<AlertRow | undefined> {
  const [row] = await tx
    .update(alerts)
    .set({ dueAt: until, attempts: attempts + 1 })
    .where(and(eq(alerts.cause, cause), eq(alerts.dueAt, dueAt ?? 0)))
    .returning()
  return row
}

export async function keepUnsent(tx: Db, cause: string, unsent: string[], dueAt: number | null): Promise<void> {
  await tx.update(alerts).set({ unsent, dueAt }).where(eq(alerts.cause, cause))
}

/** What is over, owes nothing, and was mailed on an earlier day. */
export async function deleteOver(tx: Db, day: string): Promise<void> {
  await tx.delete(alerts).where(and(isNull(alerts.raisedAt), isNull(alerts.dueAt), lt(alerts.mailDay, day)))
}

const LAST_MAIL = 'last_mail'

export async function findLastMail(db: Db): Promise<string | undefined> {
  const [row] = await db.select().from(installation).where(eq(installation.name, LAST_MAIL))
  return row && Buffer.from(row.value).toString()
}

export async function keepLastMail(tx: Db, text: string): Promise<void> {
  const value = Buffer.from(text)
  await tx
    .insert(installation)
    .values({ name: LAST_MAIL, value })
    .onConflictDoUpdate({ target: installation.name, set: { value } })
}
