import { statSync } from 'node:fs'
import { readHead, readLatestAt } from '../audit/browse.ts'
import { listBackups } from '../db/sqlite/backup-list.ts'
import { backupsFolder, keyFileOf, sizeOf } from '../db/sqlite/files.ts'
import { isServerRunning } from '../db/sqlite/locks.ts'
import { BALLAST_BYTES, ballastIn, ROOMY_BYTES } from '../db/sqlite/space.ts'
import { goodBackups, lastFailure } from '../upkeep/backup-files.ts'
import { type Found, ok, problem, secondOf, warning } from './check.ts'
import { OPEN_FILES_MIN, openFilesLimit } from './open-files.ts'
import type { Scene } from './scene.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const MIB_BYTES = 1024 * 1024
const GIB_BYTES = 1024 * MIB_BYTES
/** The hourly check is late by less. */
const CLOCK_BEHIND_MAX_MS = 5 * MINUTE_MS
const CLOCK_APART_MAX_MS = MINUTE_MS
const STEP_TOLD_MS = 7 * DAY_MS
const SYNCHRONISE = 'Let the machine synchronise its clock, as with "timedatectl set-ntp true".'

export async function checkServer({ deps, isServer }: Scene): Promise<Found> {
  if (isServer) return ok('The service is running.')
  const { dataDir } = deps.config
  if (isServerRunning(dataDir)) return ok(`A service is running on ${dataDir}.`)
  return warning(`No service is running on ${dataDir}.`, 'Start it: vidimus serve')
}

/** Against what this installation has seen, and against whoever answers at the public address: a proxy may be on another machine. */
export async function checkClock({ deps, visit }: Scene): Promise<Found> {
  const at = deps.now()
  const newest = (await readHead(deps.db))?.at
  if (newest !== undefined && newest - at > CLOCK_BEHIND_MAX_MS)
    return problem(`The clock says ${secondOf(at)}, but the newest record is of ${secondOf(newest)}.`, SYNCHRONISE)
  const { date } = (await visit).answer ?? {}
  if (date !== undefined && Math.abs(date - at) > CLOCK_APART_MAX_MS) {
    const apart = Math.round(Math.abs(date - at) / 1000)
    return warning(`The clock differs by ${apart} seconds from the one at the public address.`, SYNCHRONISE)
  }
  const step = await readLatestAt(deps.db, 'clock.stepped')
  if (step !== undefined && at - step < STEP_TOLD_MS)
    return warning(`The clock was set, or the machine slept, about ${secondOf(step)}.`, SYNCHRONISE)
  return ok(`The clock says ${secondOf(at)}, and nothing speaks against it.`)
}

export async function checkMasterKey({ deps }: Scene): Promise<Found> {
  const file = keyFileOf(deps.config.dataDir)
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) return problem(`${file} is missing: the next start will be refused.`, 'Put it back from your safe copy.')
  if (process.platform !== 'win32' && found.mode & 0o077)
    return problem(`${file} can be read by others: the next start will be refused.`, `Run: chmod 600 ${file}`)
  return ok('The master key is there, for its owner only. Keep a copy of it elsewhere.')
}

export async function checkDisk({ deps }: Scene): Promise<Found> {
  const free = deps.space.free()
  const text = free < ROOMY_BYTES ? `${Math.floor(free / MIB_BYTES)} MiB free` : `${(free / GIB_BYTES).toFixed(1)} GiB free`
  const room = 'Make room on the disk of the data directory.'
  const hasBallast = sizeOf(ballastIn(deps.config.dataDir)) >= BALLAST_BYTES
  if (!hasBallast && free < ROOMY_BYTES) return problem(`The disk is nearly full: ${text}, and nothing is held back.`, room)
  if (free < ROOMY_BYTES) return warning(`The disk is nearly full: ${text}.`, room)
  const held = hasBallast ? `${BALLAST_BYTES / MIB_BYTES} MiB are held back for erasing` : 'a running service holds 32 MiB back'
  return ok(`${text}; ${held}.`)
}

export async function checkBackups({ deps }: Scene): Promise<Found> {
  const { backups: plan, dataDir } = deps.config
  if (!plan)
    return warning('The service makes no backups of its own.', 'Set VIDIMUS_BACKUPS, or be sure that somebody else does.')
  const folder = backupsFolder(dataDir)
  const at = deps.now()
  const newest = goodBackups(listBackups(folder), at).at(-1)
  const failed = lastFailure(folder)
  if (failed && failed.at > (newest?.at ?? 0))
    return problem(`The last backup failed, at ${secondOf(failed.at)} (${failed.failure}).`, 'See backup.failed in the log.')
  if (!newest) return warning('There is no backup yet.', 'A running service makes the first within minutes.')
  const ageMs = at - newest.at
  const ageMaxMs = plan.hourly > 0 ? 2 * HOUR_MS : 2 * DAY_MS
  const age = ageMs < 2 * DAY_MS ? `${Math.floor(ageMs / HOUR_MS)} hours` : `${Math.floor(ageMs / DAY_MS)} days`
  if (ageMs > ageMaxMs) return warning(`The newest backup is ${age} old.`, 'Start the service; see backup.failed in the log.')
  return ok(`The newest backup is of ${secondOf(newest.at)}, and was checked. Keep one on another machine too.`)
}

export async function checkOpenFiles({ isServer }: Scene): Promise<Found> {
  const limit = openFilesLimit()
  const who = isServer ? 'The service' : 'A process started from here'
  if (limit === undefined) return ok('This system does not tell how many files a process may open.')
  if (limit >= OPEN_FILES_MIN) return ok(`${who} may open ${limit} files and connections.`)
  return warning(
    `${who} may open only ${limit} files and connections: many phones at once will be refused.`,
    `Allow ${OPEN_FILES_MIN}: "ulimit -n ${OPEN_FILES_MIN}", or LimitNOFILE=${OPEN_FILES_MIN} for systemd.`,
  )
}
