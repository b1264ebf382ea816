import type { Environment } from '../../../access/scopes.ts'
import { apiError } from '../../../http/errors.ts'
import {
  type ClientWithSecret,
  changeClient,
  createClient,
  readClient,
  readClients,
  removeClient,
  rollSecret,
  type SecretGrace,
} from '../../../oidc/clients.ts'
import { readKeys, rotateKeys } from '../../../oidc/keys.ts'
import type { Client, SigningKey } from '../../../oidc/schema.ts'
import { actorOf, requireFresh, type Visit } from '../../../people/session.ts'
import type { Deps } from '../../deps.ts'
import type { ChangeClient, CreateClient, TurnKeys } from './schema.ts'

type Which = { tenantId: string; id: string }

export async function readTenantClients(deps: Deps, tenantId: string): Promise<{ data: Client[] }> {
  return { data: await readClients(deps, tenantId) }
}

export async function createTenantClient(
  deps: Deps,
  visit: Visit,
  tenantId: string,
  { environment, ...wanted }: CreateClient,
): Promise<ClientWithSecret> {
  requireFresh(visit, deps.now(), environment)
  return await createClient(deps, { tenantId, environment }, wanted, actorOf(visit.user))
}

/** The client's id, for somebody whose authentication is fresh enough for its environment. */
async function requireClient(deps: Deps, visit: Visit, { tenantId, id }: Which): Promise<string> {
  const client = await readClient(deps, id, tenantId)
  if (!client) throw apiError('client_not_found')
  requireFresh(visit, deps.now(), client.environment)
  return id
}

export const changeTenantClient = async (deps: Deps, visit: Visit, which: Which, changes: ChangeClient): Promise<Client> =>
  await changeClient(deps, await requireClient(deps, visit, which), changes, actorOf(visit.user))

export const rollTenantSecret = async (deps: Deps, visit: Visit, which: Which, grace: SecretGrace): Promise<ClientWithSecret> =>
  await rollSecret(deps, await requireClient(deps, visit, which), grace, actorOf(visit.user))

export const removeTenantClient = async (deps: Deps, visit: Visit, which: Which) =>
  await removeClient(deps, await requireClient(deps, visit, which), actorOf(visit.user))

export async function readTenantSigningKeys(
  deps: Deps,
  tenantId: string,
  environment: Environment,
): Promise<{ data: SigningKey[] }> {
  return { data: await readKeys(deps, { tenantId, environment }) }
}

export async function turnTenantKeys(
  deps: Deps,
  visit: Visit,
  tenantId: string,
  { environment, drop_old: dropOld }: TurnKeys,
): Promise<{ data: SigningKey[] }> {
  requireFresh(visit, deps.now(), environment)
  await rotateKeys(deps, { tenantId, environment }, { dropOld, actor: actorOf(visit.user) })
  return await readTenantSigningKeys(deps, tenantId, environment)
}
