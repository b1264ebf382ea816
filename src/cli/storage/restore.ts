import { existsSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isoUtc } from '../../base/time.ts'
import { loadConfig } from '../../config.ts'
import { databaseFile } from '../../db/database-file.ts'
import { backupsFolder } from '../../db/files.ts'
import { realWorld } from '../../ground.ts'
import { ErasuresUnknown, type Restoration, restoreBackup } from '../../upkeep/restore.ts'
import { erasureLogIn } from '../../verifications/erasure/erasures.ts'
import { type Answer, argument, defineCommand } from '../command.ts'
import { toggle } from '../flags.ts'
import { ACTOR, CommandError } from '../output.ts'
import { refusePostgres } from '../require-database.ts'

export const command = defineCommand(
  {
    summary: 'put a backup in the place of the database',
    argument: argument('backup', 'FILE', 'the backup'),
    flags: { 'without-erasures': toggle('restore although nobody knows all erasures since the backup was made') },
    about: `Puts a backup in the place of the database; the server must be stopped. The backup is checked first
and brought up to date. Everybody who was erased since it was made is erased again, by
backups/erasures.log, the erasures.log beside FILE, and the audit chain that is replaced. When none
of these knows all erasures since then, nothing is done, unless you say --without-erasures. The
replaced database is kept in backups/ for 14 days.

The key directory must have the master.key and the wrapping keys (wrapping-N.key) that were in use
when the backup was made. On a new machine, put your copy of them there first. API keys, tills,
templates and trusted issuers are as they were at the time of the backup: revoke again what was
revoked since.`,
    example: 'vidimus restore data/backups/daily-20260304.db',
  },
  async ({ backup, withoutErasures }, { env }) => {
    const file = resolve(backup)
    const config = loadConfig(env)
    const { dataDir: dir, keyDir, masterKey } = config
    const keys = { keyDir, masterKey }
    refusePostgres(config, 'restore')
    refuseUnfit(file, dir)
    const { now, random } = realWorld()
    try {
      return show(dir, file, await restoreBackup({ dir, keys, file, now: now(), random, withoutErasures, actor: ACTOR }))
    } catch (error) {
      if (!(error instanceof ErasuresUnknown)) throw error
      const log = erasureLogIn(backupsFolder(dir))
      throw new CommandError(
        `the erasures since ${file} was made are not known; put its erasures.log beside it or at ${log}, ` +
          'or say --without-erasures',
      )
    }
  },
)

/** Mistakes of the call, which say nothing of the data directory. */
function refuseUnfit(file: string, dir: string): void {
  if (!existsSync(file) || !statSync(file).isFile()) throw new CommandError(`there is no file ${file}; give the path of a backup`)
  if (existsSync(databaseFile(dir)) && realpathSync(file) === realpathSync(databaseFile(dir)))
    throw new CommandError(`${file} is the database itself; give the path of a backup`)
}

function show(dir: string, file: string, restoration: Restoration): Answer {
  const { takenAt, verifications, auditRecords, erasedAgain, upgraded, replaced = null } = restoration
  const figures = { taken_at: isoUtc(takenAt), verifications, audit_records: auditRecords, erased_again: erasedAgain }
  const lines = [
    `${databaseFile(dir)} is now the backup of ${figures.taken_at}: ${verifications} verifications, ${auditRecords} audit records.`,
    `Erasures since then, repeated: ${erasedAgain}.`,
    ...(upgraded.length ? [`Upgraded: ${upgraded.join(', ')}.`] : []),
    ...(replaced ? [`The replaced database is ${replaced}.`] : []),
    'Keys and tills that were revoked since then work again: revoke them again.',
  ]
  return { json: { file, ...figures, upgraded, replaced }, text: lines.join('\n') }
}
