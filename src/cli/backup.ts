import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { loadConfig } from '../config.ts'
import { enter, inspect } from '../db/sqlite/data-dir.ts'
import { databaseFile, keyFileOf } from '../db/sqlite/files.ts'
import { refusalFrom } from '../db/sqlite/refusal.ts'
import { findRootKey, findWrapper } from '../db/sqlite/root-key.ts'
import { realWorld } from '../ground.ts'
import { isoUtc } from '../time.ts'
import { type BackupReport, makeBackup } from '../upkeep/backup.ts'
import { CommandError, parseCall, print, required, UsageError } from './output.ts'
import { requireDatabase } from './require-database.ts'

const HELP = `usage: vidimus backup FILE [--force] [--json]

Copies the database as it is at one moment, while the service goes on, and checks the copy: every page, every reference, the audit chain. FILE is for
its owner only, and is there only once it is known to be good. A file that is there already stays, unless you say --force.

The backup holds everything but the master key, without which nobody can read what is sealed in it: keep a copy of master.key somewhere else. The
server makes backups of its own (VIDIMUS_BACKUPS).

example: vidimus backup /mnt/safe/vidimus.db`

export async function runBackup(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, { force: { type: 'boolean' } })
  if (values.help) return print(HELP)
  const [word, surplus] = words
  if (surplus !== undefined) throw new UsageError(`backup takes no "${surplus}"`)
  const file = resolve(required(word, 'the file to write'))
  const { dataDir } = loadConfig(process.env)
  refuseUnfit(file, dataDir, values.force)
  const report = await backUp(dataDir, file)
  return show(file, dataDir, report, values.json)
}

function refuseUnfit(file: string, dataDir: string, force = false): void {
  requireDatabase(dataDir)
  if (!statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory())
    throw new CommandError(`cannot write ${file}; give a path in a directory that exists and is yours`)
  if (existsSync(file) && (!force || !statSync(file).isFile()))
    throw new CommandError(`${file} is there already; choose another name${force ? '' : ', or replace it with --force'}`)
  if ([databaseFile(dataDir), keyFileOf(dataDir)].some(own => resolve(own) === file))
    throw new CommandError(`${file} is what is to be backed up; choose another name`)
}

async function backUp(dataDir: string, file: string): Promise<BackupReport> {
  const { now, random } = realWorld()
  const release = enter(dataDir, 'command')
  try {
    inspect(databaseFile(dataDir), reader => {
      const wrapped = findRootKey(reader)
      if (wrapped) findWrapper(keyFileOf(dataDir), wrapped, random)
    })
    return await makeBackup(dataDir, file, now())
  } catch (error) {
    throw refusalFrom(error, dataDir, databaseFile(dataDir))
  } finally {
    release()
  }
}

function show(file: string, dataDir: string, report: BackupReport, json = false): number {
  const { takenAt, bytes, verifications, auditRecords, head } = report
  if (json) {
    const figures = { taken_at: isoUtc(takenAt), bytes, verifications, audit_records: auditRecords, head }
    return print(JSON.stringify({ file, ...figures }))
  }
  return print(`${verifications} verifications and ${auditRecords} audit records are in ${file}, and were checked.
It is of use only together with ${keyFileOf(dataDir)}: keep a copy of that somewhere else.`)
}
