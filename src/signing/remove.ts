// Takes certificates away that were imported. Open sessions keep the one they began with, and its key is erased a day later.
import type { Audited, Setting } from '../audit/deps.ts'
import { isoUtc } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import type { Reading } from '../ground.ts'
import { describeRow, type KeyOwner, type SigningState, signingState } from './certificate.ts'
import { isLater, startOf } from './leaves.ts'
import { SigningProblem } from './problem.ts'
import {
  deletePending,
  listLeavesOf,
  listPending,
  listReaders,
  retireLeaves,
  retireReaders,
  type SigningKeyRow,
} from './store.ts'

/** Everything of a tenant: the certificate in use, the one that starts later, its readers, and keys that wait for theirs. */
export async function removeSigningKeys(deps: Reading & Setting, owner: string, actor: string): Promise<SigningState> {
  const at = deps.now()
  await deps.writeSettings(async tx => {
    const [leaves, pending] = [await listLeavesOf(tx, owner), await listPending(tx, owner)]
    const readers = (await listReaders(tx)).filter(({ tenantId }) => tenantId === owner)
    const [first] = [...leaves, ...readers, ...pending]
    if (!first) throw new SigningProblem('nothing_of_its_own')
    if (leaves.length > 0) await retireLeaves(tx, idsOf(leaves), at)
    if (readers.length > 0) await retireReaders(tx, idsOf(readers), at)
    if (pending.length > 0) await deletePending(tx, idsOf(pending))
    const details = { client_ids: leaves.map(({ clientId }) => clientId), requests: pending.length, readers: readers.length }
    await deps.audit.append(tx, { at, tenantId: owner, actor, action: 'signing.removed', subjectId: first.id, details })
  })
  return await signingState(deps, owner)
}

const idsOf = (rows: readonly SigningKeyRow[]): string[] => rows.map(({ id }) => id)

/** The certificate in use stays. */
export async function cancelScheduled(deps: Reading & Setting, owner: KeyOwner, actor: string): Promise<SigningState> {
  const at = deps.now()
  await deps.writeSettings(async tx => {
    const scheduled = (await listLeavesOf(tx, owner)).filter(leaf => isLater(leaf, at))
    if (scheduled.length === 0) throw new SigningProblem('no_start_scheduled')
    await retireLeaves(tx, idsOf(scheduled), at)
    for (const leaf of scheduled) await recordCancelled(tx, deps, { at, leaf, actor })
  })
  return await signingState(deps, owner)
}

type Cancelled = { at: number; leaf: SigningKeyRow; actor: string }

async function recordCancelled(tx: Db, { audit }: Audited, { at, leaf, actor }: Cancelled): Promise<void> {
  const { clientId, subject } = describeRow(leaf)
  const details = { client_id: clientId, subject, starts_at: isoUtc(startOf(leaf)) }
  await audit.append(tx, { at, tenantId: leaf.tenantId ?? '', actor, action: 'signing.cancelled', subjectId: leaf.id, details })
}
