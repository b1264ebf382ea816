import type { Db } from '#db'
import type { Deps } from '../deps.ts'
import { SALT_BYTES } from '../seal.ts'
import { insertEvent, type VerificationRow } from '../verifications/store.ts'

/** The moments of a session after its creation. */
export type SessionEvent = 'request_fetched' | 'response_unreadable' | 'response_posted'

/** Kept with the session and erased with it; details hold no claims. */
export async function recordEvent(
  { now, random, sealer }: Pick<Deps, 'now' | 'random' | 'sealer'>,
  tx: Db,
  { id, tenantId }: Pick<VerificationRow, 'id' | 'tenantId'>,
  event: SessionEvent,
  details: object,
): Promise<void> {
  const salt = Buffer.from(random(SALT_BYTES))
  const sealed = sealer.seal(
    { tenant: tenantId, table: 'verification_events', column: 'sealed', row: id, salt },
    JSON.stringify(details),
  )
  await insertEvent(tx, { verificationId: id, tenantId, at: now(), event, salt, sealed })
}
