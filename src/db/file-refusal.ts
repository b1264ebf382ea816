// Errors of the file system and of SQLite as refusals: each says in one line what to do.
import { accessSync, constants, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from './database-file.ts'
import { StartRefusal } from './refusal.ts'
import { MigrationError } from './sqlite/migrate.ts'

/** Other errors are bugs and returned as they are. */
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

export const unusable = (dir: string, code: string, cause: unknown, setting = 'VIDIMUS_DATA_DIR') =>
  new StartRefusal(
    'directory_unusable',
    `cannot use ${culpritIn(dir, cause)} (${code})${isReadOnly(dir) || code === 'EROFS' ? READ_ONLY : remedyOf(code)} with ${setting}`,
    cause,
  )

/** The file system names the file it refused. SQLite does not: then the first file that this user may not read and write. */
function culpritIn(dir: string, cause: unknown): string {
  if (isReadOnly(dir)) return dir
  const { path } = cause as { path?: unknown }
  if (typeof path === 'string') return path
  return (CLOSED.test(String((cause as { code?: unknown }).code)) ? closedIn(dir) : undefined) ?? dir
}

const READ_ONLY = ': its file system is mounted read-only; mount it for writing, or choose another directory'

/** Every file of such a directory is closed, so none of them is to blame. */
function isReadOnly(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK)
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'EROFS'
  }
}

/** SQLite opens a database whose log and shared memory exist, and then cannot write. A backup is still made. */
export function refuseReadOnly(dir: string): void {
  if (isReadOnly(dir)) throw unusable(dir, 'EROFS', undefined)
}

/** Refuses a directory that this user may not write. */
export function refuseClosed(dir: string): void {
  try {
    accessSync(dir, constants.W_OK)
  } catch (error) {
    throw refusalFrom(error, dir, databaseFile(dir))
  }
}

/** Errors that one file causes; a full or broken disk is not among them. */
const CLOSED = /^(EACCES|EPERM|SQLITE_(CANTOPEN|READONLY|PERM|AUTH))/

/** Among the files that SQLite opens: a master key that may only be read is in order. */
function closedIn(dir: string): string | undefined {
  try {
    return readdirSync(dir)
      .filter(name => /^(vidimus\.db|server\.lock)/.test(name))
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
