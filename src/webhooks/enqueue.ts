import type { Db } from '#db'
import { deleteDeliveries } from './store.ts'

/** For erasure: nothing more is sent, and nothing of what was sent stays in the log. */
export async function forgetDeliveries(tx: Db, tenantId: string, verificationId: string): Promise<number> {
  return await deleteDeliveries(tx, tenantId, verificationId)
}
