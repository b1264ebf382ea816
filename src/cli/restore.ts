import { existsSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig } from '../config.ts'
import { backupsFolder, databaseFile } from '../db/sqlite/files.ts'
import { realWorld } from '../ground.ts'
import { isoUtc } from '../time.ts'
import { ErasuresUnknown, type Restoration, restoreBackup } from '../upkeep/restore.ts'
import { erasureLogIn } from '../verifications/erasures.ts'
import { ACTOR, CommandError, parseCall, print, required, UsageError } from './output.ts'

const HELP = `usage: vidimus restore FILE [--without-erasures] [--json]

Puts a backup in the place of the database; the server must be stopped. The backup is checked first, brought up to date, and everybody who was erased
since it was made is erased again, by backups/erasures.log, the erasures.log beside FILE, and the audit chain that is replaced. When none of these knows
all erasures since then, nothing is done, unless you say --without-erasures. The replaced database is kept in backups/ for 14 days.

The data directory must have the master.key that was in use when the backup was made. On a new machine, put it there first. Keys, tills, templates and
trusted issuers are as they were at the time of the backup: revoke again what was revoked since.

example: vidimus restore data/backups/daily-20260304.db`

export async function runRestore(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, { 'without-erasures': { type: 'boolean' } })
  if (values.help) return print(HELP)
  const [word, surplus] = words
  if (surplus !== undefined) throw new UsageError(`restore takes no "${surplus}"`)
  const file = resolve(required(word, 'the backup'))
  const { dataDir: dir } = loadConfig(process.env)
  refuseUnfit(file, dir)
  const { now, random } = realWorld()
  try {
    const withoutErasures = values['without-erasures'] ?? false
    const restoration = await restoreBackup({ dir, file, now: now(), random, withoutErasures, actor: ACTOR })
    return show(dir, file, restoration, values.json)
  } catch (error) {
    if (!(error instanceof ErasuresUnknown)) throw error
    throw new CommandError(
      `nobody knows who was erased since ${file} was made; put its erasures.log beside it or at ${erasureLogIn(backupsFolder(dir))}, or say --without-erasures`,
    )
  }
}

/** Mistakes of the call, which say nothing of the data directory. */
function refuseUnfit(file: string, dir: string): void {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`there is no file ${file}; give the path of a backup`)
  if (existsSync(databaseFile(dir)) && realpathSync(file) === realpathSync(databaseFile(dir)))
    throw new CommandError(`${file} is the database itself; give the path of a backup`)
}

function show(dir: string, file: string, restoration: Restoration, json = false): number {
  const { takenAt, verifications, auditRecords, erasedAgain, upgraded, replaced } = restoration
  if (json) {
    const figures = { taken_at: isoUtc(takenAt), verifications, audit_records: auditRecords, erased_again: erasedAgain }
    return print(JSON.stringify({ file, ...figures, upgraded, replaced: replaced ?? null }))
  }
  const lines = [
    `${databaseFile(dir)} is the backup of ${isoUtc(takenAt)} now: ${verifications} verifications, ${auditRecords} audit records.`,
    `Erased since then, and so erased again: ${erasedAgain}.`,
    ...(upgraded.length ? [`Brought up to date: ${upgraded.join(', ')}.`] : []),
    ...(replaced ? [`The database that was there is ${replaced}.`] : []),
    'Keys and tills that were revoked since then work again: revoke them again.',
  ]
  return print(lines.join('\n'))
}
