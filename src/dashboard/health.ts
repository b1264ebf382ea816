import { examine } from '../doctor/examine.ts'
import { isoUtc } from '../time.ts'
import type { Deps } from './deps.ts'
import type { Health } from './settings-schema.ts'

/** It connects to others and reads the database through: not more often than this, whoever asks and however often. */
const AGAIN_MS = 10_000

/** One examination at a time, for all who ask; asked again too soon, the last one is told again. */
export function createExamination(deps: Deps): () => Promise<Health> {
  let last: { at: number; health: Promise<Health> } | undefined

  async function look(at: number): Promise<Health> {
    const checks = await examine(deps, true)
    return { checked_at: isoUtc(at), checks: checks.map(({ remedy = null, ...check }) => ({ ...check, remedy })) }
  }

  return () => {
    const at = deps.now()
    if (!last || at - last.at >= AGAIN_MS) last = { at, health: look(at) }
    return last.health
  }
}
