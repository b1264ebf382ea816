import type { Setting } from '../audit/deps.ts'
import type { Ground, Reading } from '../ground.ts'
import { isErased } from './keys.ts'
import { leavesAt, startOf } from './leaves.ts'
import { eraseKey, type Leaf, listLeaves, listRetired, retireLeaves } from './store.ts'

/** The clock of another machine may be behind: until then it may still take the certificate before. */
const SETTLED_MS = 3_600_000
/** No session is open for longer than an hour. */
const KEPT_MS = 86_400_000

type RetireDeps = Reading & Setting & Pick<Ground, 'forgetDeleted'>

/** Retires certificates whose successor has started, and erases the keys of those that were retired a day ago. */
export async function retireSigningKeys(deps: RetireDeps): Promise<void> {
  const at = deps.now()
  const replaced = replacedBy(await listLeaves(deps.db), at - SETTLED_MS)
  if (replaced.length > 0) {
    await deps.writeSettings(async tx => {
      for (const { id, retiredAt } of replaced) await retireLeaves(tx, [id], retiredAt)
    })
  }
  const retired = (await listRetired(deps.db, at - KEPT_MS)).filter(row => !isErased(row))
  if (retired.length === 0) return
  await deps.writeSettings(async tx => {
    for (const { id, clientId, tenantId } of retired) {
      await eraseKey(tx, id)
      await deps.audit.append(tx, {
        at,
        tenantId: tenantId ?? '',
        actor: 'system',
        action: 'signing.key_erased',
        subjectId: id,
        details: { client_id: clientId },
      })
    }
  })
  // Overwritten in the file; the write-ahead log still has the old bytes until it is emptied.
  await deps.forgetDeleted()
}

function replacedBy(leaves: readonly Leaf[], at: number): { id: string; retiredAt: number }[] {
  const { current } = leavesAt(leaves, at)
  return leaves.flatMap(leaf => {
    const now = current.get(leaf.tenantId)
    const isReplaced = now !== undefined && now.id !== leaf.id && startOf(leaf) < startOf(now)
    return isReplaced ? [{ id: leaf.id, retiredAt: startOf(now) }] : []
  })
}
