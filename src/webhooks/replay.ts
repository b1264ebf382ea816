import type { Deps } from '../deps.ts'
import { type DeliveryRow, type Owner, restartDeliveries, restartFailed } from './store.ts'

/** As many as one call sends again: everybody waits while they are written. */
const PER_REPLAY_MAX = 1000

/** Who asks, and by which HTTP request. */
export type Asking = { actor: string; requestId?: string }

type ReplayDeps = Pick<Deps, 'write' | 'now' | 'audit' | 'outbox'>

/**
 * Sends again, from the first attempt on and under the same id, so that a receiver can tell. One delivery however it ended, or all that
 * failed. What is under way is left alone.
 */
export async function replayDeliveries(
  deps: ReplayDeps,
  tenantId: string,
  which: { id: string } | { status: 'failed' },
  { actor, requestId }: Asking,
): Promise<DeliveryRow[]> {
  const at = deps.now()
  const restarted = await deps.write(async tx => {
    const rows = await restartDeliveries(tx, tenantId, which, { dueAt: at, requestId })
    if (rows.length > 0) {
      const details = { count: rows.length, ...('id' in which && { id: which.id }) }
      await deps.audit.append(tx, { at, tenantId, actor, action: 'webhook.replayed', subjectId: tenantId, details })
    }
    return rows
  })
  send(deps, restarted)
  return restarted
}

/** The failed ones of one environment, as many as one call may. */
export async function replayFailed(
  deps: ReplayDeps,
  { tenantId, environment }: Owner,
  { actor, requestId }: Asking,
): Promise<{ replayed: number; hasMore: boolean }> {
  const at = deps.now()
  const restarted = await deps.write(async tx => {
    const rows = await restartFailed(tx, { tenantId, environment }, { dueAt: at, requestId }, PER_REPLAY_MAX)
    const details = { count: rows.length, environment }
    if (rows.length > 0)
      await deps.audit.append(tx, { at, tenantId, actor, action: 'webhook.replayed', subjectId: tenantId, details })
    return rows
  })
  send(deps, restarted)
  return { replayed: restarted.length, hasMore: restarted.length === PER_REPLAY_MAX }
}

function send({ outbox }: Pick<Deps, 'outbox'>, restarted: readonly DeliveryRow[]): void {
  for (const { lane, tenantId, dueAt } of restarted) outbox.owed({ lane, tenantId, dueAt })
}
