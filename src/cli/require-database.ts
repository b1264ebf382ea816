import { resolve } from 'node:path'
import { databaseFile, sizeOf } from '../db/sqlite/files.ts'
import { lostDatabase } from '../db/sqlite/lost-database.ts'
import { refusalFrom } from '../db/sqlite/refusal.ts'
import { hasDatabase } from '../db/sqlite/replace.ts'
import { CommandError } from './output.ts'

/** For calls that only look, or that act on what must be there: whoever asks in the wrong directory must not be answered by an empty one. */
export function requireDatabase(dir: string): void {
  if (isThere(dir)) return
  throw (
    lostDatabase(dir) ??
    new CommandError(`there is no database in ${resolve(dir)}; start the service once, or say where it is with VIDIMUS_DATA_DIR`)
  )
}

/** A log without its database counts: opening it tells what happened. */
function isThere(dir: string): boolean {
  try {
    return hasDatabase(dir) || sizeOf(`${databaseFile(dir)}-wal`) > 0
  } catch (error) {
    throw refusalFrom(error, dir, databaseFile(dir))
  }
}
