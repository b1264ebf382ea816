// One check of an installation and its finding. The engine runs the checks of its own part, doctor runs the others.
import { describeFailure } from '../log.ts'
import { isoUtc, within } from '../time.ts'
import { sqlStateOf } from './postgres/session.ts'

const CHECK_MS_MAX = 5000
const LACKS_RIGHT = '42501'

/** The languages of the pages. Commands print the English sentences. */
type Language = 'en' | 'de'

type Sentences = { detail: string; remedy?: string }

/** `not_set_up`: neither in order nor wrong. No text holds anything personal or secret. */
export type Found = { status: 'ok' | 'not_set_up' | 'warning' | 'problem'; de: Sentences } & Sentences

export type EngineCheck = { name: 'server' | 'database' | 'master_key' | 'disk' | 'backups' } & Found

/** The finding in both languages; the remedy follows where there is one. */
type Told = Readonly<Record<Language, string>>
type ToldWithRemedy = Readonly<Record<Language, readonly [detail: string, remedy: string]>>

export const ok = ({ en, de }: Told): Found => ({ status: 'ok', detail: en, de: { detail: de } })

export const notSetUp = (told: ToldWithRemedy): Found => foundWith('not_set_up', told)

export const warning = (told: ToldWithRemedy): Found => foundWith('warning', told)

export const problem = (told: ToldWithRemedy): Found => foundWith('problem', told)

const foundWith = (status: Found['status'], { en, de }: ToldWithRemedy): Found => ({
  status,
  detail: en[0],
  remedy: en[1],
  de: { detail: de[0], remedy: de[1] },
})

const LACKING = problem({
  en: [
    'The user of VIDIMUS_DATABASE_URL lacks a right that this check needs.',
    'Run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL, which grants it.',
  ],
  de: [
    'Dem Benutzer aus VIDIMUS_DATABASE_URL fehlt ein Recht, das diese Prüfung braucht.',
    'Rufen Sie „vidimus upgrade“ mit VIDIMUS_DATABASE_OWNER_URL auf; das erteilt es.',
  ],
})

/** A check that fails or takes too long is a problem of its own; the others continue. */
export async function runCheck(check: () => Found | Promise<Found>): Promise<Found> {
  const seconds = CHECK_MS_MAX / 1000
  const tooLate = () =>
    problem({
      en: [`The check took longer than ${seconds} seconds.`, 'Try again when the machine is less busy.'],
      de: [
        `Die Prüfung dauerte länger als ${seconds} Sekunden.`,
        'Versuchen Sie es wieder, wenn die Maschine weniger zu tun hat.',
      ],
    })
  try {
    return await within(CHECK_MS_MAX, Promise.resolve(check()), tooLate)
  } catch (error) {
    if (sqlStateOf(error) === LACKS_RIGHT) return LACKING
    const failure = describeFailure(error)
    return problem({
      en: [`The check itself failed (${failure}).`, 'Try again; if it happens again, report this line.'],
      de: [
        `Die Prüfung selbst ist gescheitert (${failure}).`,
        'Versuchen Sie es noch einmal; geschieht es wieder, melden Sie diese Zeile.',
      ],
    })
  }
}

/** An instant, to the second. */
export const secondOf = (ms: number): string => isoUtc(ms).replace(/\.\d+Z$/, 'Z')

/** The first few names, and the number of the others. */
export function someOf(names: string[], language: Language = 'en', countMax = 5): string {
  const more = names.length - countMax
  const others = { en: `and ${more} more`, de: `und ${more} weitere` }[language]
  return more > 0 ? `${names.slice(0, countMax).join(', ')} ${others}` : names.join(', ')
}
