import { databaseFile } from '../database-file.ts'
import { refusalFrom } from '../file-refusal.ts'
import { pendingExpands, upgradeServer } from '../postgres/upgrade.ts'
import { inspect } from '../sqlite/data-dir.ts'
import { countApplied, MIGRATIONS } from '../sqlite/migrate.ts'
import type { Place } from './place.ts'

/** A database of a server, whose earlier processes keep running until the upgrade is finished. */
export { upgradeServer }

/** The migrations that the next start would apply. */
export async function listPending({ dataDir: dir, database }: Place): Promise<string[]> {
  if (database) return await pendingExpands(database)
  try {
    const applied = inspect(databaseFile(dir), reader => countApplied(reader))
    return MIGRATIONS.slice(applied).map(([id]) => id)
  } catch (error) {
    throw refusalFrom(error, dir, databaseFile(dir))
  }
}
