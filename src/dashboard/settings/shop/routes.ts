import { Elysia } from 'elysia'
import { Environmental } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import { LOGO_BYTES_MAX } from '../../../tenants/look.ts'
import type { Deps } from '../../deps.ts'
import { CHANGED, READ, TENANT } from '../../tenant-options.ts'
import { ChangeLook, Look, NamedOrigin, OriginList } from './schema.ts'
import { allowOrigin, changeShopLook, forgetOrigin, listOrigins, readShopLook } from './shop.ts'

/** A picture in base64, and the rest of the body. */
const LOOK_BYTES_MAX = 2 * LOGO_BYTES_MAX

/** The origins of a shop's pages, and the look that its customers see. */
export const shopRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/tenants/:tenant' })
    .use(guard(deps))
    .get('/origins', ({ tenant, query }) => listOrigins(deps, { tenantId: tenant.id, ...query }), {
      ...TENANT,
      query: Environmental,
      response: { 200: OriginList, ...READ },
    })
    .post('/origins', ({ visit, tenant, query, body }) => allowOrigin(deps, visit, { tenantId: tenant.id, ...query }, body), {
      ...TENANT,
      query: Environmental,
      body: NamedOrigin,
      response: { 200: OriginList, ...CHANGED },
    })
    .delete('/origins', ({ visit, tenant, query, body }) => forgetOrigin(deps, visit, { tenantId: tenant.id, ...query }, body), {
      ...TENANT,
      query: Environmental,
      body: NamedOrigin,
      response: { 200: OriginList, ...CHANGED },
    })
    .get('/look', ({ tenant }) => readShopLook(deps, tenant.id), { ...TENANT, response: { 200: Look, ...READ } })
    .put('/look', ({ visit, tenant, body }) => changeShopLook(deps, visit, tenant.id, body), {
      ...TENANT,
      member: { ...TENANT.member, bytesMax: LOOK_BYTES_MAX },
      body: ChangeLook,
      response: { 200: Look, ...CHANGED },
    })
