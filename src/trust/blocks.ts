// A blocked certificate is refused in every path, as anchor, authority or signer, whatever a list says.
import type { Setting } from '../audit/deps.ts'
import type { Reading } from '../ground.ts'
import { parseFingerprint } from './lists/pins.ts'
import { type Blocked, type BlockRow, deleteBlock, insertBlock, listBlocks } from './lists/source-store.ts'
import { TrustProblem } from './settings.ts'

export type { BlockRow }

export async function block(
  deps: Setting,
  { environment, fingerprint: given, reason }: Blocked & { reason: string },
  actor: string,
): Promise<BlockRow> {
  const at = deps.now()
  const row = { environment, fingerprint: parseFingerprint(given), reason, createdAt: at }
  await deps.writeSettings(async tx => {
    if (!(await insertBlock(tx, row))) throw new TrustProblem(`${row.fingerprint} is blocked in ${environment} already`)
    const details = { environment, reason }
    await deps.audit.append(tx, { at, tenantId: '', actor, action: 'trust.blocked', subjectId: row.fingerprint, details })
  })
  return row
}

export async function unblock(deps: Setting, { environment, fingerprint: given }: Blocked, actor: string): Promise<BlockRow> {
  const at = deps.now()
  const fingerprint = parseFingerprint(given)
  return await deps.writeSettings(async tx => {
    const removed = await deleteBlock(tx, { environment, fingerprint })
    if (!removed) throw new TrustProblem(`${fingerprint} is not blocked in ${environment}`)
    const details = { environment, reason: removed.reason }
    await deps.audit.append(tx, { at, tenantId: '', actor, action: 'trust.unblocked', subjectId: fingerprint, details })
    return removed
  })
}

export const readBlocks = async ({ db }: Reading): Promise<BlockRow[]> => await listBlocks(db)
