import { readHead, readLatestAt } from '../audit/browse.ts'
import { linkEntries } from '../audit/link.ts'
import { type Found, ok, problem, secondOf, warning } from '../db/check.ts'
import { OPEN_FILES_MIN, openFilesLimit } from './open-files.ts'
import type { Scene } from './scene.ts'

const MINUTE_MS = 60_000
/** The heartbeat keeps the difference below this. */
const CLOCK_BEHIND_MAX_MS = 5 * MINUTE_MS
const CLOCK_APART_MAX_MS = MINUTE_MS
const STEP_SHOWN_MS = 7 * 24 * 60 * MINUTE_MS
const SYNCHRONISE = 'Let the machine synchronise its clock, for example with "timedatectl set-ntp true".'

/** Compared with the newest record, and with the clock at the public address: a proxy may run on another machine. */
export async function checkClock({ deps, visit }: Scene): Promise<Found> {
  const at = deps.now()
  await linkEntries(deps)
  const newest = (await readHead(deps.db))?.at
  if (newest !== undefined && newest - at > CLOCK_BEHIND_MAX_MS)
    return problem(`The clock says ${secondOf(at)}, but the newest audit record is from ${secondOf(newest)}.`, SYNCHRONISE)
  const { date } = (await visit).answer ?? {}
  if (date !== undefined && Math.abs(date - at) > CLOCK_APART_MAX_MS) {
    const apart = Math.round(Math.abs(date - at) / 1000)
    return warning(`The clock differs by ${apart} seconds from the one at the public address.`, SYNCHRONISE)
  }
  const step = await readLatestAt(deps.db, 'clock.stepped')
  if (step !== undefined && at - step < STEP_SHOWN_MS)
    return warning(`The clock was set, or the machine slept, about ${secondOf(step)}.`, SYNCHRONISE)
  return ok(`The clock says ${secondOf(at)}.`)
}

export async function checkOpenFiles({ isServer }: Scene): Promise<Found> {
  const limit = openFilesLimit()
  const who = isServer ? 'The service' : 'A process started from here'
  if (limit === undefined) return ok('This system does not say how many files a process may open.')
  if (limit >= OPEN_FILES_MIN) return ok(`${who} may open ${limit} files and connections.`)
  return warning(
    `${who} may open only ${limit} files and connections: with many phones at once, some will be refused.`,
    `Allow ${OPEN_FILES_MIN}: "ulimit -n ${OPEN_FILES_MIN}", or LimitNOFILE=${OPEN_FILES_MIN} for systemd.`,
  )
}
