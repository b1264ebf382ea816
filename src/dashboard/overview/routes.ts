import { Elysia } from 'elysia'
import { guard } from '../../people/guard.ts'
import type { Deps } from '../deps.ts'
import { READ, TENANT } from '../tenant-options.ts'
import { readOverview } from './overview.ts'
import { Overview, OverviewQuery } from './schema.ts'

/** A tenant's first page. */
export const overviewRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/tenants/:tenant' })
    .use(guard(deps))
    .get('/overview', ({ tenant, query }) => readOverview(deps, tenant, query), {
      ...TENANT,
      query: OverviewQuery,
      response: { 200: Overview, ...READ },
    })
