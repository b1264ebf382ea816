import { Elysia } from 'elysia'
import { presentDevice } from '../../devices/present.ts'
import { readDevices } from '../../devices/read.ts'
import { revokeDevice } from '../../devices/revoke.ts'
import { ChangeDevice, Device, DeviceList, PairDevice, RegisterDevice } from '../../devices/schema.ts'
import { Environmental, Nothing } from '../../http/wire.ts'
import { guard } from '../../people/guard.ts'
import { actorOf } from '../../people/session.ts'
import type { Deps } from '../deps.ts'
import { PairableDevice } from '../settings-schema.ts'
import { CHANGED, FRESH, READ, TENANT, TENANT_ITEM } from '../tenant-options.ts'
import { addTill, changeTill, pairTill } from './devices.ts'

/** One tenant's tills. */
export const deviceRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/tenants/:tenant/devices' })
    .use(guard(deps))
    .get('', async ({ tenant, query }) => ({ data: await readDevices(deps, { tenantId: tenant.id, ...query }) }), {
      ...TENANT,
      query: Environmental,
      response: { 200: DeviceList, ...READ },
    })
    .post(
      '',
      async ({ visit, tenant, query, body, status }) =>
        status(201, await addTill(deps, visit, { tenantId: tenant.id, ...query }, body)),
      { ...TENANT, ...FRESH, query: Environmental, body: RegisterDevice, response: { 201: PairableDevice, ...CHANGED } },
    )
    .put(
      '/:id',
      ({ visit, tenant, params, query, body }) => changeTill(deps, visit, { tenantId: tenant.id, ...query, id: params.id }, body),
      { ...TENANT_ITEM, ...FRESH, query: Environmental, body: ChangeDevice, response: { 200: Device, ...CHANGED } },
    )
    .post(
      '/:id/pairing',
      async ({ visit, tenant, params, query, body, status }) =>
        status(201, await pairTill(deps, visit, { tenantId: tenant.id, ...query, id: params.id }, body)),
      { ...TENANT_ITEM, ...FRESH, query: Environmental, body: PairDevice, response: { 201: PairableDevice, ...CHANGED } },
    )
    .delete(
      '/:id',
      async ({ visit, tenant, params, query }) =>
        presentDevice(await revokeDevice(deps, { tenantId: tenant.id, ...query }, params.id, actorOf(visit.user))),
      { ...TENANT_ITEM, ...FRESH, query: Environmental, body: Nothing, response: { 200: Device, ...CHANGED } },
    )
