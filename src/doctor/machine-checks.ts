import { readHead, readLatestAt } from '../audit/browse.ts'
import { linkEntries } from '../audit/link.ts'
import { ok, problem, secondOf, warning } from '../db/check.ts'
import { OPEN_FILES_MIN, openFilesLimit } from './open-files.ts'
import type { Scene } from './scene.ts'

const MINUTE_MS = 60_000
/** The recorded time (db/shown-at.ts) keeps the difference below this. */
const CLOCK_BEHIND_MAX_MS = 5 * MINUTE_MS
const CLOCK_APART_MAX_MS = MINUTE_MS
const STEP_SHOWN_MS = 7 * 24 * 60 * MINUTE_MS

/**
 * The machine's clock is compared with the newest record, with that of the service, which never goes back, and with the one at
 * the public address: a proxy may run on another machine.
 */
export async function checkClock({ deps, visit }: Scene) {
  const at = deps.wall()
  await linkEntries(deps)
  const shown = Math.max((await readHead(deps.db))?.at ?? 0, deps.now())
  if (shown - at > CLOCK_BEHIND_MAX_MS) return problem('clock_behind', { at: secondOf(at), shown: secondOf(shown) })
  const { date } = (await visit).answer ?? {}
  if (date !== undefined && Math.abs(date - at) > CLOCK_APART_MAX_MS)
    return warning('clock_apart', { seconds: Math.round(Math.abs(date - at) / 1000) })
  const step = await readLatestAt(deps.db, 'clock.stepped')
  if (step !== undefined && at - step < STEP_SHOWN_MS) return warning('clock_set', { at: secondOf(step) })
  return ok('clock_good', { at: secondOf(at) })
}

export async function checkOpenFiles({ isServer }: Scene) {
  const limit = openFilesLimit()
  if (limit === undefined) return ok('files_unknown')
  // As a text: JSON has no infinity.
  const values = { isServer, limit: String(limit) }
  return limit >= OPEN_FILES_MIN ? ok('files_enough', values) : warning('files_few', { ...values, needed: OPEN_FILES_MIN })
}
