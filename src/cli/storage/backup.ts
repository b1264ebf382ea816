import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isoUtc } from '../../base/time.ts'
import { loadConfig } from '../../config.ts'
import { databaseFile } from '../../db/database-file.ts'
import { besideService } from '../../db/storage/copies.ts'
import { realWorld } from '../../ground.ts'
import { fileOf, listFiles } from '../../session-keys/files.ts'
import { type BackupReport, makeBackup, type Places } from '../../upkeep/backup.ts'
import { argument, defineCommand } from '../command.ts'
import { toggle } from '../flags.ts'
import { CommandError, existsAlready, whyUnwritten } from '../output.ts'
import { refusePostgres, requireDatabase } from '../require-database.ts'

export const command = defineCommand(
  {
    summary: 'copy the database, checked, while the service runs',
    argument: argument('path', 'FILE', 'the file to write'),
    flags: { force: toggle('replace a file that exists') },
    about: `Copies the database as it is at one moment, while the service runs on, and checks the copy: every
page, every reference, the audit chain. Only its owner can read FILE, which appears once it is
known to be good. A file that exists stays, unless you say --force.

The backup holds everything except the keys, without which nobody can read what is sealed in it:
keep a copy of master.key and the wrapping keys (wrapping-N.key) somewhere else, as a mirror that is
renewed daily. The backup can be restored until the wrapping keys of its day are destroyed
(VIDIMUS_KEY_WINDOW_DAYS). The server makes backups of its own (VIDIMUS_BACKUPS).`,
    example: 'vidimus backup /mnt/safe/vidimus.db',
  },
  async ({ path, force }, { env }) => {
    const file = resolve(path)
    const config = loadConfig(env)
    const { dataDir, keyDir, masterKey } = config
    const places = { dataDir, keyDir, masterKey }
    refusePostgres(config, 'backup')
    await requireDatabase(config)
    refuseUnfit(file, places, force)
    const { takenAt, bytes, verifications, auditRecords, head } = await backUp(places, file, force)
    return {
      json: { file, taken_at: isoUtc(takenAt), bytes, verifications, audit_records: auditRecords, head },
      text: `${verifications} verifications and ${auditRecords} audit records are in ${file}, and were checked.
It is of use only together with ${masterKey.file}: keep a copy of that somewhere else, and of the wrapping keys in ${keyDir}.`,
    }
  },
)

function refuseUnfit(file: string, places: Places, force: boolean): void {
  if (!statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory())
    throw new CommandError(`cannot write ${file}; give a path in a directory that exists and is yours`)
  if (existsSync(file) && (!force || !statSync(file).isFile())) throw existsAlready(file, force)
  if (existsSync(file) && ownFiles(places).includes(realpathSync(file)))
    throw new CommandError(`${file} is what is to be backed up; choose another name`)
}

/** Files of the service that a backup must not replace. By their real paths, since a directory may have two names. */
function ownFiles({ dataDir, keyDir, masterKey }: Places): string[] {
  const database = databaseFile(dataDir)
  const wrappingKeys = listFiles(keyDir).map(id => fileOf(keyDir, id))
  const own = [database, `${database}-wal`, `${database}-shm`, masterKey.file, ...wrappingKeys]
  return own.filter(each => existsSync(each)).map(each => realpathSync(each))
}

async function backUp(places: Places, file: string, force: boolean): Promise<BackupReport> {
  const { now, random } = realWorld()
  return await besideService(places, random, () =>
    makeBackup(places, file, { takenAt: now(), random, mayReplace: force }).catch(error => {
      throw unwritten(error, file)
    }),
  )
}

/** Only the copy is written. */
function unwritten(error: unknown, file: string): unknown {
  const { code, path } = error as { code?: string; path?: string }
  const why = whyUnwritten(code === 'SQLITE_FULL' ? { code: 'ENOSPC' } : error, file)
  if (why instanceof CommandError) return why
  if (!path?.startsWith(file)) return error
  return new CommandError(
    code === 'ENAMETOOLONG'
      ? `cannot write ${file}: its name is too long; choose a shorter one`
      : `cannot write ${file} (${code}); give a path in a directory that exists and is yours`,
  )
}
