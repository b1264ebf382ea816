import { databaseFile, sizeOf } from '../database-file.ts'
import { refusalFrom } from '../file-refusal.ts'
import { hasInstallation as hasKeys } from '../postgres/open.ts'
import { lostDatabase } from '../sqlite/lost-database.ts'
import { hasDatabase } from '../sqlite/replace.ts'
import type { Place } from './place.ts'

/** False for a directory or database without an installation. Refuses a directory that had one, when there are backups of it. */
export async function hasInstallation({ dataDir: dir, database }: Place): Promise<boolean> {
  if (database) return await hasKeys(database)
  if (hasFile(dir)) return true
  const lost = lostDatabase(dir)
  if (lost) throw lost
  return false
}

/** A write-ahead log without its database counts: opening it reports what happened. */
function hasFile(dir: string): boolean {
  try {
    return hasDatabase(dir) || sizeOf(`${databaseFile(dir)}-wal`) > 0
  } catch (error) {
    throw refusalFrom(error, dir, databaseFile(dir))
  }
}
