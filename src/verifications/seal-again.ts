// Seals all that a verification has under the newest row key, in one transaction.
import { sealRecordsOf } from '../audit/seal-again.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Place } from '../seal.ts'
import { sealAttemptsAgain } from '../webhooks/seal-again.ts'
import type { Deps } from './deps.ts'
import { findPortrait, updatePortrait } from './portrait-store.ts'
import {
  listReplaysAfter,
  listSealedEvents,
  lockSessionsAfter,
  type SealedRows,
  type SealedSession,
  updateEvent,
  updateReplay,
  updateResult,
  updateSession,
} from './sealed-store.ts'

type SealDeps = Pick<Deps, 'sealer' | 'sessionKeys'>

/** `last` is undefined at the end. */
export async function sealSessionsAgain(
  deps: SealDeps,
  tx: Db,
  wanted: { after: string; limit: number },
): Promise<{ last: string | undefined; count: number }> {
  const batch = await lockSessionsAfter(tx, wanted)
  for (const found of batch) await sealOne(deps, tx, found)
  return { last: batch.length === wanted.limit ? batch.at(-1)?.verification.id : undefined, count: batch.length }
}

async function sealOne(deps: SealDeps, tx: Db, { verification, result }: SealedRows): Promise<void> {
  const { id, tenantId } = verification
  const sessionKey = await deps.sessionKeys.of(tx, verification).catch(() => undefined)
  // The wrapping key is gone, which a start refuses; the other sessions must not wait for it.
  if (!sessionKey) return
  const events = await listSealedEvents(tx, verification)
  await sealSession(deps, tx, verification, sessionKey)
  const sealedResult = result && again(deps, SEALED.result(verification, result.salt, sessionKey), result.sealed)
  if (sealedResult) await updateResult(tx, verification, sealedResult)
  const portrait = await findPortrait(tx, verification, 0)
  const sealedPortrait = portrait && again(deps, SEALED.portrait(verification, portrait.salt, sessionKey), portrait.sealed)
  if (sealedPortrait) await updatePortrait(tx, verification, sealedPortrait)
  for (const event of events) {
    const sealed = again(deps, SEALED.event(verification, event.salt, sessionKey), event.sealed)
    if (sealed) await updateEvent(tx, event, sealed)
  }
  await sealAttemptsAgain(deps, tx, { id, tenantId, sessionKey })
  const ids = [verification, ...(result ? [result] : []), ...events].flatMap(({ auditSeq }) => auditSeq ?? [])
  await sealRecordsOf(deps, tx, ids, sessionKey)
}

/** Damaged text stays as it is: a read of it reports the damage. */
function again({ sealer }: SealDeps, place: Place, sealed: Uint8Array): Buffer | undefined {
  try {
    return sealer.sealAgain(place, sealed)
  } catch {
    return undefined
  }
}

async function sealSession(deps: SealDeps, tx: Db, session: SealedSession, sessionKey: Uint8Array): Promise<void> {
  const { sealed, sealedQuery, sealedResponseKey, sealedDcRequests, salt } = session
  await updateSession(tx, session, {
    sealed: sealed && (again(deps, SEALED.secrets(session, salt, sessionKey), sealed) ?? sealed),
    sealedQuery: sealedQuery && (again(deps, SEALED.query(session, salt, sessionKey), sealedQuery) ?? sealedQuery),
    sealedResponseKey:
      sealedResponseKey && (again(deps, SEALED.responseKey(session, salt, sessionKey), sealedResponseKey) ?? sealedResponseKey),
    sealedDcRequests:
      sealedDcRequests && (again(deps, SEALED.dcRequests(session, salt, sessionKey), sealedDcRequests) ?? sealedDcRequests),
  })
}

/** Seals kept answers (201) again. */
export async function sealReplaysAgain(deps: SealDeps, tx: Db, after: string, limit: number): Promise<string | undefined> {
  const batch = await listReplaysAfter(tx, after, limit)
  for (const { hash, tenantId, salt, sealed: before, wrappingKey } of batch) {
    if (!salt || !before || wrappingKey === null) continue
    const sealed = again(deps, SEALED.replay({ id: hash, tenantId }, salt, deps.sessionKeys.derive(hash, wrappingKey)), before)
    if (sealed) await updateReplay(tx, hash, sealed)
  }
  return batch.length === limit ? batch.at(-1)?.hash : undefined
}
