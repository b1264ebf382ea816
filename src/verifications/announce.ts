import type { Deps } from '../deps.ts'
import { openSecrets } from './present.ts'
import type { Verification } from './schema.ts'
import { findOfTenant } from './store.ts'
import { presentOrTell } from './unreadable.ts'

type Announced = { tenantId: string; verificationId: string }

/** What a webhook says of a verification, exactly as a GET does, and where it is to be sent; nothing when it was erased. */
export async function announce(
  deps: Pick<Deps, 'config' | 'db' | 'now' | 'sealer' | 'portraits' | 'audit' | 'log'>,
  { tenantId, verificationId }: Announced,
): Promise<{ url: string; verification: Verification } | undefined> {
  const found = await findOfTenant(deps.db, tenantId, verificationId)
  if (!found) return undefined
  const verification = await presentOrTell(deps, found)
  const url = openSecrets(deps, found.verification).webhook_url
  return url === undefined ? undefined : { url, verification }
}

/** Where it is sent alone: nothing that the holder presented is opened for it. */
export async function readReceiver(
  deps: Pick<Deps, 'db' | 'sealer'>,
  { tenantId, verificationId }: Announced,
): Promise<string | undefined> {
  const found = await findOfTenant(deps.db, tenantId, verificationId)
  return found && openSecrets(deps, found.verification).webhook_url
}
