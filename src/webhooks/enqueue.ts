import type { Db } from '#db'
import type { Deps } from '../deps.ts'
import { base62 } from '../ids.ts'
import { deleteDeliveries, insertDelivery } from './store.ts'

export type Owed = {
  tenantId: string
  verificationId: string
  type: 'verification.completed' | 'verification.failed'
  at: number
}

/** Inside the transaction of the result: there is no result without the message that is owed for it. */
export async function enqueueDelivery({ random }: Pick<Deps, 'random'>, tx: Db, { at, ...owed }: Owed): Promise<void> {
  await insertDelivery(tx, {
    ...owed,
    id: `whd_${base62(random, 22)}`,
    status: 'pending',
    attempts: 0,
    dueAt: at,
    leaseUntil: null,
    createdAt: at,
  })
}

/** For erasure: nothing more is sent, and nothing of what was sent stays in the log. */
export async function forgetDeliveries(tx: Db, tenantId: string, verificationId: string): Promise<number> {
  return await deleteDeliveries(tx, tenantId, verificationId)
}
