import type { Db } from '../db/engine.ts'
import type { Deps } from './deps.ts'
import { listAllEndpoints, listAllSecrets, updateEndpointSealed, updateSecretSealed } from './store.ts'
import { endpointPlace } from './webhook-endpoint.ts'
import { secretPlace } from './webhook-secret.ts'

/** Webhook secrets and endpoints. */
export async function sealTenantsAgain({ sealer }: Pick<Deps, 'sealer'>, tx: Db): Promise<void> {
  for (const row of await listAllSecrets(tx)) {
    const sealed = sealer.sealAgain(secretPlace(row, row.salt), row.sealed)
    if (sealed) await updateSecretSealed(tx, row.id, sealed)
  }
  for (const row of await listAllEndpoints(tx)) {
    const sealed = sealer.sealAgain(endpointPlace(row, row.salt), row.sealed)
    if (sealed) await updateEndpointSealed(tx, row, sealed)
  }
}
