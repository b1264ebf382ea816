import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Unsealing } from '../ground.ts'
import { listAttemptsOf, updateSealed } from './attempt-store.ts'

type Session = { id: string; tenantId: string; sessionKey: Uint8Array }

/** Seals the answers that receivers gave to the messages of a verification. */
export async function sealAttemptsAgain({ sealer }: Unsealing, tx: Db, { id, tenantId, sessionKey }: Session): Promise<void> {
  for (const { id: attemptId, deliveryId, salt, sealed: before } of await listAttemptsOf(tx, tenantId, id)) {
    // Empty for an attempt whose process ended.
    if (before.length === 0) continue
    const sealed = sealer.sealAgain(SEALED.attempt({ id: deliveryId, tenantId }, salt, sessionKey), before)
    if (sealed) await updateSealed(tx, { id: attemptId, tenantId, sealed })
  }
}
