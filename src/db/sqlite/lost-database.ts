import { join } from 'node:path'
import { backupsFolder } from '../files.ts'
import { StartRefusal } from '../refusal.ts'
import { listBackups } from './backup-list.ts'
import { databaseFile } from './files.ts'

/**
 * What to say when there is no database: its backups prove that there was one. A service that began anew beside them would answer as if nobody had
 * ever been here, and in time replace the good backups by empty ones.
 */
export function lostDatabase(dir: string): StartRefusal | undefined {
  const backups = listBackups(backupsFolder(dir))
  // Others were put aside for a reason.
  const newest = backups.findLast(({ kind }) => kind === 'hourly' || kind === 'daily') ?? backups.at(-1)
  if (!newest) return undefined
  const restore = `"vidimus restore ${join(backupsFolder(dir), newest.name)}"`
  return new StartRefusal(
    'database_damaged',
    `${databaseFile(dir)} is gone, but there are backups of it; bring the newest back with ${restore}, or move them away to begin anew`,
  )
}
