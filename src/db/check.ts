// One check of an installation and its finding. The engine runs the checks of its own part, doctor runs the others.
import { describeFailure } from '../base/log.ts'
import { isoUtc, within } from '../base/time.ts'
import { sqlStateOf } from './postgres/session.ts'

const CHECK_MS_MAX = 5000
const LACKS_RIGHT = '42501'

/** `not_set_up`: neither in order nor wrong. */
export type Status = 'ok' | 'not_set_up' | 'warning' | 'problem'

/** The words of the pages make a sentence and a remedy of it. No value is personal or secret. */
export type Finding<S extends Status = Status, Code extends string = string, Values extends object = object> = {
  status: S
  code: Code
  values: Values
}

type None = Record<never, never>

export type CheckFailure =
  | Finding<'problem', 'right_lacking', None>
  | Finding<'problem', 'check_slow', { seconds: number }>
  | Finding<'problem', 'check_failed', { failure: string }>

export type Standbys =
  | Finding<'ok', 'no_standby', None>
  | Finding<'ok', 'standbys_synchronous', { synchronous: number; count: number }>
  | Finding<'ok', 'standbys_unseen', { count: number }>
  | Finding<'warning', 'standbys_behind', { behind: string }>

/** What the checks of either engine find. */
export type EngineFinding =
  | CheckFailure
  | Standbys
  | Finding<'ok', 'running', None>
  | Finding<'ok', 'running_on', { dir: string }>
  | Finding<'warning', 'not_running', { dir: string }>
  | Finding<'warning', 'no_node', None>
  | Finding<'warning', 'nodes_differ', { nodes: string[] }>
  | Finding<'ok', 'nodes_running', { nodes: string[] }>
  | Finding<'problem', 'file_damaged', None>
  | Finding<'warning', 'file_too_large', None>
  | Finding<'ok', 'file_sound', { size: string }>
  | Finding<'problem', 'commit_not_synchronous', None>
  | Finding<'warning', 'statements_unlimited', None>
  | Finding<'problem', 'rights_lacking', { tables: string[] }>
  | Finding<'problem', 'server_full', None>
  | Finding<'warning', 'rows_pile_up', { tables: string[] }>
  | Finding<'warning', 'no_checksums', None>
  | Finding<'warning', 'upgrade_unfinished', { migrations: string[] }>
  | Finding<'ok', 'postgres_answers', { version: string; standbys: Standbys }>
  | Finding<'problem', 'key_missing', { file: string }>
  | Finding<'problem', 'key_readable', { file: string; remedy: string }>
  | Finding<'ok', 'key_private', { isGiven: boolean }>
  | Finding<'problem', 'disk_full', { free: string }>
  | Finding<'warning', 'disk_low', { free: string }>
  | Finding<'ok', 'disk_roomy', { free: string; reserve: string; isHeld: boolean }>
  | Finding<'warning', 'backups_off', None>
  | Finding<'problem', 'backup_failed', { at: string; failure: string }>
  | Finding<'warning', 'no_backup', None>
  | Finding<'warning', 'backup_old', { hours: number }>
  | Finding<'ok', 'backup_good', { at: string }>
  | Finding<'warning', 'archive_off', None>
  | Finding<'problem', 'archive_failing', { since: string }>
  | Finding<'warning', 'archive_empty', None>
  | Finding<'warning', 'archive_old', { at: string }>
  | Finding<'warning', 'archive_good_directory_passing', { at: string; dir: string }>
  | Finding<'ok', 'archive_good', { at: string }>

export type EngineCheck = { name: 'server' | 'database' | 'master_key' | 'disk' | 'backups' } & EngineFinding

export const found =
  <S extends Status>(status: S) =>
  <Code extends string, Values extends object = None>(code: Code, values = {} as Values): Finding<S, Code, Values> => ({
    status,
    code,
    values,
  })

export const ok = found('ok')
export const notSetUp = found('not_set_up')
export const warning = found('warning')
export const problem = found('problem')

/** A check that fails or takes too long is a problem of its own; the others continue. */
export async function runCheck<Found>(check: () => Found | Promise<Found>): Promise<Found | CheckFailure> {
  const tooLate = (): Found | CheckFailure => problem('check_slow', { seconds: CHECK_MS_MAX / 1000 })
  try {
    return await within<Found | CheckFailure>(CHECK_MS_MAX, Promise.resolve(check()), tooLate)
  } catch (error) {
    if (sqlStateOf(error) === LACKS_RIGHT) return problem('right_lacking')
    return problem('check_failed', { failure: describeFailure(error) })
  }
}

/** An instant, to the second. */
export const secondOf = (ms: number): string => isoUtc(ms).replace(/\.\d+Z$/, 'Z')
