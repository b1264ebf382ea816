import type { Deps } from '../deps.ts'
import { type DeliveryRow, restartDeliveries } from './store.ts'

/**
 * Sends again, from the first attempt on and under the same id, so that a receiver can tell. One delivery however it ended, or all that
 * failed. What is under way is left alone.
 */
export async function replayDeliveries(
  deps: Pick<Deps, 'write' | 'now' | 'audit' | 'outbox'>,
  tenantId: string,
  which: { id: string } | { status: 'failed' },
  actor: string,
): Promise<DeliveryRow[]> {
  const at = deps.now()
  const restarted = await deps.write(async tx => {
    const rows = await restartDeliveries(tx, tenantId, which, at)
    if (rows.length > 0) {
      const details = { count: rows.length, ...('id' in which && { id: which.id }) }
      await deps.audit.append(tx, { at, tenantId, actor, action: 'webhook.replayed', subjectId: tenantId, details })
    }
    return rows
  })
  for (const { lane, dueAt } of restarted) deps.outbox.owed({ lane, tenantId, dueAt })
  return restarted
}
