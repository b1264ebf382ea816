// Why a directory, a database or a backup is not used: each reason with its exit code, and a line that says what to do.
import { accessSync, constants, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MigrationError } from './migrate.ts'

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
} as const

export class StartRefusal extends Error {
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

/** A command on it must not bring it up to date by the way: a server of that version may run on it, and there is no way back. */
export class OlderDatabase extends Error {
  constructor() {
    super('the database is of an earlier version than this program; stop the service and run "vidimus upgrade"')
  }
}

/** What the file system and SQLite say, in words that help; everything else is a mistake of ours and stays as it is. */
export function refusalFrom(error: unknown, dir: string, file: string): unknown {
  if (error instanceof MigrationError) {
    return new StartRefusal('schema_newer', `${error.message}; start that version, or restore a backup made by this one`, error)
  }
  const { code } = error as { code?: unknown }
  if (error instanceof StartRefusal || typeof code !== 'string') return error
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damaged(file, error)
  if (/^SQLITE_BUSY/.test(code)) {
    return new StartRefusal('directory_in_use', `another process holds ${file}; wait until it is done, or stop it`, error)
  }
  if (/^(E[A-Z]+|SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM)\w*)$/.test(code)) return unusable(dir, code, error)
  return error
}

export const unusable = (dir: string, code: string, cause: unknown) =>
  new StartRefusal(
    'directory_unusable',
    `cannot use ${culpritIn(dir, cause)} (${code})${remedyOf(code)} with VIDIMUS_DATA_DIR`,
    cause,
  )

/** The file system names the file it refused. SQLite does not: then it is one that this user may not both read and write, if there is any. */
function culpritIn(dir: string, cause: unknown): string {
  const { path } = cause as { path?: unknown }
  if (typeof path === 'string') return path
  return (CLOSED.test(String((cause as { code?: unknown }).code)) ? closedIn(dir) : undefined) ?? dir
}

/** A full or broken disk is nobody's fault. */
const CLOSED = /^(EACCES|EPERM|SQLITE_(CANTOPEN|READONLY|PERM|AUTH))/

function closedIn(dir: string): string | undefined {
  try {
    return readdirSync(dir)
      .map(name => join(dir, name))
      .find(path => !isOpenToUs(path))
  } catch {
    return undefined
  }
}

function isOpenToUs(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

const remedyOf = (code: string): string =>
  code === 'EEXIST' || code === 'ENOTDIR'
    ? ': a file is in its place, or above it; choose another'
    : '; mend its permissions, make room, or choose another directory'

export const damaged = (file: string, cause?: unknown) =>
  new StartRefusal(
    'database_damaged',
    `${file} is damaged or not ours; it was left as it is: put a backup in its place with "vidimus restore"`,
    cause,
  )

export const damagedBackup = (file: string, cause?: unknown) =>
  new StartRefusal('database_damaged', `${file} is damaged, or no backup of this program; choose another one`, cause)
