import { existsSync } from 'node:fs'
import { hireThread } from '../../threads.ts'
import { type Clock, within } from '../../time.ts'
import { type EngineCheck, type Found, ok, problem, runCheck, secondOf, warning } from '../check.ts'
import { backupsFolder } from '../files.ts'
import { type MasterKey, modeRemedy } from '../root-key.ts'
import { type BackupPlan, goodBackups, lastFailure, listBackups } from './backup-list.ts'
import type { Role } from './data-dir.ts'
import { databaseFile, sizeOf } from './files.ts'
import type { Soundness } from './integrity-worker.ts'
import { isServerRunning } from './locks.ts'
import { BALLAST_BYTES, ROOMY_BYTES, type Space } from './space.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MIB_BYTES = 1024 * 1024
const GIB_BYTES = 1024 * MIB_BYTES
const READING_MS_MAX = 4000
/** A larger file is not read: the thread cannot be interrupted, and the log cannot be emptied while it reads. */
const READ_BYTES_MAX = 512 * MIB_BYTES

type Checked = {
  dir: string
  masterKey: MasterKey
  role: Role
  space: Space
  now: Clock
  /** Undefined when the service makes no backups. */
  backups: BackupPlan | undefined
}

export async function runChecks(checked: Checked): Promise<EngineCheck[]> {
  const check = async (name: EngineCheck['name'], find: (checked: Checked) => Found | Promise<Found>) => ({
    name,
    ...(await runCheck(() => find(checked))),
  })
  return await Promise.all([
    check('server', checkServer),
    check('database', checkFile),
    check('master_key', checkMasterKey),
    check('disk', checkDisk),
    check('backups', checkBackups),
  ])
}

function checkServer({ dir, role }: Checked): Found {
  if (role === 'server') return ok('The service is running.')
  if (isServerRunning(dir)) return ok(`A service is running on ${dir}.`)
  return warning(`No service is running on ${dir}.`, 'Start it: vidimus serve')
}

async function checkFile({ dir }: Checked): Promise<Found> {
  const file = databaseFile(dir)
  const bytes = sizeOf(file)
  switch (bytes > READ_BYTES_MAX ? 'late' : await soundnessOf(file)) {
    case 'damaged':
      return problem('The database is damaged.', 'Stop the service, and replace the database with "vidimus restore".')
    case 'late':
      return warning(
        'The database is too large to read every page within this check.',
        'Run "vidimus backup FILE": it checks every page of the copy.',
      )
    case 'sound':
      return ok(`The database is undamaged (${Math.ceil(bytes / MIB_BYTES)} MiB).`)
  }
}

/** In a thread with its own connection: it reads every page, and the service must not wait for that. */
async function soundnessOf(file: string): Promise<Soundness | 'late'> {
  const worker = hireThread('db/sqlite/integrity-worker')
  try {
    const soundness = new Promise<Soundness>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<Soundness>) => resolve(data))
      worker.addEventListener('error', event => {
        // Otherwise the runtime would end this process too.
        event.preventDefault()
        reject(new Error('the thread failed'))
      })
    })
    worker.postMessage(file)
    return await within<Soundness | 'late'>(READING_MS_MAX, soundness, () => 'late')
  } finally {
    worker.terminate()
  }
}

export function checkMasterKey({ masterKey }: Pick<Checked, 'masterKey'>): Found {
  const { file, isGiven } = masterKey
  if (!existsSync(file)) return problem(`${file} is missing: the next start will fail.`, 'Put it back from your safe copy.')
  const remedy = modeRemedy(masterKey)
  if (remedy) return problem(`${file} can be read by others: the next start will fail.`, `Run: ${remedy}`)
  return ok(`Only its owner${isGiven ? ' or group' : ''} can read the master key. Keep a copy of it elsewhere.`)
}

function checkDisk({ space }: Checked): Found {
  const free = space.free()
  const text = free < ROOMY_BYTES ? `${Math.floor(free / MIB_BYTES)} MiB free` : `${(free / GIB_BYTES).toFixed(1)} GiB free`
  const remedy = 'Make room on the disk of the data directory.'
  const hasBallast = space.hasBallast()
  if (!hasBallast && free < ROOMY_BYTES)
    return problem(`The disk is nearly full: ${text}, and no reserve for erasing is left.`, remedy)
  if (free < ROOMY_BYTES) return warning(`The disk is nearly full: ${text}.`, remedy)
  const reserve = `${BALLAST_BYTES / MIB_BYTES} MiB`
  const held = hasBallast ? `${reserve} are held back for erasing` : `a running service holds back ${reserve} for erasing`
  return ok(`${text}; ${held}.`)
}

function checkBackups({ dir, backups: plan, now }: Checked): Found {
  if (!plan) return warning('The service makes no backups.', 'Set VIDIMUS_BACKUPS, or make sure that something else makes them.')
  const folder = backupsFolder(dir)
  const at = now()
  const newest = goodBackups(listBackups(folder), at).at(-1)
  const failed = lastFailure(folder)
  if (failed && failed.at > (newest?.at ?? 0))
    return problem(`The last backup failed at ${secondOf(failed.at)} (${failed.failure}).`, 'See backup.failed in the log.')
  if (!newest) return warning('There is no backup yet.', 'A running service makes the first one within minutes.')
  const ageMs = at - newest.at
  const ageMaxMs = plan.hourly > 0 ? 2 * HOUR_MS : 2 * DAY_MS
  const age = ageMs < 2 * DAY_MS ? `${Math.floor(ageMs / HOUR_MS)} hours` : `${Math.floor(ageMs / DAY_MS)} days`
  if (ageMs > ageMaxMs) return warning(`The newest backup is ${age} old.`, 'Start the service; see backup.failed in the log.')
  return ok(`The newest backup is from ${secondOf(newest.at)} and was checked. Keep one on another machine too.`)
}
