import { apiError } from '../../http/errors.ts'
import { countEnds } from '../../usage/outcomes.ts'
import type { Deps } from '../deps.ts'
import { CANCELLED } from '../failures.ts'
import { isCancelled, readOne, refuseClosed } from '../read.ts'
import type { Verification } from '../schema.ts'
import { findVerification, lockSession, type Owner } from '../store.ts'
import { announceEnd } from './announce.ts'
import { cancelSession } from './answer-store.ts'
import { recordFailure } from './fail.ts'

type By = { actor: string; requestId: string }

/** Ends a session that nobody has answered. A repeat changes nothing and gets the same response. */
export async function cancelVerification(deps: Deps, owner: Owner, id: string, { actor, requestId }: By): Promise<Verification> {
  const found = await findVerification(deps.db, owner, id)
  if (!found) throw apiError('session_not_found')
  const session = found.verification
  const at = Math.max(deps.now(), session.createdAt)
  const won = await deps.write(async tx => {
    if (await cancelSession(tx, session, at)) {
      const owed = await recordFailure(deps, tx, session, { error: CANCELLED, actor, at, requestId })
      await countEnds(tx, [{ ...session, outcome: CANCELLED.code, at }])
      return { owed }
    }
    // At the deadline another cancellation may be about to commit, and a plain read would not wait for it.
    const ended = await lockSession(tx, owner, id)
    if (!ended || !isCancelled(ended)) refuseClosed(ended, at)
    return undefined
  })
  if (won) announceEnd(deps, session, { status: 'failed', error: CANCELLED }, won.owed)
  return await readOne(deps, owner, id)
}
