import type { Place } from '../base/seal.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Unsealing } from '../ground.ts'
import type { Deps } from './deps.ts'
import { findSealedEntries, listSealedEntries, type SealedEntry, updateDetails } from './store.ts'

/** The details of records that belong to no verification; undefined at the end. */
export async function sealRecordsAgain(deps: Unsealing, tx: Db, after: number, limit: number): Promise<number | undefined> {
  const batch = await listSealedEntries(tx, after, limit)
  for (const row of batch) if (row.sessionId === null) await sealOne(deps, tx, row, undefined)
  return batch.length === limit ? batch.at(-1)?.id : undefined
}

/** The details of a verification's records. */
export async function sealRecordsOf(deps: Unsealing, tx: Db, ids: readonly number[], sessionKey: Uint8Array): Promise<void> {
  for (const row of await findSealedEntries(tx, ids)) await sealOne(deps, tx, row, sessionKey)
}

async function sealOne(
  { sealer }: Unsealing,
  tx: Db,
  { salt, sealed: before, ...record }: SealedEntry,
  sessionKey: Uint8Array | undefined,
): Promise<void> {
  if (!salt || !before) return
  const sealed = again(sealer, SEALED.auditDetails({ ...record, id: String(record.id) }, salt, sessionKey), before)
  if (sealed) await updateDetails(tx, record.id, sealed)
}

/** Damaged details stay as they are: a check of the chain reports them. */
function again(sealer: Deps['sealer'], place: Place, sealed: Uint8Array): Buffer | undefined {
  try {
    return sealer.sealAgain(place, sealed)
  } catch {
    return undefined
  }
}
