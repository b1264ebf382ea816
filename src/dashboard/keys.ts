import { createKey, type MintedKey, type RollGrace, readKey, readKeys, revokeKey, rollKey } from '../access/keys.ts'
import { presentKey } from '../access/present.ts'
import { apiError } from '../http/errors.ts'
import type { Deps } from './deps.ts'
import type { ApiKey, CreateKey } from './settings-schema.ts'

export async function readTenantKeys(deps: Deps, tenantId: string): Promise<{ data: ApiKey[] }> {
  const at = deps.now()
  return { data: (await readKeys(deps, tenantId)).map(row => presentKey(row, at)) }
}

/** The only response with the key itself. */
type Minted = { key: string; api_key: ApiKey }

export async function createTenantKey(
  deps: Deps,
  tenantId: string,
  { environment, scopes, label, expires_days }: CreateKey,
  actor: string,
): Promise<Minted> {
  const expiresDays = expires_days ?? undefined
  return minted(deps, await createKey(deps, { tenantId, environment, scopes, label, expiresDays, actor }))
}

type Which = { tenantId: string; id: string }

export async function rollTenantKey(deps: Deps, { tenantId, id }: Which, grace: RollGrace, actor: string): Promise<Minted> {
  const successor = (await readKey(deps, tenantId, id)) && (await rollKey(deps, id, grace, actor))
  if (!successor) throw apiError('key_not_found')
  return minted(deps, successor)
}

export async function revokeTenantKey(deps: Deps, { tenantId, id }: Which, actor: string): Promise<ApiKey> {
  const row = (await readKey(deps, tenantId, id)) && (await revokeKey(deps, id, actor))
  if (!row) throw apiError('key_not_found')
  return presentKey(row, deps.now())
}

const minted = ({ now }: Pick<Deps, 'now'>, { key, row }: MintedKey): Minted => ({ key, api_key: presentKey(row, now()) })
