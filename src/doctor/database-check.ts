import { ok, problem } from '../db/check.ts'
import { findUnreadable } from '../verifications/unreadable.ts'
import { missingKeyFile } from './key-checks.ts'
import { checkOfEngine, type Scene } from './scene.ts'

const READING_MS_MAX = 4000

/** The engine reads every page; here every sealed verification is opened. */
export async function checkDatabase(scene: Scene) {
  const { deps, tenants } = scene
  const signal = AbortSignal.timeout(READING_MS_MAX)
  const ids = tenants.then(all => all.map(({ id }) => id))
  const reading = ids.then(all => findUnreadable(deps, all, signal))
  // It fails on a damaged database, which the engine reports.
  reading.catch(() => {})
  const engine = await checkOfEngine(scene, 'database')
  if (engine.status === 'problem') return engine
  const { unreadable, looked, isComplete } = await reading
  if (unreadable.length > 0) {
    const file = missingKeyFile(deps, await deps.sessionKeys.look(deps.db))
    return file === undefined ? problem('sessions_unreadable', { unreadable }) : problem('sessions_locked', { file, unreadable })
  }
  return engine.status === 'warning' ? engine : ok('sessions_readable', { engine, looked: isComplete ? null : looked })
}
