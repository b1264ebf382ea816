import type { Db } from '../db/engine.ts'
import type { Deps } from './deps.ts'
import { keyPlace } from './keys.ts'
import { listSigningKeys, updateSigningKey } from './store.ts'

export async function sealSigningKeysAgain({ sealer }: Pick<Deps, 'sealer'>, tx: Db): Promise<void> {
  for (const { id, salt, sealed: before } of await listSigningKeys(tx)) {
    const sealed = sealer.sealAgain(keyPlace(id, salt), before)
    if (sealed) await updateSigningKey(tx, id, sealed)
  }
}
