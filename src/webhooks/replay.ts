import type { Acting } from '../audit/deps.ts'
import type { Db } from '../db/engine.ts'
import type { Announcing } from '../ground.ts'
import { type Restart, restartDelivery, restartFailed } from './log-store.ts'
import { duePayload } from './queue.ts'
import type { DeliveryRow, OwnerOfAny } from './store.ts'

/** Bounds how long one call occupies the writer. */
const PER_REPLAY_MAX = 1000

export type Asking = { actor: string; requestId?: string }

type ReplayDeps = Announcing & Acting

/** Replays one delivery, whatever its status; returns no row while an attempt is under way. */
export async function replayById(
  deps: ReplayDeps,
  tenantId: string,
  { id }: { id: string },
  asking: Asking,
): Promise<DeliveryRow[]> {
  return await replay(deps, tenantId, asking, { id }, (tx, due) => restartDelivery(tx, tenantId, id, due))
}

/** Replays the failed deliveries of one environment, or of both, at most PER_REPLAY_MAX. */
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

/** Begins again with the first attempt, under the same id, by which receivers recognise a repeat. */
async function replay(
  { write, now, audit, publish }: ReplayDeps,
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
  for (const { receiver, tenantId, dueAt } of restarted) publish('owed', duePayload({ receiver, tenantId, dueAt }))
  return restarted
}
