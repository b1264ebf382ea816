import type { Random } from '../base/ids.ts'
import type { Keyring, Sealer } from '../base/seal.ts'
import type { Db, LooseEntries } from './engine.ts'
import type { MasterKey } from './root-key.ts'

export type Keys = { masterKey: MasterKey; random: Random }

/** Stores what the wrapper of the new master key wraps; `entries` numbers its audit entries where they are loose. */
export type Turn<Turned extends { keyring: Keyring }> = (
  tx: Db,
  before: Keyring,
  wrapper: Sealer,
  entries?: LooseEntries,
) => Promise<Turned>
