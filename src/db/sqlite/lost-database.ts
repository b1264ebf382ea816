import { join } from 'node:path'
import { listBackups } from '../backup-list.ts'
import { databaseFile } from '../database-file.ts'
import { backupsFolder } from '../files.ts'
import { StartRefusal } from '../refusal.ts'

/**
 * The refusal when the database is missing but backups prove that there was one. A new database beside them would look like an
 * empty installation, and in time replace the good backups by empty ones.
 */
export function lostDatabase(dir: string): StartRefusal | undefined {
  const backups = listBackups(backupsFolder(dir))
  // Other kinds were set aside for a reason.
  const newest = backups.findLast(({ kind }) => kind === 'hourly' || kind === 'daily') ?? backups.at(-1)
  if (!newest) return undefined
  const restore = `"vidimus restore ${join(backupsFolder(dir), newest.name)}"`
  return new StartRefusal(
    'database_damaged',
    `${databaseFile(dir)} is gone, but there are backups of it; bring the newest back with ${restore}, or move them away to begin anew`,
  )
}
