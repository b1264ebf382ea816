import { type Found, ok, problem, someOf } from '../db/check.ts'
import { findUnreadable, type Reading } from '../verifications/unreadable.ts'
import { missingKeyFile } from './key-checks.ts'
import { checkOfEngine, type Scene } from './scene.ts'

const READING_MS_MAX = 4000

/** The engine reads every page; here every sealed verification is opened. */
export async function checkDatabase(scene: Scene): Promise<Found> {
  const { deps, tenants } = scene
  const signal = AbortSignal.timeout(READING_MS_MAX)
  const ids = tenants.then(all => all.map(({ id }) => id))
  const reading = ids.then(all => findUnreadable(deps, all, signal))
  // It fails on a damaged database, which the engine reports.
  reading.catch(() => {})
  const found = await checkOfEngine(scene, 'database')
  if (found.status === 'problem') return found
  const { unreadable, looked, isComplete } = await reading
  if (unreadable.length === 0) return withReading(found, { looked, isComplete })
  const file = missingKeyFile(deps, await deps.sessionKeys.look(deps.db))
  if (file !== undefined)
    return problem({
      en: [
        `Without ${file} these verifications cannot be decrypted: ${someOf(unreadable)}.`,
        'Put it back from your safe copy of the key directory, and erase none of them.',
      ],
      de: [
        `Ohne ${file} lassen sich diese Prüfungen nicht entschlüsseln: ${someOf(unreadable, 'de')}.`,
        'Legen Sie die Datei aus Ihrer sicheren Kopie des Schlüsselverzeichnisses zurück, und löschen Sie keine von ihnen.',
      ],
    })
  return problem({
    en: [
      `These verifications cannot be decrypted any more, and lists that contain them fail: ${someOf(unreadable)}.`,
      'Erase them; or stop the service, and restore a backup.',
    ],
    de: [
      `Diese Prüfungen lassen sich nicht mehr entschlüsseln, und Listen mit ihnen scheitern: ${someOf(unreadable, 'de')}.`,
      'Löschen Sie sie; oder halten Sie den Dienst an, und spielen Sie eine Sicherung zurück.',
    ],
  })
}

function withReading(found: Found, { looked, isComplete }: Pick<Reading, 'looked' | 'isComplete'>): Found {
  if (found.status === 'warning') return found
  const opened = isComplete
    ? { en: 'Every verification', de: 'Jede Prüfung' }
    : {
        en: `Within the time of this check, each of ${looked} verifications`,
        de: `In der Zeit dieser Untersuchung jede von ${looked} Prüfungen`,
      }
  return ok({ en: `${found.detail} ${opened.en} can be read.`, de: `${found.de.detail} ${opened.de} ist lesbar.` })
}
