import { lstatSync, realpathSync } from 'node:fs'
import { loadConfig } from '../config.ts'
import { backupsFolder, keyFileOf } from '../db/sqlite/files.ts'
import { realWorld } from '../ground.ts'
import { rekey } from '../upkeep/rekey.ts'
import { ACTOR, CommandError, parseCall, print, UsageError } from './output.ts'
import { requireDatabase } from './require-database.ts'

const HELP = `usage: vidimus rekey [--json]

Makes a new master.key; the server must be stopped. No row is written anew: only the root key, which the master key wraps, is wrapped by the new one.
The old key is gone afterwards. Backups that were made before can be read only with the old key, so keep a copy of it with them for as long as you keep
them, and make a new backup. Whoever holds an old backup and the old key can read that backup for ever. A master.key that is a link is refused.

example: vidimus rekey && vidimus backup /mnt/safe/vidimus.db`

export async function runRekey(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, {})
  if (values.help) return print(HELP)
  if (words.length) throw new UsageError(`rekey takes no "${words[0]}"`)
  const { dataDir: dir } = loadConfig(process.env)
  requireDatabase(dir)
  refuseLink(keyFileOf(dir))
  const { now, random } = realWorld()
  const oldBackups = await rekey({ dir, now: now(), random, actor: ACTOR })
  if (values.json) return print(JSON.stringify({ key: keyFileOf(dir), backups_of_old_key: oldBackups }))
  const old = oldBackups.length
    ? `${oldBackups.length} backups in ${backupsFolder(dir)} can be read only with the old key, of which you may have a copy.`
    : 'Backups made before can be read only with the old key.'
  return print(`${keyFileOf(dir)} is new: keep a copy of it somewhere else.\n${old}\nNext: vidimus backup FILE`)
}

/** A new key in the place of the link would leave the old one where the link led, and be lost as soon as somebody makes the link again. */
function refuseLink(keyFile: string): void {
  if (!lstatSync(keyFile, { throwIfNoEntry: false })?.isSymbolicLink()) return
  throw new CommandError(
    `${keyFile} is a link${leadOf(keyFile)}; put the key itself in its place, run this again, and then move the new key to where the link led`,
  )
}

function leadOf(link: string): string {
  try {
    return ` to ${realpathSync(link)}`
  } catch {
    return ' that leads nowhere'
  }
}
