import { resolve } from 'node:path'
import { databaseFile, sizeOf } from '../db/sqlite/files.ts'
import { lostDatabase } from '../db/sqlite/lost-database.ts'
import { refusalFrom } from '../db/sqlite/refusal.ts'
import { hasDatabase } from '../db/sqlite/replace.ts'
import { CommandError } from './output.ts'

/** For calls that need an installation: in the wrong directory they must not create an empty one. */
export function requireDatabase(dir: string): void {
  if (hasInstallation(dir)) return
  throw (
    lostDatabase(dir) ??
    new CommandError(`there is no database in ${resolve(dir)}; start the service once, or say where it is with VIDIMUS_DATA_DIR`)
  )
}

/** A write-ahead log without its database counts: opening it reports what happened. */
function hasInstallation(dir: string): boolean {
  try {
    return hasDatabase(dir) || sizeOf(`${databaseFile(dir)}-wal`) > 0
  } catch (error) {
    throw refusalFrom(error, dir, databaseFile(dir))
  }
}
