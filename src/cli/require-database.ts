import { resolve } from 'node:path'
import { type Config, POSTGRES_BACKUPS } from '../config.ts'
import { hasInstallation as hasKeys } from '../db/postgres/open.ts'
import { databaseFile, sizeOf } from '../db/sqlite/files.ts'
import { lostDatabase } from '../db/sqlite/lost-database.ts'
import { refusalFrom } from '../db/sqlite/refusal.ts'
import { hasDatabase } from '../db/sqlite/replace.ts'
import { CommandError } from './output.ts'

/** Refuses a directory or database without an installation: a command must not create an empty one there. */
export async function requireDatabase({ dataDir: dir, database }: Config): Promise<void> {
  if (database) {
    if (await hasKeys(database)) return
    throw new CommandError('the database of VIDIMUS_DATABASE_URL is empty; start the service once, or name the right one')
  }
  if (hasInstallation(dir)) return
  throw (
    lostDatabase(dir) ??
    new CommandError(`there is no database in ${resolve(dir)}; start the service once, or say where it is with VIDIMUS_DATA_DIR`)
  )
}

/** Refuses PostgreSQL for verbs about the database file. */
export function refusePostgres({ database }: Config, verb: 'backup' | 'restore'): void {
  if (!database) return
  throw new CommandError(`${verb} is for a database file; ${POSTGRES_BACKUPS}`)
}

/** A write-ahead log without its database counts: opening it reports what happened. */
function hasInstallation(dir: string): boolean {
  try {
    return hasDatabase(dir) || sizeOf(`${databaseFile(dir)}-wal`) > 0
  } catch (error) {
    throw refusalFrom(error, dir, databaseFile(dir))
  }
}
