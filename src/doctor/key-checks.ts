import { existsSync } from 'node:fs'
import { type Found, notSetUp, ok, problem, secondOf, warning } from '../db/check.ts'
import { fileOf, isClosedFile, isOpenFile } from '../session-keys/files.ts'
import { currentOf, neededOf } from '../session-keys/keys.ts'
import { readProgress } from '../upkeep/seal-again.ts'
import type { Scene } from './scene.ts'

const DAY_MS = 86_400_000
/** The key turns daily; a run that was missed is made up for within hours. */
const AGE_MAX_MS = 2 * DAY_MS

type Rows = Parameters<typeof neededOf>[0]

/** The file of a wrapping key that is needed, and missing or wrong. */
export function missingKeyFile({ config, sessionKeys }: Scene['deps'], rows: Rows): string | undefined {
  const isMissing = (row: Rows[number]) => !existsSync(fileOf(config.keyDir, row.id)) || !sessionKeys.isReadable(row)
  const missing = neededOf(rows).find(isMissing)
  return missing && fileOf(config.keyDir, missing.id)
}

/** Says which promise holds for what is erased. */
export async function checkWrappingKeys({ deps }: Scene): Promise<Found> {
  const { config, db, sessionKeys, now } = deps
  const { keyDir, keyWindowDays } = config
  const rows = await sessionKeys.look(db)
  const current = currentOf(rows)
  const file = missingKeyFile(deps, rows)
  if (file !== undefined && isClosedFile(file))
    return problem({
      en: [
        `This user may not read ${file}: verifications cannot be read, and the next start will fail.`,
        'Let the user of the service read it.',
      ],
      de: [
        `Dieser Benutzer darf ${file} nicht lesen: Prüfungen sind nicht lesbar, und der nächste Start wird scheitern.`,
        'Lassen Sie den Benutzer des Dienstes die Datei lesen.',
      ],
    })
  if (file !== undefined) {
    return problem({
      en: [
        `${file} is missing or wrong: verifications cannot be read, and the next start will fail.`,
        'Put it back from your safe copy of the key directory.',
      ],
      de: [
        `${file} fehlt oder ist falsch: Prüfungen sind nicht lesbar, und der nächste Start wird scheitern.`,
        'Legen Sie die Datei aus Ihrer sicheren Kopie des Schlüsselverzeichnisses zurück.',
      ],
    })
  }
  const open = neededOf(rows)
    .map(({ id }) => fileOf(keyDir, id))
    .find(isOpenFile)
  if (open !== undefined)
    return problem({
      en: [`${open} can be read by others: the next start will fail.`, `Run: chmod 600 ${open}`],
      de: [`${open} ist für andere lesbar: Der nächste Start wird scheitern.`, `Führen Sie aus: chmod 600 ${open}`],
    })
  if (!current?.activeAt)
    return notSetUp({
      en: ['There is no wrapping key yet.', 'Start the service once: the first start creates it.'],
      de: ['Es gibt noch keinen Hüllschlüssel.', 'Starten Sie den Dienst einmal: Der erste Start erzeugt ihn.'],
    })
  const unsealed = await readProgress(deps)
  if (unsealed && unsealed.total > 0)
    return warning({
      en: [
        `${unsealed.count} of ${unsealed.total} verifications are sealed under the newest keys; for the others old keys still count.`,
        'Let the service run: it continues by itself.',
      ],
      de: [
        `${unsealed.count} von ${unsealed.total} Prüfungen sind mit den neuesten Schlüsseln versiegelt; für die anderen zählen noch alte.`,
        'Lassen Sie den Dienst laufen: Er macht von selbst weiter.',
      ],
    })
  const ageMs = now() - current.activeAt
  if (rows.some(({ activeAt, unreadableAt }) => activeAt === null && unreadableAt !== null))
    return warning({
      en: [
        `The wrapping key does not turn, because not every node can read ${keyDir}. ${UNTIL_IT_TURNS.en}`,
        'Let all nodes share this directory, on any network volume.',
      ],
      de: [
        `Der Hüllschlüssel wechselt nicht, weil nicht jeder Knoten ${keyDir} lesen kann. ${UNTIL_IT_TURNS.de}`,
        'Lassen Sie alle Knoten dieses Verzeichnis teilen, auf einem beliebigen Netzlaufwerk.',
      ],
    })
  if (ageMs > AGE_MAX_MS) {
    const days = Math.floor(ageMs / DAY_MS)
    return warning({
      en: [
        `The wrapping key has not turned for ${days} days. ${UNTIL_IT_TURNS.en}`,
        `Let the service write to ${keyDir}; see keys.not_turned in the log.`,
      ],
      de: [
        `Der Hüllschlüssel hat seit ${days} Tagen nicht gewechselt. ${UNTIL_IT_TURNS.de}`,
        `Lassen Sie den Dienst nach ${keyDir} schreiben; siehe keys.not_turned im Log.`,
      ],
    })
  }
  const since = secondOf(current.activeAt)
  return ok({
    en: `The wrapping key is in use since ${since}. What is erased cannot be read from any copy after ${keyWindowDays + 1} days.`,
    de: `Der Hüllschlüssel ist seit ${since} in Gebrauch. Gelöschtes ist nach ${keyWindowDays + 1} Tagen aus keiner Kopie mehr lesbar.`,
  })
}

const UNTIL_IT_TURNS = {
  en: 'What is erased can be read from old copies, with the keys, until it turns.',
  de: 'Gelöschtes ist bis zum Wechsel aus alten Kopien mit den Schlüsseln lesbar.',
}
