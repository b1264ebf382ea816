// Refusals of a data directory or database, by a start or a command.
import { sha256Hex } from '../base/hash.ts'

/** Each refusal has an exit code of its own, for scripts that start the service. */
export const REFUSALS = {
  sqlite_too_old: 10,
  directory_in_use: 11,
  database_damaged: 12,
  key_missing: 13,
  key_readable_by_others: 14,
  key_wrong: 15,
  schema_newer: 16,
  clock_behind: 17,
  directory_unusable: 18,
  network_file_system: 19,
  database_unreachable: 20,
  database_refused: 21,
  clock_apart: 22,
  postgres_too_old: 23,
  encoding_wrong: 24,
  not_durable: 25,
  database_read_only: 26,
  rights_missing: 27,
  schema_older: 28,
  database_moved: 29,
  before_first_release: 30,
} as const

export class StartRefusal extends Error {
  override name = 'StartRefusal'
  readonly exitCode: number
  constructor(
    readonly reason: keyof typeof REFUSALS,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause })
    this.exitCode = REFUSALS[reason]
  }
}

type FirstMigration = { id: string; sql: string }

/**
 * Refuses a database of a program before 0.1.0. The first migration was edited in place until that release, and never since: who
 * has another one is older. `otherwise` says how to begin anew.
 */
export function refuseBeforeFirstRelease(
  applied: readonly { id: string; sha256: string }[],
  { id, sql }: FirstMigration,
  otherwise: string,
): void {
  if (applied.length === 0 || applied.some(each => each.id === id && each.sha256 === sha256Hex(sql))) return
  throw new StartRefusal(
    'before_first_release',
    `This database was made before 0.1.0, which cannot read it. Keep the old program for it, or start with ${otherwise}.`,
  )
}

/** A command does not upgrade a database: a server of the earlier version may run on it, and there is no way back. */
export class OlderDatabase extends Error {
  override name = 'OlderDatabase'
  constructor() {
    super('the database is of an earlier version than this program; stop the service and run "vidimus upgrade"')
  }
}
