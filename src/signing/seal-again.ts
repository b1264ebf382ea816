import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Unsealing } from '../ground.ts'
import { isErased } from './keys.ts'
import { listSigningKeys, updateSigningKey } from './store.ts'

export async function sealSigningKeysAgain({ sealer }: Unsealing, tx: Db): Promise<void> {
  for (const row of await listSigningKeys(tx)) {
    const sealed = isErased(row) ? undefined : sealer.sealAgain(SEALED.signingKey(row.id, row.salt), row.sealed)
    if (sealed) await updateSigningKey(tx, row.id, sealed)
  }
}
