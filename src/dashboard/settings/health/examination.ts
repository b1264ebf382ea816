import { isoUtc } from '../../../base/time.ts'
import { examine } from '../../../doctor/examine.ts'
import type { Deps } from '../../deps.ts'
import type { Health } from './schema.ts'

/** An examination reads the whole database, so it runs no more often than this. */
const AGAIN_MS = 10_000

/** One examination at a time, shared by all callers; a call too soon gets the last one again. */
export function createExamination(deps: Deps): () => Promise<Health> {
  let last: { at: number; health: Promise<Health> } | undefined

  async function look(at: number): Promise<Health> {
    return { checked_at: isoUtc(at), checks: await examine(deps, true) }
  }

  return () => {
    const at = deps.now()
    if (!last || at - last.at >= AGAIN_MS) last = { at, health: look(at) }
    return last.health
  }
}
