// The end of a held answer: released by a redemption or a comparison, or failed when nobody decided in time.
import type { Db } from '../../db/engine.ts'
import { countEnds } from '../../usage/outcomes.ts'
import type { Deps } from '../deps.ts'
import { shred } from '../erasure/erase.ts'
import { deleteEvents } from '../event-store.ts'
import type { Failure } from '../failures.ts'
import { failureOfHeld } from '../hold.ts'
import { deletePortrait, deletePortraitsUntil } from '../portrait-store.ts'
import { openSecrets } from '../present.ts'
import type { VerificationRow } from '../store.ts'
import { readFetches, readTrust } from '../timeline.ts'
import { announceEnd, queueResult } from './announce.ts'
import { dateResult, deleteResult } from './answer-store.ts'
import { markOverdue } from './end-store.ts'
import { recordFailure } from './fail.ts'
import { countsAsFirst } from './first-times.ts'

const SWEEP_ROWS_MAX = 100

type By = { actor: string; at: number; requestId: string; details?: Record<string, unknown> }

export type Released = { session: VerificationRow; owed: string | undefined; mayBeFirst: boolean }

/** Audit record, date and webhook, inside the transaction that completed the session. */
export async function recordRelease(
  deps: Deps,
  tx: Db,
  session: VerificationRow,
  { actor, at, requestId, details }: By,
): Promise<Released> {
  const { id, tenantId, environment, wrappingKey } = session
  const trust = await readTrust(deps, tx, session)
  const sessionKey = await deps.sessionKeys.of(tx, session)
  const auditSeq = await deps.audit.append(tx, {
    at,
    tenantId,
    actor,
    action: 'verification.completed',
    subjectId: id,
    details: {
      environment,
      ...details,
      ...(trust.length > 0 && { trust }),
      ...(await readFetches(deps, tx, session, sessionKey)),
    },
    session: { id, wrappingKey, sessionKey },
    bornAt: session.auditSeq,
  })
  await dateResult(tx, session, { createdAt: at, auditSeq })
  const mayBeFirst = countsAsFirst(session, trust)
  if (mayBeFirst) await deps.firstTimes.note(tx, session, at)
  const owed = await queueResult(deps, tx, session, await openSecrets(deps, tx, session), { status: 'completed', at, requestId })
  await countEnds(tx, [{ ...session, outcome: 'completed', at }])
  return { session, owed, mayBeFirst }
}

/** Called after the commit. */
export function announceRelease(deps: Deps, { session, owed, mayBeFirst }: Released): void {
  if (mayBeFirst) deps.firstTimes.remember(session)
  announceEnd(deps, session, { status: 'completed' }, owed)
}

/** Fails held sessions about which nobody decided in time, and deletes result, portrait and findings. */
export async function sweepHeld(deps: Deps): Promise<void> {
  let failed: Failed[]
  do {
    failed = await deps.write(tx => failOverdue(deps, tx))
    for (const { session, error, owed } of failed) announceEnd(deps, session, { status: 'failed', error }, owed)
    if (failed.length > 0) await shred(deps)
  } while (failed.length === SWEEP_ROWS_MAX)
}

type Failed = { session: VerificationRow; error: Failure; owed: string | undefined }

async function failOverdue(deps: Deps, tx: Db): Promise<Failed[]> {
  const at = deps.now()
  const failed: Failed[] = []
  for (const session of await markOverdue(tx, at, SWEEP_ROWS_MAX)) {
    const error = failureOfHeld(session)
    await deletePortrait(tx, session)
    await deleteResult(tx, session)
    await deleteEvents(tx, session, 'response_posted')
    const owed = await recordFailure(deps, tx, session, { error, actor: 'system', at, requestId: null })
    failed.push({ session, error, owed })
  }
  await countEnds(
    tx,
    failed.map(({ session, error }) => ({ ...session, outcome: error.code, at })),
  )
  return failed
}

/** Deletes portraits after their time. */
export async function sweepPortraits(deps: Deps): Promise<void> {
  if ((await deps.write(tx => deletePortraitsUntil(tx, deps.now()))) > 0) await shred(deps)
}
