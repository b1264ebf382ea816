import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Unsealing } from '../ground.ts'
import { listAllEndpoints, listAllSecrets, updateEndpointSealed, updateSecretSealed } from './store.ts'

/** Webhook secrets and endpoints. */
export async function sealTenantsAgain({ sealer }: Unsealing, tx: Db): Promise<void> {
  for (const row of await listAllSecrets(tx)) {
    const sealed = sealer.sealAgain(SEALED.webhookSecret(row, row.salt), row.sealed)
    if (sealed) await updateSecretSealed(tx, row.id, sealed)
  }
  for (const row of await listAllEndpoints(tx)) {
    const sealed = sealer.sealAgain(SEALED.webhookEndpoint(row, row.salt), row.sealed)
    if (sealed) await updateEndpointSealed(tx, row, sealed)
  }
}
