import { Elysia } from 'elysia'
import { presentTill } from '../../devices/present.ts'
import { readTills } from '../../devices/read.ts'
import { revokeDevice } from '../../devices/revoke.ts'
import { ChangeTill, PairDevice, RegisterTill, TillDevice } from '../../devices/schema.ts'
import { Environmental, ItemPath, Nothing } from '../../http/wire.ts'
import { guard } from '../../people/guard.ts'
import { actorOf } from '../../people/session.ts'
import type { Deps } from '../deps.ts'
import { CHANGED, CHANGED_ALL, FRESH, READ, READ_ALL, TENANT, TENANT_ITEM } from '../tenant-options.ts'
import { addTill, changeTill, liftPairingLock, pairTill, readPairingLocks } from './devices.ts'
import { PairableDevice, PairingLockList, TillDeviceList } from './schema.ts'

/** One tenant's tills, and the networks that wrong pairing codes locked out. */
export const deviceRoutes = (deps: Deps) =>
  new Elysia()
    .use(guard(deps))
    .get(
      '/tenants/:tenant/devices',
      async ({ tenant, query }) => ({ data: await readTills(deps, { tenantId: tenant.id, ...query }) }),
      {
        ...TENANT,
        query: Environmental,
        response: { 200: TillDeviceList, ...READ },
      },
    )
    .post(
      '/tenants/:tenant/devices',
      async ({ visit, tenant, query, body, status }) =>
        status(201, await addTill(deps, visit, { tenantId: tenant.id, ...query }, body)),
      { ...TENANT, ...FRESH, query: Environmental, body: RegisterTill, response: { 201: PairableDevice, ...CHANGED } },
    )
    .put(
      '/tenants/:tenant/devices/:id',
      ({ visit, tenant, params, query, body }) => changeTill(deps, visit, { tenantId: tenant.id, ...query, id: params.id }, body),
      { ...TENANT_ITEM, ...FRESH, query: Environmental, body: ChangeTill, response: { 200: TillDevice, ...CHANGED } },
    )
    .post(
      '/tenants/:tenant/devices/:id/pairing',
      async ({ visit, tenant, params, query, body, status }) =>
        status(201, await pairTill(deps, visit, { tenantId: tenant.id, ...query, id: params.id }, body)),
      { ...TENANT_ITEM, ...FRESH, query: Environmental, body: PairDevice, response: { 201: PairableDevice, ...CHANGED } },
    )
    .delete(
      '/tenants/:tenant/devices/:id',
      async ({ visit, tenant, params, query }) =>
        presentTill(await revokeDevice(deps, { tenantId: tenant.id, ...query }, params.id, actorOf(visit.user))),
      { ...TENANT_ITEM, ...FRESH, query: Environmental, body: Nothing, response: { 200: TillDevice, ...CHANGED } },
    )
    .get('/pairing-locks', () => readPairingLocks(deps), {
      user: { who: 'owner' },
      response: { 200: PairingLockList, ...READ_ALL },
    })
    .delete(
      '/pairing-locks/:id',
      async ({ visit, params }) => {
        await liftPairingLock(deps, params.id, actorOf(visit.user))
        return {}
      },
      {
        user: { who: 'owner' },
        params: ItemPath,
        body: Nothing,
        response: { 200: Nothing, ...CHANGED_ALL },
      },
    )
