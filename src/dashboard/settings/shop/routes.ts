import { Elysia } from 'elysia'
import { Environmental } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import { LOGO_BYTES_MAX } from '../../../tenants/look.ts'
import type { Deps } from '../../deps.ts'
import { CHANGED, CHANGED_ALL, READ, READ_ALL, TENANT } from '../../tenant-options.ts'
import { ChangeLook, ChangeTenant, CreateTenant, Look, NamedOrigin, OriginList, Tenant, TenantList } from './schema.ts'
import { allowOrigin, changeShopLook, forgetOrigin, listOrigins, readShopLook } from './shop.ts'
import { addTenant, changeOwnTenant, readOwnTenants } from './tenants.ts'

/** A picture in base64, and the rest of the body. */
const LOOK_BYTES_MAX = 2 * LOGO_BYTES_MAX

/** The shops, the origins of a shop's pages, and the look that its customers see. */
export const shopRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/tenants' })
    .use(guard(deps))
    .get('', ({ visit }) => readOwnTenants(deps, visit), {
      user: { who: 'anyone' },
      response: { 200: TenantList, ...READ_ALL },
    })
    .post('', async ({ visit, body, status }) => status(201, await addTenant(deps, visit, body.name)), {
      user: { who: 'owner' },
      body: CreateTenant,
      response: { 201: Tenant, ...CHANGED_ALL },
    })
    .put('/:tenant', ({ visit, tenant, body }) => changeOwnTenant(deps, visit, tenant.id, body), {
      ...TENANT,
      body: ChangeTenant,
      response: { 200: Tenant, ...CHANGED },
    })
    .get('/:tenant/origins', ({ tenant, query }) => listOrigins(deps, { tenantId: tenant.id, ...query }), {
      ...TENANT,
      query: Environmental,
      response: { 200: OriginList, ...READ },
    })
    .post(
      '/:tenant/origins',
      ({ visit, tenant, query, body }) => allowOrigin(deps, visit, { tenantId: tenant.id, ...query }, body),
      {
        ...TENANT,
        query: Environmental,
        body: NamedOrigin,
        response: { 200: OriginList, ...CHANGED },
      },
    )
    .delete(
      '/:tenant/origins',
      ({ visit, tenant, query, body }) => forgetOrigin(deps, visit, { tenantId: tenant.id, ...query }, body),
      {
        ...TENANT,
        query: Environmental,
        body: NamedOrigin,
        response: { 200: OriginList, ...CHANGED },
      },
    )
    .get('/:tenant/look', ({ tenant }) => readShopLook(deps, tenant.id), { ...TENANT, response: { 200: Look, ...READ } })
    .put('/:tenant/look', ({ visit, tenant, body }) => changeShopLook(deps, visit, tenant.id, body), {
      ...TENANT,
      member: { ...TENANT.member, bytesMax: LOOK_BYTES_MAX },
      body: ChangeLook,
      response: { 200: Look, ...CHANGED },
    })
