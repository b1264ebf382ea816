import { Elysia } from 'elysia'
import { Environmental, Nothing } from '../../../http/wire.ts'
import { Client } from '../../../oidc/schema.ts'
import { guard } from '../../../people/guard.ts'
import type { Deps } from '../../deps.ts'
import { CHANGED, FRESH_HOUR, READ, TENANT, TENANT_ITEM } from '../../tenant-options.ts'
import {
  changeTenantClient,
  createTenantClient,
  readTenantClients,
  readTenantSigningKeys,
  removeTenantClient,
  rollTenantSecret,
  turnTenantKeys,
} from './log-ins.ts'
import {
  ChangeClient,
  ClientList,
  ClientWithSecret,
  CreateClient,
  RemovedClient,
  RollSecret,
  SigningKeys,
  TurnKeys,
} from './schema.ts'

const OWNER = { member: { who: 'owner' as const, fresh: 'hour' as const } }

/** Programs where people log in with a wallet, and the keys that sign what they learn. */
export const logInRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/tenants/:tenant' })
    .use(guard(deps))
    .get('/clients', ({ tenant }) => readTenantClients(deps, tenant.id), { ...TENANT, response: { 200: ClientList, ...READ } })
    .post(
      '/clients',
      async ({ visit, tenant, body, status }) => status(201, await createTenantClient(deps, visit, tenant.id, body)),
      { ...TENANT, ...FRESH_HOUR, body: CreateClient, response: { 201: ClientWithSecret, ...CHANGED } },
    )
    .put(
      '/clients/:id',
      ({ visit, tenant, params, body }) => changeTenantClient(deps, visit, { tenantId: tenant.id, id: params.id }, body),
      { ...TENANT_ITEM, ...FRESH_HOUR, body: ChangeClient, response: { 200: Client, ...CHANGED } },
    )
    .post(
      '/clients/:id/secret',
      async ({ visit, tenant, params, body, status }) =>
        status(201, await rollTenantSecret(deps, visit, { tenantId: tenant.id, id: params.id }, body.old_expires)),
      { ...TENANT_ITEM, ...FRESH_HOUR, body: RollSecret, response: { 201: ClientWithSecret, ...CHANGED } },
    )
    .delete(
      '/clients/:id',
      ({ visit, tenant, params }) => removeTenantClient(deps, visit, { tenantId: tenant.id, id: params.id }),
      { ...TENANT_ITEM, ...FRESH_HOUR, body: Nothing, response: { 200: RemovedClient, ...CHANGED } },
    )
    .get('/log-in-keys', ({ tenant, query }) => readTenantSigningKeys(deps, tenant.id, query.environment), {
      ...TENANT,
      query: Environmental,
      response: { 200: SigningKeys, ...READ },
    })
    .post('/log-in-keys/turn', ({ visit, tenant, body }) => turnTenantKeys(deps, visit, tenant.id, body), {
      ...TENANT,
      ...OWNER,
      body: TurnKeys,
      response: { 200: SigningKeys, ...CHANGED },
    })
