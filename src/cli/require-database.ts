import { resolve } from 'node:path'
import { type Config, POSTGRES_BACKUPS } from '../config.ts'
import { hasInstallation } from '../db/storage/installation.ts'
import { CommandError } from './output.ts'

/** Refuses a directory or database without an installation: a command must not create an empty one there. */
export async function requireDatabase({ dataDir, database }: Config): Promise<void> {
  if (await hasInstallation({ dataDir, database })) return
  throw new CommandError(
    database
      ? 'the database of VIDIMUS_DATABASE_URL is empty; start the service once, or name the right one'
      : `there is no database in ${resolve(dataDir)}; start the service once, or say where it is with VIDIMUS_DATA_DIR`,
  )
}

/** Refuses PostgreSQL for verbs about the database file. */
export function refusePostgres({ database }: Config, verb: 'backup' | 'restore'): void {
  if (!database) return
  throw new CommandError(`${verb} is for a database file; ${POSTGRES_BACKUPS}`)
}
