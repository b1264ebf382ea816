import { and, desc, eq, gt, isNotNull } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { auditRecords, verificationSessions, webhookDeliveries } from '../db/schema.ts'

/** There is no index by action, which every record would have to keep: one looks this far back. */
const RECORDS_MAX = 5000
const SESSIONS_MAX = 500
const DELIVERIES_MAX = 5

export async function findNewestRecordAt(db: Db): Promise<number | undefined> {
  return (await newest(db))?.at
}

async function newest(db: Db): Promise<{ seq: number; at: number } | undefined> {
  const { seq, at } = auditRecords
  const [head] = await db.select({ seq, at }).from(auditRecords).orderBy(desc(seq)).limit(1)
  return head
}

export async function findLastStep(db: Db): Promise<number | undefined> {
  const { seq, at, action } = auditRecords
  const head = await newest(db)
  const [step] = await db
    .select({ at })
    .from(auditRecords)
    .where(and(gt(seq, (head?.seq ?? 0) - RECORDS_MAX), eq(action, 'clock.stepped')))
    .orderBy(desc(seq))
    .limit(1)
  return step?.at
}

/** Of the latest live sessions. */
export async function listTemplatesInUse(db: Db, tenantId: string): Promise<string[]> {
  const { template, environment, createdAt } = verificationSessions
  const latest = db
    .select({ template })
    .from(verificationSessions)
    .where(and(eq(verificationSessions.tenantId, tenantId), eq(environment, 'live')))
    .orderBy(desc(createdAt))
    .limit(SESSIONS_MAX)
    .as('latest')
  const rows = await db.selectDistinct({ template: latest.template }).from(latest).where(isNotNull(latest.template))
  return rows.flatMap(row => row.template ?? [])
}

export async function listLatestDeliveries(db: Db, tenantId: string): Promise<{ tenantId: string; verificationId: string }[]> {
  const { verificationId, createdAt } = webhookDeliveries
  return await db
    .select({ tenantId: webhookDeliveries.tenantId, verificationId })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.tenantId, tenantId))
    .orderBy(desc(createdAt))
    .limit(DELIVERIES_MAX)
}
