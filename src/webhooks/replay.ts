import type { Db } from '../db/engine.ts'
import type { Deps } from './deps.ts'
import { type DeliveryRow, type OwnerOfAny, type Restart, restartDeliveries, restartFailed } from './store.ts'

/** As many as one call sends again: everybody waits while they are written. */
const PER_REPLAY_MAX = 1000

/** Who asks, and by which HTTP request. */
export type Asking = { actor: string; requestId?: string }

type ReplayDeps = Pick<Deps, 'write' | 'now' | 'audit' | 'outbox'>

/** One delivery, however it ended. What is under way is left alone. */
export async function replayDeliveries(
  deps: ReplayDeps,
  tenantId: string,
  { id }: { id: string },
  asking: Asking,
): Promise<DeliveryRow[]> {
  return await replay(deps, tenantId, asking, { id }, (tx, due) => restartDeliveries(tx, tenantId, id, due))
}

/** The failed ones of one environment, or of both, as many as one call may. */
export async function replayFailed(
  deps: ReplayDeps,
  { tenantId, environment }: OwnerOfAny,
  asking: Asking,
): Promise<{ replayed: number; hasMore: boolean }> {
  const restarted = await replay(deps, tenantId, asking, environment && { environment }, (tx, due) =>
    restartFailed(tx, { tenantId, environment }, due, PER_REPLAY_MAX),
  )
  return { replayed: restarted.length, hasMore: restarted.length === PER_REPLAY_MAX }
}

/** Sends again, from the first attempt on and under the same id, so that a receiver can tell. */
async function replay(
  { write, now, audit, outbox }: ReplayDeps,
  tenantId: string,
  { actor, requestId }: Asking,
  which: { id: string } | { environment: string } | undefined,
  restart: (tx: Db, due: Restart) => Promise<DeliveryRow[]>,
): Promise<DeliveryRow[]> {
  const at = now()
  const restarted = await write(async tx => {
    const rows = await restart(tx, { dueAt: at, requestId })
    const details = { count: rows.length, ...which }
    if (rows.length > 0) await audit.append(tx, { at, tenantId, actor, action: 'webhook.replayed', subjectId: tenantId, details })
    return rows
  })
  for (const { lane, tenantId, dueAt } of restarted) outbox.owed({ lane, tenantId, dueAt })
  return restarted
}
