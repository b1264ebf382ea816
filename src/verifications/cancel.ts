import { apiError } from '../http/errors.ts'
import { announceEnd } from './announce.ts'
import { cancelSession } from './answer-store.ts'
import type { Deps } from './deps.ts'
import { recordFailure } from './fail.ts'
import { CANCELLED } from './failures.ts'
import { readOne } from './read.ts'
import type { Verification } from './schema.ts'
import { findVerification, type Owner, type VerificationRow } from './store.ts'

type By = { actor: string; requestId: string }

/** Ends a session that nobody has answered. A repeat finds it cancelled and changes nothing, so a lost answer can be asked for again. */
export async function cancelVerification(deps: Deps, owner: Owner, id: string, { actor, requestId }: By): Promise<Verification> {
  const found = await findVerification(deps.db, owner, id)
  if (!found) throw apiError('session_not_found')
  const session = found.verification
  const at = Math.max(deps.now(), session.createdAt)
  const won = await deps.write(async tx => {
    if (await cancelSession(tx, session, at))
      return { owed: await recordFailure(deps, tx, session, { error: CANCELLED, actor, at, requestId }) }
    refuseEnded((await findVerification(tx, owner, id))?.verification)
    return undefined
  })
  if (won) announceEnd(deps, session, { status: 'failed', error: CANCELLED }, won.owed)
  return await readOne(deps, owner, id)
}

/** Throws unless it was cancelled before: a failure without an answer. */
function refuseEnded(session: VerificationRow | undefined): void {
  if (!session) throw apiError('session_not_found')
  if (session.respondedAt !== null) throw apiError('session_already_responded')
  if (session.status !== 'failed') throw apiError('session_expired')
}
