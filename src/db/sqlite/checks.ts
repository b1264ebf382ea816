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
  if (role === 'server') return ok({ en: 'The service is running.', de: 'Der Dienst läuft.' })
  if (isServerRunning(dir)) return ok({ en: `A service is running on ${dir}.`, de: `Auf ${dir} läuft ein Dienst.` })
  return warning({
    en: [`No service is running on ${dir}.`, 'Start it: vidimus serve'],
    de: [`Auf ${dir} läuft kein Dienst.`, 'Starten Sie ihn: vidimus serve'],
  })
}

async function checkFile({ dir }: Checked): Promise<Found> {
  const file = databaseFile(dir)
  const bytes = sizeOf(file)
  const size = `${Math.ceil(bytes / MIB_BYTES)} MiB`
  switch (bytes > READ_BYTES_MAX ? 'late' : await soundnessOf(file)) {
    case 'damaged':
      return problem({
        en: ['The database is damaged.', 'Stop the service, and replace the database with "vidimus restore".'],
        de: ['Die Datenbank ist beschädigt.', 'Halten Sie den Dienst an, und ersetzen Sie die Datenbank mit „vidimus restore“.'],
      })
    case 'late':
      return warning({
        en: [
          'The database is too large to read every page within this check.',
          'Run "vidimus backup FILE": it checks every page of the copy.',
        ],
        de: [
          'Die Datenbank ist zu groß, um in dieser Prüfung jede Seite zu lesen.',
          'Rufen Sie „vidimus backup DATEI“ auf: Das prüft jede Seite der Kopie.',
        ],
      })
    case 'sound':
      return ok({ en: `The database is undamaged (${size}).`, de: `Die Datenbank ist unbeschädigt (${size}).` })
  }
}

/** A thread with its own connection reads every page: the service must not wait for that. */
async function soundnessOf(file: string): Promise<Soundness | 'late'> {
  const worker = hireThread('db/sqlite/integrity-worker')
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

export function checkMasterKey({ masterKey }: Pick<Checked, 'masterKey'>): Found {
  const { file, isGiven } = masterKey
  if (!existsSync(file))
    return problem({
      en: [`${file} is missing: the next start will fail.`, 'Put it back from your safe copy.'],
      de: [`${file} fehlt: Der nächste Start wird scheitern.`, 'Legen Sie die Datei aus Ihrer sicheren Kopie zurück.'],
    })
  const remedy = modeRemedy(masterKey)
  if (remedy)
    return problem({
      en: [`${file} can be read by others: the next start will fail.`, `Run: ${remedy}`],
      de: [`${file} ist für andere lesbar: Der nächste Start wird scheitern.`, `Rufen Sie auf: ${remedy}`],
    })
  return ok({
    en: `Only its owner${isGiven ? ' or group' : ''} can read the master key. Keep a copy of it elsewhere.`,
    de: `Nur der Eigentümer${isGiven ? ' oder seine Gruppe' : ''} kann den Hauptschlüssel lesen. Bewahren Sie anderswo eine Kopie auf.`,
  })
}

function checkDisk({ space }: Checked): Found {
  const free = space.free()
  const size = free < ROOMY_BYTES ? `${Math.floor(free / MIB_BYTES)} MiB` : `${(free / GIB_BYTES).toFixed(1)} GiB`
  const remedy = {
    en: 'Make room on the disk of the data directory.',
    de: 'Schaffen Sie Platz auf der Platte des Datenverzeichnisses.',
  }
  const hasBallast = space.hasBallast()
  if (!hasBallast && free < ROOMY_BYTES)
    return problem({
      en: [`The disk is nearly full: ${size} free, and no reserve for erasing is left.`, remedy.en],
      de: [`Die Platte ist fast voll: ${size} frei, und keine Reserve zum Löschen mehr.`, remedy.de],
    })
  if (free < ROOMY_BYTES)
    return warning({
      en: [`The disk is nearly full: ${size} free.`, remedy.en],
      de: [`Die Platte ist fast voll: ${size} frei.`, remedy.de],
    })
  const reserve = `${BALLAST_BYTES / MIB_BYTES} MiB`
  return ok({
    en: `${size} free; ${hasBallast ? `${reserve} are held back for erasing` : `a running service holds back ${reserve} for erasing`}.`,
    de: `${size} frei; ${hasBallast ? `${reserve} sind zum Löschen zurückgelegt` : `ein laufender Dienst legt ${reserve} zum Löschen zurück`}.`,
  })
}

function checkBackups({ dir, backups: plan, now }: Checked): Found {
  if (!plan)
    return warning({
      en: ['The service makes no backups.', 'Set VIDIMUS_BACKUPS, or make sure that something else makes them.'],
      de: ['Der Dienst macht keine Sicherungen.', 'Setzen Sie VIDIMUS_BACKUPS, oder sorgen Sie anders für Sicherungen.'],
    })
  const folder = backupsFolder(dir)
  const at = now()
  const newest = goodBackups(listBackups(folder), at).at(-1)
  const failed = lastFailure(folder)
  if (failed && failed.at > (newest?.at ?? 0))
    return problem({
      en: [`The last backup failed at ${secondOf(failed.at)} (${failed.failure}).`, 'See backup.failed in the log.'],
      de: [`Die letzte Sicherung ist am ${secondOf(failed.at)} gescheitert (${failed.failure}).`, 'Siehe backup.failed im Log.'],
    })
  if (!newest)
    return warning({
      en: ['There is no backup yet.', 'A running service makes the first one within minutes.'],
      de: ['Es gibt noch keine Sicherung.', 'Ein laufender Dienst macht die erste binnen Minuten.'],
    })
  const ageMs = at - newest.at
  const ageMaxMs = plan.hourly > 0 ? 2 * HOUR_MS : 2 * DAY_MS
  const [hours, days] = [Math.floor(ageMs / HOUR_MS), Math.floor(ageMs / DAY_MS)]
  const age = ageMs < 2 * DAY_MS ? { en: `${hours} hours`, de: `${hours} Stunden` } : { en: `${days} days`, de: `${days} Tage` }
  if (ageMs > ageMaxMs)
    return warning({
      en: [`The newest backup is ${age.en} old.`, 'Start the service; see backup.failed in the log.'],
      de: [`Die neueste Sicherung ist ${age.de} alt.`, 'Starten Sie den Dienst; siehe backup.failed im Log.'],
    })
  return ok({
    en: `The newest backup is from ${secondOf(newest.at)} and was checked. Keep one on another machine too.`,
    de: `Die neueste Sicherung ist vom ${secondOf(newest.at)} und geprüft. Bewahren Sie auch eine auf einer anderen Maschine auf.`,
  })
}
