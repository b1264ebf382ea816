// Verifications by template.
import { and, desc, eq } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { verificationSessions } from '../db/schema/verifications.ts'
import type { Owner } from '../tenants/settings.ts'

/** When the latest of the template's sessions that still exist was created. Reads one row of the index by template. */
export async function findLatestUse(db: Db, { tenantId, environment }: Owner, template: string): Promise<number | undefined> {
  const { createdAt } = verificationSessions
  const [row] = await db
    .select({ createdAt })
    .from(verificationSessions)
    .where(
      and(
        eq(verificationSessions.tenantId, tenantId),
        eq(verificationSessions.environment, environment),
        eq(verificationSessions.template, template),
      ),
    )
    .orderBy(desc(createdAt))
    .limit(1)
  return row?.createdAt
}
