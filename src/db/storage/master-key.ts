// A new master key. It is written beside the old one, then the database takes it, then it replaces the old file. After a kill in
// between, the next opening continues from there (root-key.ts).
import type { Keyring } from '../../base/seal.ts'
import { rekeyServer } from '../postgres/rekey.ts'
import { rekeyFile } from '../sqlite/rekey.ts'
import type { Keys, Turn } from '../turn.ts'
import type { Place } from './place.ts'

/** Refuses while a service runs. */
export const replaceMasterKey = <Turned extends { keyring: Keyring }>(
  { dataDir, database, ...keys }: Place & Keys,
  turn: Turn<Turned>,
): Promise<Turned> => (database ? rekeyServer(database, keys, turn) : rekeyFile(dataDir, keys, turn))
