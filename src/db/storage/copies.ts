// Copies of a database file, as backups make and read them.
import type { Random } from '../../base/ids.ts'
import { createSealer, type Keyring, NO_RANDOM } from '../../base/seal.ts'
import { databaseFile } from '../database-file.ts'
import type { Db } from '../engine.ts'
import { damagedBackup, refusalFrom } from '../file-refusal.ts'
import { StartRefusal } from '../refusal.ts'
import { findWrapper, loadMasterKey, type MasterKey, openRootKey } from '../root-key.ts'
import { enter, inspect } from '../sqlite/data-dir.ts'
import { findRootKey } from '../sqlite/installation.ts'
import { countApplied } from '../sqlite/migrate.ts'
import { isSound, takenAtOf, withReader, writeSnapshot } from '../sqlite/snapshot.ts'
import { drizzleOn, openReader } from '../sqlite/storage.ts'

export { isSound, writeSnapshot }

/** Runs `work` on a directory beside its service, once the master key is known to be that of its database. */
export async function besideService<Result>(
  { dataDir: dir, masterKey }: { dataDir: string; masterKey: MasterKey },
  random: Random,
  work: () => Promise<Result>,
): Promise<Result> {
  const release = enter(dir, 'command')
  try {
    inspect(databaseFile(dir), reader => {
      const wrapped = findRootKey(reader)
      if (wrapped) findWrapper(masterKey, wrapped, random)
    })
    return await work()
  } catch (error) {
    throw refusalFrom(error, dir, databaseFile(dir))
  } finally {
    release()
  }
}

/** Reads through a connection of its own. */
export async function readFile<Result>(file: string, read: (db: Db) => Promise<Result>): Promise<Result> {
  const reader = openReader(file)
  try {
    return await read(drizzleOn(reader))
  } finally {
    reader.close()
  }
}

/** Refuses a file that is damaged, not ours, or of a newer program. */
export function refuseUnsound(file: string): void {
  if (!isSound(file)) throw damagedBackup(file)
  withReader(file, countApplied)
}

/** The start of the copy; undefined for a database that is not a copy. */
export const copiedAt = (file: string): number | undefined => withReader(file, takenAtOf)

/** Refuses a database of another master key. */
export function rootKeyOf(file: string, masterKey: MasterKey): Keyring {
  const wrapped = withReader(file, findRootKey)
  if (!wrapped) throw damagedBackup(file)
  const wrapper = createSealer(loadMasterKey(masterKey), NO_RANDOM)
  try {
    return openRootKey(wrapper, wrapped)
  } catch (error) {
    throw new StartRefusal('key_wrong', `${masterKey.file} does not open ${file}; put the key in place that was used then`, error)
  }
}
