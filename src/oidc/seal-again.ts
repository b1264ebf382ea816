import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Unsealing } from '../ground.ts'
import { listIssuers, updateIssuerSealed } from './client-store.ts'
import { listAllKeys, updateKeySealed } from './key-store.ts'

/** Secrets of issuers, and their keys. Log-ins are sealed again with their verifications. */
export async function sealIssuersAgain({ sealer }: Unsealing, tx: Db): Promise<void> {
  for (const row of await listIssuers(tx)) {
    const sealed = sealer.sealAgain(SEALED.oidcIssuer(row, row.salt), row.sealed)
    if (sealed) await updateIssuerSealed(tx, row, sealed)
  }
  for (const row of await listAllKeys(tx)) {
    const sealed = sealer.sealAgain(SEALED.oidcKey({ id: row.kid, tenantId: row.tenantId }, row.salt), row.sealed)
    if (sealed) await updateKeySealed(tx, row.kid, sealed)
  }
}
