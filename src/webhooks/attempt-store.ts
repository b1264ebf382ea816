import { and, asc, count, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { webhookAttempts, webhookDeliveries } from '../db/schema/webhooks.ts'
import { column, hot } from '../db/statements.ts'
import type { Outcome } from './schema.ts'

export type AttemptRow = typeof webhookAttempts.$inferSelect

const EMPTY = Buffer.alloc(0)

const insertAttempt = hot<{ id: number }>(db =>
  db
    .insert(webhookAttempts)
    .values({
      deliveryId: column('deliveryId'),
      tenantId: column('tenantId'),
      attempt: column('attempt'),
      at: column('at'),
      outcome: 'interrupted' satisfies Outcome,
      durationMs: sql`0`,
      salt: EMPTY,
      sealed: EMPTY,
    })
    .returning({ id: webhookAttempts.id }),
)

/** Logs an attempt before anything is sent. */
export async function beginAttempt(
  tx: Db,
  attempt: Pick<AttemptRow, 'deliveryId' | 'tenantId' | 'attempt' | 'at'>,
): Promise<number> {
  const [row] = await insertAttempt(tx, attempt)
  return row!.id
}

const updateAttempt = hot(db =>
  db
    .update(webhookAttempts)
    .set({
      outcome: sql`${column('outcome')}`,
      httpStatus: sql`${column('httpStatus')}`,
      durationMs: sql`${column('durationMs')}`,
      salt: sql`${column('salt')}`,
      sealed: sql`${column('sealed')}`,
    })
    .where(and(eq(webhookAttempts.id, column('id')), eq(webhookAttempts.tenantId, column('tenantId')))),
)

export async function endAttempt(
  tx: Db,
  end: Pick<AttemptRow, 'id' | 'tenantId' | 'httpStatus' | 'durationMs' | 'salt' | 'sealed'> & { outcome: Outcome },
): Promise<void> {
  await updateAttempt(tx, end)
}

export async function countInterruptions(tx: Db, deliveryId: string, attempt: number): Promise<number> {
  const [row] = await tx
    .select({ n: count() })
    .from(webhookAttempts)
    .where(
      and(
        eq(webhookAttempts.deliveryId, deliveryId),
        eq(webhookAttempts.attempt, attempt),
        eq(webhookAttempts.outcome, 'interrupted'),
      ),
    )
  return row?.n ?? 0
}

export async function listAttempts(db: Db, tenantId: string, deliveryIds: string[]): Promise<AttemptRow[]> {
  return await db
    .select()
    .from(webhookAttempts)
    .where(and(eq(webhookAttempts.tenantId, tenantId), inArray(webhookAttempts.deliveryId, deliveryIds)))
    .orderBy(asc(webhookAttempts.id))
}

/** Attempts of all deliveries of a verification. */
export async function listAttemptsOf(tx: Db, tenantId: string, verificationId: string): Promise<AttemptRow[]> {
  const rows = await tx
    .select({ attempt: webhookAttempts })
    .from(webhookAttempts)
    .innerJoin(webhookDeliveries, eq(webhookDeliveries.id, webhookAttempts.deliveryId))
    .where(and(eq(webhookDeliveries.verificationId, verificationId), eq(webhookAttempts.tenantId, tenantId)))
  return rows.map(({ attempt }) => attempt)
}

export async function updateSealed(
  tx: Db,
  { id, tenantId, sealed }: { id: number; tenantId: string; sealed: Buffer },
): Promise<void> {
  await tx
    .update(webhookAttempts)
    .set({ sealed })
    .where(and(eq(webhookAttempts.id, id), eq(webhookAttempts.tenantId, tenantId)))
}
