import { createSealer, type Keyring } from '../../base/seal.ts'
import { damaged } from '../file-refusal.ts'
import { adoptNewKey, findWrapper, openRootKey, writeNewKey } from '../root-key.ts'
import type { Keys, Turn } from '../turn.ts'
import { withDatabaseAlone } from './alone.ts'
import { findRootKey } from './installation.ts'
import { countApplied } from './migrate.ts'
import { createStorage, openReader, openWriter } from './storage.ts'

export const rekeyFile = <Turned extends { keyring: Keyring }>(dir: string, keys: Keys, turn: Turn<Turned>): Promise<Turned> =>
  withDatabaseAlone(dir, file => replaceKey(file, keys, turn))

async function replaceKey<Turned extends { keyring: Keyring }>(
  file: string,
  { masterKey, random }: Keys,
  turn: Turn<Turned>,
): Promise<Turned> {
  const reader = openReader(file)
  countApplied(reader)
  const wrapped = findRootKey(reader)
  if (!wrapped) throw damaged(file)
  const rootKey = openRootKey(findWrapper(masterKey, wrapped, random), wrapped)
  const storage = createStorage(openWriter(file), reader)
  try {
    const wrapper = createSealer(writeNewKey(masterKey.file, random), random)
    const turned = await storage.write(tx => turn(tx, rootKey, wrapper))
    // The log still has the value that is wrapped with the old key.
    await storage.forgetDeleted()
    adoptNewKey(masterKey.file)
    return turned
  } finally {
    await storage.close()
  }
}
