import { SEALED } from '../../../db/sealed-columns.ts'
import type { Reading, Unsealing } from '../../../ground.ts'
import { listNewest } from '../../event-store.ts'
import type { TransportFailure } from './schema.ts'

const WEEK_MS = 7 * 86_400_000
const FAILURES_MAX = 10
/** There is no index for them: they are looked for among so many moments of all sessions. */
const AMONG = 5000

/** What failed between tills and phones within a week, the newest first. */
export async function latestFailures({ db, now, sealer, sessionKeys }: Reading & Unsealing): Promise<TransportFailure['code'][]> {
  const newest = await listNewest(db, 'in_person_failed', { among: AMONG, limit: FAILURES_MAX })
  const recent = newest.filter(({ at }) => at > now() - WEEK_MS)
  const keys = await sessionKeys.findAll(
    db,
    recent.map(({ verificationId }) => verificationId),
  )
  return recent.flatMap(({ verificationId: id, tenantId, salt, sealed }) => {
    const key = keys.get(id)
    return key ? [JSON.parse(sealer.open(SEALED.event({ id, tenantId }, salt, key), sealed)).code] : []
  })
}
