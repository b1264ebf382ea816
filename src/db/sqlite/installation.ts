// Values of the installation, read and written before the file is open for the stores.
import type { Database } from 'bun:sqlite'
import type { Random } from '../../base/ids.ts'
import type { Keyring, Sealer } from '../../base/seal.ts'
import { StartRefusal } from '../refusal.ts'
import { newRootKey, openRootKey } from '../root-key.ts'

export const findRootKey = (sqlite: Database): Uint8Array | undefined =>
  sqlite.query<{ value: Uint8Array }, []>("SELECT value FROM installation WHERE name = 'root_key'").get()?.value

export function ensureRootKey(writer: Database, wrapper: Sealer, random: Random): Keyring {
  if (!findRootKey(writer)) {
    const wrapped = newRootKey(wrapper, random)
    writer.query("INSERT INTO installation (name, value) VALUES ('root_key', ?) ON CONFLICT (name) DO NOTHING").run(wrapped)
  }
  return openRootKey(wrapper, findRootKey(writer)!)
}

/** A database that "vidimus move" has copied must not serve: its new writes would be lost. */
export function refuseMoved(sqlite: Database): void {
  const moved = sqlite.query<{ value: Uint8Array }, []>("SELECT value FROM installation WHERE name = 'moved_to'").get()
  if (!moved) return
  throw new StartRefusal(
    'database_moved',
    `this database was moved to ${Buffer.from(moved.value).toString()}; set VIDIMUS_DATABASE_URL`,
  )
}
