import type { Db } from '../db/engine.ts'
import { countEnds } from '../usage/outcomes.ts'
import { announceEnd } from './announce.ts'
import { deleteResult } from './answer-store.ts'
import type { Deps } from './deps.ts'
import { markUnredeemed } from './end-store.ts'
import { shred } from './erase.ts'
import { deleteEvents } from './event-store.ts'
import { recordFailure } from './fail.ts'
import { NOT_FOLLOWED } from './failures.ts'
import { unredeemableSince } from './response-code.ts'
import type { VerificationRow } from './store.ts'

const SWEEP_ROWS_MAX = 100

/** Fails held sessions that nobody redeemed in time, and deletes result and findings. */
export async function sweepUnredeemed(deps: Deps): Promise<void> {
  let failed: Failed[]
  do {
    failed = await deps.write(tx => failUnredeemed(deps, tx))
    for (const { session, owed } of failed) announceEnd(deps, session, { status: 'failed', error: NOT_FOLLOWED }, owed)
    if (failed.length > 0) await shred(deps)
  } while (failed.length === SWEEP_ROWS_MAX)
}

type Failed = { session: VerificationRow; owed: string | undefined }

async function failUnredeemed(deps: Deps, tx: Db): Promise<Failed[]> {
  const at = deps.now()
  const failed: Failed[] = []
  for (const session of await markUnredeemed(tx, unredeemableSince(at), SWEEP_ROWS_MAX)) {
    // Not after the commit: a portrait in memory would be shown with the failure.
    await deps.portraits.forget(tx, session.id)
    await deleteResult(tx, session)
    await deleteEvents(tx, session, 'response_posted')
    const owed = await recordFailure(deps, tx, session, { error: NOT_FOLLOWED, actor: 'system', at, requestId: null })
    failed.push({ session, owed })
  }
  await countEnds(
    tx,
    failed.map(({ session }) => ({ ...session, outcome: NOT_FOLLOWED.code, at })),
  )
  return failed
}
