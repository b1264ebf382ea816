import type { Deps } from './deps.ts'
import { findLastCheckpoint } from './store.ts'

export const SIGN_EVERY_MS = 3_600_000

type SignDeps = Pick<Deps, 'write' | 'now' | 'audit'>

export const signHead = ({ write, now, audit }: SignDeps): Promise<void> => write(tx => audit.checkpoint(tx, now()))

/** Called at start: a service that never runs for an hour would not reach its timer. */
export async function signHeadWhenDue(deps: SignDeps & Pick<Deps, 'db'>): Promise<void> {
  const last = await findLastCheckpoint(deps.db)
  if (!last || deps.now() - last.at >= SIGN_EVERY_MS) await signHead(deps)
}
