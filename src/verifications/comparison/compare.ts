// The comparison of the customer with the photo of the document: it decides the photo checks of a device (hold.ts).
import type { Caller, DeviceCaller } from '../../access/scopes.ts'
import { isoUtc } from '../../base/time.ts'
import type { Db } from '../../db/engine.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import { apiError } from '../../http/errors.ts'
import { countEnds } from '../../usage/outcomes.ts'
import type { Deps } from '../deps.ts'
import { announceEnd } from '../end/announce.ts'
import { deleteResult, endComparison } from '../end/answer-store.ts'
import { recordFailure } from '../end/fail.ts'
import { announceRelease, recordRelease } from '../end/release.ts'
import { shred } from '../erasure/erase.ts'
import { NOT_SAME_PERSON } from '../failures.ts'
import { heldUntil, isHeldForComparison } from '../hold.ts'
import { deletePortrait } from '../portrait-store.ts'
import { isUnkept, openPortrait, type Result, withoutPortrait } from '../portraits.ts'
import { openResult } from '../present.ts'
import { readOne } from '../read.ts'
import { updateResult } from '../rekey/sealed-store.ts'
import type { Comparison, Verification } from '../schema.ts'
import { statusAt } from '../status.ts'
import { findVerification, type ResultRow, type VerificationRow } from '../store.ts'
import { recordEvent } from '../timeline.ts'
import { portraitUrl } from './photo.ts'

/** The photo and the claims that wait for the device's comparison. */
export async function readComparison(deps: Deps, caller: Caller, id: string): Promise<Comparison> {
  const { session, result, respondedAt } = await requireComparison(deps.db, requireDevice(caller), id, deps.now())
  const sessionKey = await deps.sessionKeys.of(deps.db, session)
  const kept = (await openPortrait(deps, deps.db, { ...session, sessionKey })) ?? openResult(deps, result, sessionKey)
  const { claims = {} } = withoutPortrait(kept)
  return { portrait: portraitUrl(kept), claims, until: isoUtc(heldUntil(respondedAt, session)) }
}

type Decision = { isSame: boolean; requestId: string }

/** One statement decides: of two decisions, the deadline and an erasure, the first counts. */
export async function decideComparison(deps: Deps, caller: Caller, id: string, decision: Decision): Promise<Verification> {
  const device = requireDevice(caller)
  const announce = await deps.write(async tx => {
    const at = deps.now()
    if (!(await endComparison(tx, device, id, { status: decision.isSame ? 'completed' : 'failed', at }))) {
      await requireComparison(tx, device, id, at)
      // PostgreSQL: the answer came between the two statements. Before it this was true.
      throw apiError('session_not_found')
    }
    const { verification: session, result } = (await findVerification(tx, device, id)) ?? {}
    if (!session || !result) throw new Error('a held session has a result')
    await recordEvent(deps, tx, session, 'photo_compared', { actor: device.name, same_person: decision.isSame })
    const by = { actor: device.name, at, requestId: decision.requestId }
    return decision.isSame ? await confirm(deps, tx, { session, result }, by) : await refuse(deps, tx, { session, result }, by)
  })
  announce()
  await shred(deps)
  return await readOne(deps, device, id)
}

type Decided = { session: VerificationRow; result: ResultRow }
type By = { actor: string; at: number; requestId: string }

/** An own template keeps its portrait: only a completed session has one. */
async function confirm(deps: Deps, tx: Db, { session, result }: Decided, by: By): Promise<() => void> {
  const sessionKey = await deps.sessionKeys.of(tx, session)
  const whole = isUnkept(session) ? undefined : await openPortrait(deps, tx, { ...session, sessionKey })
  if (whole)
    await updateResult(tx, session, deps.sealer.seal(SEALED.result(session, result.salt, sessionKey), JSON.stringify(whole)))
  // Its time ended during this decision.
  else if (!isUnkept(session)) throw hasEnded()
  await deletePortrait(tx, session)
  const released = await recordRelease(deps, tx, session, { ...by, details: { same_person: true } })
  return () => announceRelease(deps, released)
}

async function refuse(deps: Deps, tx: Db, { session, result }: Decided, by: By): Promise<() => void> {
  const { credentials }: Result = openResult(deps, result, await deps.sessionKeys.of(tx, session))
  await deletePortrait(tx, session)
  await deleteResult(tx, session)
  const owed = await recordFailure(deps, tx, session, { ...by, error: NOT_SAME_PERSON, credentials })
  await countEnds(tx, [{ ...session, outcome: NOT_SAME_PERSON.code, at: by.at }])
  return () => announceEnd(deps, session, { status: 'failed', error: NOT_SAME_PERSON }, owed)
}

/** Sessions of API keys have no comparison: the merchant compares. */
function requireDevice(caller: Caller): DeviceCaller {
  if (caller.kind !== 'device') throw apiError('session_not_found')
  return caller
}

const hasEnded = () => apiError('session_already_responded', { message: 'This verification has ended; GET it for its outcome.' })

/** 404 before the answer, 409 once the session has ended. */
async function requireComparison(
  db: Db,
  device: DeviceCaller,
  id: string,
  now: number,
): Promise<Decided & { respondedAt: number }> {
  const { verification: session, result } = (await findVerification(db, device, id)) ?? {}
  if (!session || session.respondedAt === null) throw apiError('session_not_found')
  if (!isHeldForComparison(session) || statusAt(session, now) !== 'pending') throw hasEnded()
  if (!result) throw new Error('a held session has a result')
  return { session, result, respondedAt: session.respondedAt }
}
