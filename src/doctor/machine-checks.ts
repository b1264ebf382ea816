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
const SYNCHRONISE = {
  en: 'Let the machine synchronise its clock, for example with "timedatectl set-ntp true".',
  de: 'Lassen Sie die Maschine ihre Uhr stellen, zum Beispiel mit „timedatectl set-ntp true“.',
}

/**
 * The machine's clock is compared with the newest record, with that of the service, which never goes back, and with the one at
 * the public address: a proxy may run on another machine.
 */
export async function checkClock({ deps, visit }: Scene): Promise<Found> {
  const at = deps.wall()
  await linkEntries(deps)
  const shown = Math.max((await readHead(deps.db))?.at ?? 0, deps.now())
  if (shown - at > CLOCK_BEHIND_MAX_MS)
    return problem({
      en: [`The clock says ${secondOf(at)}, but here it was ${secondOf(shown)} already.`, SYNCHRONISE.en],
      de: [`Die Uhr zeigt ${secondOf(at)}, aber hier war es schon ${secondOf(shown)}.`, SYNCHRONISE.de],
    })
  const { date } = (await visit).answer ?? {}
  if (date !== undefined && Math.abs(date - at) > CLOCK_APART_MAX_MS) {
    const apart = Math.round(Math.abs(date - at) / 1000)
    return warning({
      en: [`The clock differs by ${apart} seconds from the one at the public address.`, SYNCHRONISE.en],
      de: [`Die Uhr weicht um ${apart} Sekunden von der an der öffentlichen Adresse ab.`, SYNCHRONISE.de],
    })
  }
  const step = await readLatestAt(deps.db, 'clock.stepped')
  if (step !== undefined && at - step < STEP_SHOWN_MS)
    return warning({
      en: [`The clock was set, or the machine slept, about ${secondOf(step)}.`, SYNCHRONISE.en],
      de: [`Die Uhr wurde gestellt, oder die Maschine schlief, etwa am ${secondOf(step)}.`, SYNCHRONISE.de],
    })
  return ok({ en: `The clock says ${secondOf(at)}.`, de: `Die Uhr zeigt ${secondOf(at)}.` })
}

export async function checkOpenFiles({ isServer }: Scene): Promise<Found> {
  const limit = openFilesLimit()
  const who = isServer
    ? { en: 'The service', de: 'Der Dienst' }
    : { en: 'A process started from here', de: 'Ein von hier gestartetes Programm' }
  if (limit === undefined)
    return ok({
      en: 'This system does not say how many files a process may open.',
      de: 'Dieses System sagt nicht, wie viele Dateien ein Programm öffnen darf.',
    })
  if (limit >= OPEN_FILES_MIN)
    return ok({
      en: `${who.en} may open ${limit} files and connections.`,
      de: `${who.de} darf ${limit} Dateien und Verbindungen öffnen.`,
    })
  const commands = [`"ulimit -n ${OPEN_FILES_MIN}"`, `LimitNOFILE=${OPEN_FILES_MIN}`] as const
  return warning({
    en: [
      `${who.en} may open only ${limit} files and connections: with many phones at once, some will be refused.`,
      `Allow ${OPEN_FILES_MIN}: ${commands[0]}, or ${commands[1]} for systemd.`,
    ],
    de: [
      `${who.de} darf nur ${limit} Dateien und Verbindungen öffnen: Bei vielen Telefonen zugleich werden einige abgewiesen.`,
      `Erlauben Sie ${OPEN_FILES_MIN}: ${commands[0]}, oder ${commands[1]} für systemd.`,
    ],
  })
}
