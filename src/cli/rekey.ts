import { accessSync, constants, lstatSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadConfig } from '../config.ts'
import { backupsFolder } from '../db/files.ts'
import { realWorld } from '../ground.ts'
import { rekey } from '../upkeep/rekey.ts'
import { defineCommand } from './command.ts'
import { ACTOR, CommandError } from './output.ts'
import { refusePostgres, requireDatabase } from './require-database.ts'

export const command = defineCommand(
  {
    summary: 'make a new master key',
    about: `Makes a new master.key; the server must be stopped. No row is written anew: only the root key,
which the master key wraps, is wrapped by the new one. A master.key that is a link is refused.

The old key is gone afterwards. Backups that were made before can be read only with the old key, so
keep a copy of it for as long as you keep them, and make a new backup. Anybody who holds an old
backup and the old key can read that backup for ever.`,
    example: 'vidimus rekey && vidimus backup /mnt/safe/vidimus.db',
  },
  async (_, { env }) => {
    const config = loadConfig(env)
    const { dataDir: dir, masterKey } = config
    const key = masterKey.file
    refusePostgres(config, 'rekey')
    await requireDatabase(config)
    refuseLink(key)
    refuseUnwritable(key)
    const { now, random } = realWorld()
    const oldBackups = await rekey({ dir, masterKey, now: now(), random, actor: ACTOR })
    const old = oldBackups.length
      ? `${oldBackups.length} backups in ${backupsFolder(dir)} can be read only with the old key, of which you may have a copy.`
      : 'Backups made before can be read only with the old key.'
    return {
      json: { key, backups_of_old_key: oldBackups },
      text: `${key} is new: keep a copy of it somewhere else.\n${old}\nNext: vidimus backup FILE`,
    }
  },
)

/** The new key is written beside the old one; systemd and Kubernetes give keys in directories that cannot be written. */
function refuseUnwritable(keyFile: string): void {
  try {
    accessSync(dirname(keyFile), constants.W_OK)
  } catch {
    throw new CommandError(
      `${keyFile} lies where this program cannot write; copy it to a file of your own, name that in VIDIMUS_MASTER_KEY_FILE, ` +
        'run this again, and give the new key to whatever provides it',
    )
  }
}

/** A new key in place of the link leaves the old one, and is lost when the link is made again. */
function refuseLink(keyFile: string): void {
  if (!lstatSync(keyFile, { throwIfNoEntry: false })?.isSymbolicLink()) return
  throw new CommandError(
    `${keyFile} is a link${targetOf(keyFile)}; put the key itself in its place, run this again, and then ` +
      'move the new key to where the link led',
  )
}

function targetOf(link: string): string {
  try {
    return ` to ${realpathSync(link)}`
  } catch {
    return ' that leads nowhere'
  }
}
