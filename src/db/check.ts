// One check of an installation and its finding. The engine runs the checks of its own part, doctor runs the others.
import { describeFailure } from '../log.ts'
import { isoUtc, within } from '../time.ts'

const CHECK_MS_MAX = 5000

/** Neither text holds anything personal or secret. */
export type Found = { status: 'ok' | 'warning' | 'problem'; detail: string; remedy?: string }

export type EngineCheck = { name: 'server' | 'database' | 'master_key' | 'disk' | 'backups' } & Found

export const ok = (detail: string): Found => ({ status: 'ok', detail })

export const warning = (detail: string, remedy: string): Found => ({ status: 'warning', detail, remedy })

export const problem = (detail: string, remedy: string): Found => ({ status: 'problem', detail, remedy })

/** A check that fails or takes too long is a problem of its own; the others continue. */
export async function runCheck(check: () => Found | Promise<Found>): Promise<Found> {
  const tooLate = () =>
    problem(`The check took longer than ${CHECK_MS_MAX / 1000} seconds.`, 'Try again when the machine is less busy.')
  try {
    return await within(CHECK_MS_MAX, Promise.resolve(check()), tooLate)
  } catch (error) {
    return problem(`The check itself failed (${describeFailure(error)}).`, 'Try again; if it happens again, report this line.')
  }
}

/** An instant, to the second. */
export const secondOf = (ms: number): string => isoUtc(ms).replace(/\.\d+Z$/, 'Z')

/** The first few names, and the number of the others. */
export function someOf(names: string[], countMax = 5): string {
  const more = names.length - countMax
  return more > 0 ? `${names.slice(0, countMax).join(', ')} and ${more} more` : names.join(', ')
}
