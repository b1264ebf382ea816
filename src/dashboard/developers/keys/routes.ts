import { Elysia } from 'elysia'
import { Nothing } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import type { Deps } from '../../deps.ts'
import { CHANGED, FRESH_HOUR, READ, TENANT, TENANT_ITEM } from '../../tenant-options.ts'
import { createTenantKey, readTenantKeys, revokeTenantKey, rollTenantKey } from './keys.ts'
import { ApiKey, ApiKeyList, CreateKey, MintedKey, RollKey } from './schema.ts'

/** One tenant's API keys. */
export const keyRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/tenants/:tenant/keys' })
    .use(guard(deps))
    .get('', ({ tenant }) => readTenantKeys(deps, tenant.id), { ...TENANT, response: { 200: ApiKeyList, ...READ } })
    .post('', async ({ visit, tenant, body, status }) => status(201, await createTenantKey(deps, visit, tenant.id, body)), {
      ...TENANT,
      ...FRESH_HOUR,
      body: CreateKey,
      response: { 201: MintedKey, ...CHANGED },
    })
    .post(
      '/:id/roll',
      async ({ visit, tenant, params, body, status }) =>
        status(201, await rollTenantKey(deps, visit, { tenantId: tenant.id, id: params.id }, body.old_expires)),
      { ...TENANT_ITEM, ...FRESH_HOUR, body: RollKey, response: { 201: MintedKey, ...CHANGED } },
    )
    .delete('/:id', ({ visit, tenant, params }) => revokeTenantKey(deps, visit, { tenantId: tenant.id, id: params.id }), {
      ...TENANT_ITEM,
      ...FRESH_HOUR,
      body: Nothing,
      response: { 200: ApiKey, ...CHANGED },
    })
