import type { Reading, Unsealing, Yielding } from '../ground.ts'
import { openSecrets } from './present.ts'
import { findWhole, listVerifications } from './store.ts'

const SESSIONS_MAX = 200

/** Of a shop's latest live sessions, those that lead back to it, and those of them that the answer alone releases (HAIP § 5.1). */
export async function countReturning(
  deps: Reading & Unsealing & Yielding,
  tenantId: string,
): Promise<{ returning: number; loose: number }> {
  const owner = { tenantId, environment: 'live' as const }
  const rows = await listVerifications(deps.db, owner, { before: Number.MAX_SAFE_INTEGER, limit: SESSIONS_MAX })
  const counts = { returning: 0, loose: 0 }
  for (const row of rows) {
    await deps.turns.next()
    const session = (await findWhole(deps.db, row))?.verification
    // One that does not open is named by the check of the database.
    const secrets = session && (await openSecrets(deps, deps.db, session).catch(() => undefined))
    if (secrets?.redirect_url === undefined) continue
    counts.returning++
    if (session?.release !== 'on_redeem') counts.loose++
  }
  return counts
}
