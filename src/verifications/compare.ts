import type { Caller } from '../access/scopes.ts'
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import type { Deps } from './deps.ts'
import { findEvent } from './event-store.ts'
import type { Comparison } from './schema.ts'
import { type KeyedSession, lockSession } from './store.ts'
import { openEvent, recordEvent } from './timeline.ts'

type CompareDeps = Pick<Deps, 'write' | 'now' | 'random' | 'sealer' | 'sessionKeys' | 'audit'>

/**
 * Whether the customer is the person on the photo of the document: the answer of whoever stands at
 * the device that asked. The first answer stays; the same one again changes nothing.
 */
export async function recordComparison(deps: CompareDeps, caller: Caller, id: string, isSame: boolean): Promise<Comparison> {
  return await deps.write(async tx => {
    const session = await lockSession(tx, caller, id)
    if (!session) throw apiError('session_not_found')
    if (caller.kind !== 'device')
      throw apiError('insufficient_scope', { message: 'Only the device that created this session may call this.' })
    if (session.status !== 'completed') throw apiError('session_not_completed')
    const before = await readComparison(deps, tx, session)
    if (before && before.same_person !== isSame) throw apiError('comparison_recorded')
    if (before) return before
    const { tenantId, name: actor, environment, deviceId } = caller
    const auditSeq = await deps.audit.append(tx, {
      at: deps.now(),
      tenantId,
      actor,
      action: 'verification.compared',
      subjectId: id,
      details: { environment, device: deviceId, same_person: isSame },
      session: { id, wrappingKey: session.wrappingKey, sessionKey: await deps.sessionKeys.of(tx, session) },
    })
    await recordEvent(deps, tx, session, 'photo_compared', { actor, same_person: isSame }, auditSeq)
    return { id, same_person: isSame }
  })
}

async function readComparison(deps: CompareDeps, tx: Db, session: KeyedSession): Promise<Comparison | undefined> {
  const row = await findEvent(tx, session, 'photo_compared')
  if (!row) return undefined
  const { same_person } = await openEvent<'photo_compared'>(deps, tx, session, row)
  return { id: session.id, same_person }
}
