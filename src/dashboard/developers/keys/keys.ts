import {
  type ApiKeyRow,
  createKey,
  type MintedKey,
  type RollGrace,
  readKey,
  readKeys,
  revokeKey,
  rollKey,
} from '../../../access/keys.ts'
import { presentKey } from '../../../access/present.ts'
import type { Timing } from '../../../ground.ts'
import { apiError } from '../../../http/errors.ts'
import { actorOf, requireFresh, type Visit } from '../../../people/session.ts'
import type { Deps } from '../../deps.ts'
import type { ApiKey, CreateKey } from './schema.ts'

export async function readTenantKeys(deps: Deps, tenantId: string): Promise<{ data: ApiKey[] }> {
  const at = deps.now()
  return { data: (await readKeys(deps, tenantId)).map(row => presentKey(row, at)) }
}

/** The only response with the key itself. */
type Minted = { key: string; api_key: ApiKey }

export async function createTenantKey(
  deps: Deps,
  visit: Visit,
  tenantId: string,
  { environment, scopes, label, expires_days }: CreateKey,
): Promise<Minted> {
  requireFresh(visit, deps.now(), environment)
  const actor = actorOf(visit.user)
  const expiresDays = expires_days ?? undefined
  return minted(deps, await createKey(deps, { tenantId, environment, scopes, label, expiresDays, actor }))
}

type Which = { tenantId: string; id: string }

/** The key, for somebody whose authentication is fresh enough for its environment. */
async function requireKey(deps: Deps, visit: Visit, { tenantId, id }: Which): Promise<ApiKeyRow> {
  const row = await readKey(deps, tenantId, id)
  if (!row) throw apiError('key_not_found')
  requireFresh(visit, deps.now(), row.environment)
  return row
}

export async function rollTenantKey(deps: Deps, visit: Visit, which: Which, grace: RollGrace): Promise<Minted> {
  const { id } = await requireKey(deps, visit, which)
  const successor = await rollKey(deps, id, grace, actorOf(visit.user))
  if (!successor) throw apiError('key_not_found')
  return minted(deps, successor)
}

export async function revokeTenantKey(deps: Deps, visit: Visit, which: Which): Promise<ApiKey> {
  const { id } = await requireKey(deps, visit, which)
  const row = await revokeKey(deps, id, actorOf(visit.user))
  if (!row) throw apiError('key_not_found')
  return presentKey(row, deps.now())
}

const minted = ({ now }: Timing, { key, row }: MintedKey): Minted => ({ key, api_key: presentKey(row, now()) })
