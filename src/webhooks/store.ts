import { and, eq, inArray } from 'drizzle-orm'
import type { Db } from '#db'
import { webhookAttempts, webhookDeliveries } from '#schema'

export type DeliveryRow = typeof webhookDeliveries.$inferSelect

export async function insertDelivery(tx: Db, row: DeliveryRow): Promise<void> {
  await tx.insert(webhookDeliveries).values(row)
}

/** Deletes the deliveries of a verification with their attempts; counts the deliveries. */
export async function deleteDeliveries(tx: Db, tenantId: string, verificationId: string): Promise<number> {
  const own = and(eq(webhookDeliveries.tenantId, tenantId), eq(webhookDeliveries.verificationId, verificationId))
  await tx
    .delete(webhookAttempts)
    .where(inArray(webhookAttempts.deliveryId, tx.select({ id: webhookDeliveries.id }).from(webhookDeliveries).where(own)))
  const gone = await tx.delete(webhookDeliveries).where(own).returning({ id: webhookDeliveries.id })
  return gone.length
}
