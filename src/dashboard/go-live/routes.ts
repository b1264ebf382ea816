import { Elysia } from 'elysia'
import { guard } from '../../people/guard.ts'
import { actorOf } from '../../people/session.ts'
import type { Deps } from '../deps.ts'
import { CHANGED, READ, TENANT } from '../tenant-options.ts'
import { choosePath, createGoLiveChecks, readPath } from './go-live.ts'
import { ChoosePath, GoLive } from './schema.ts'

/** A shop's way to its first live verification. */
export const goLiveRoutes = (deps: Deps) => {
  const checks = createGoLiveChecks(deps)
  return new Elysia({ prefix: '/tenants/:tenant' })
    .use(guard(deps))
    .get('/go-live', ({ tenant }) => readPath(deps, checks, tenant.id), { ...TENANT, response: { 200: GoLive, ...READ } })
    .put(
      '/go-live/path',
      ({ visit, tenant, body }) =>
        choosePath(deps, checks, { tenantId: tenant.id, documents: body.documents, actor: actorOf(visit.user) }),
      { ...TENANT, body: ChoosePath, response: { 200: GoLive, ...CHANGED } },
    )
}
