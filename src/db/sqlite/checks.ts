import { startThread } from '../../base/threads.ts'
import { type Clock, within } from '../../base/time.ts'
import { type BackupPlan, goodBackups, lastFailure, listBackups } from '../backup-list.ts'
import { type EngineCheck, type EngineFinding, ok, problem, runCheck, secondOf, warning } from '../check.ts'
import { databaseFile, sizeOf } from '../database-file.ts'
import type { Space } from '../engine.ts'
import { backupsFolder } from '../files.ts'
import { checkMasterKey, type MasterKey } from '../root-key.ts'
import type { Role } from './data-dir.ts'
import type { Soundness } from './integrity-worker.ts'
import { isServerRunning } from './locks.ts'
import { BALLAST_BYTES, ROOMY_BYTES } from './space.ts'

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

const CHECKS: [EngineCheck['name'], (checked: Checked) => EngineFinding | Promise<EngineFinding>][] = [
  ['server', checkServer],
  ['database', checkFile],
  ['master_key', checkMasterKey],
  ['disk', checkDisk],
  ['backups', checkBackups],
]

export async function runChecks(checked: Checked, names: readonly string[]): Promise<EngineCheck[]> {
  const wanted = CHECKS.filter(([name]) => names.includes(name))
  return await Promise.all(wanted.map(async ([name, find]) => ({ name, ...(await runCheck(() => find(checked))) })))
}

function checkServer({ dir, role }: Checked): EngineFinding {
  if (role === 'server') return ok('running')
  return isServerRunning(dir) ? ok('running_on', { dir }) : warning('not_running', { dir })
}

async function checkFile({ dir }: Checked): Promise<EngineFinding> {
  const file = databaseFile(dir)
  const bytes = sizeOf(file)
  switch (bytes > READ_BYTES_MAX ? 'late' : await soundnessOf(file)) {
    case 'damaged':
      return problem('file_damaged')
    case 'late':
      return warning('file_too_large')
    case 'sound':
      return ok('file_sound', { size: `${Math.ceil(bytes / MIB_BYTES)} MiB` })
  }
}

/** A thread with its own connection reads every page: the service must not wait for that. */
async function soundnessOf(file: string): Promise<Soundness | 'late'> {
  const worker = startThread('db/sqlite/integrity-worker')
  try {
    const soundness = new Promise<Soundness>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<Soundness>) => resolve(data))
      worker.addEventListener('error', event => {
        // The runtime would otherwise end this process too.
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

function checkDisk({ space }: Checked): EngineFinding {
  const bytes = space.free()
  const free = bytes < ROOMY_BYTES ? `${Math.floor(bytes / MIB_BYTES)} MiB` : `${(bytes / GIB_BYTES).toFixed(1)} GiB`
  const isHeld = space.hasBallast()
  if (bytes < ROOMY_BYTES) return isHeld ? warning('disk_low', { free }) : problem('disk_full', { free })
  return ok('disk_roomy', { free, reserve: `${BALLAST_BYTES / MIB_BYTES} MiB`, isHeld })
}

function checkBackups({ dir, backups: plan, now }: Checked): EngineFinding {
  if (!plan) return warning('backups_off')
  const folder = backupsFolder(dir)
  const at = now()
  const newest = goodBackups(listBackups(folder), at).at(-1)
  const failed = lastFailure(folder)
  if (failed && failed.at > (newest?.at ?? 0))
    return problem('backup_failed', { at: secondOf(failed.at), failure: failed.failure })
  if (!newest) return warning('no_backup')
  const ageMs = at - newest.at
  if (ageMs > (plan.hourly > 0 ? 2 * HOUR_MS : 2 * DAY_MS)) return warning('backup_old', { hours: Math.floor(ageMs / HOUR_MS) })
  return ok('backup_good', { at: secondOf(newest.at) })
}
