import { noticeName } from '../../db/topics.ts'
import { retentions } from '../../tenants/settings.ts'
import { countEnds, type End } from '../../usage/outcomes.ts'
import type { Held } from '../../webhooks/attempts.ts'
import type { VerificationRow } from '../store.ts'
import type { Deps } from './deps.ts'
import { eraseIn, shred } from './erase.ts'
import { listEnded, listEndedLogins } from './store.ts'

const DAY_MS = 86_400_000
const BATCH_MAX = 100

/** Erases sessions that ended longer ago than their tenant keeps them. */
export async function sweepRetention(deps: Deps): Promise<void> {
  for (const { tenantId, days } of await retentions(deps.db)) {
    const endedBy = deps.now() - days * DAY_MS
    while ((await eraseBatch(deps, await listEnded(deps.db, tenantId, endedBy, BATCH_MAX), 'retention')) === BATCH_MAX);
  }
}

/** Erases log-ins an hour after their end: their clients have read by then what they asked for. */
export async function sweepLogins(deps: Deps): Promise<void> {
  while ((await eraseBatch(deps, await listEndedLogins(deps.db, deps.now(), BATCH_MAX), 'log-in')) === BATCH_MAX);
}

/** Erases sessions in one transaction; returns how many there were. */
export async function eraseBatch(deps: Deps, due: VerificationRow[], actor: string): Promise<number> {
  if (due.length === 0) return 0
  const at = deps.now()
  await deps.erasures.note(
    due.map(({ id }) => id),
    at,
  )
  const erased = await deps.write(async tx => {
    const own: { session: (typeof due)[number]; held: Held[]; ends: End[] }[] = []
    for (const session of due) {
      const { id, tenantId, environment } = session
      const erasure = await eraseIn(deps, tx, { owner: { tenantId, environment }, actor, id, at })
      if (erasure) own.push({ session, held: erasure.held, ends: erasure.ends })
    }
    await countEnds(
      tx,
      own.flatMap(({ ends }) => ends),
    )
    return own
  })
  await deps.attempts.cancel(
    due.map(({ id }) => id),
    erased.flatMap(({ held }) => held),
  )
  for (const { session } of erased) {
    deps.publish('session', noticeName(session.id))
    deps.metrics.count('vidimus_verifications_total', { event: 'erased', environment: session.environment })
  }
  await shred(deps)
  return due.length
}
