import { Elysia } from 'elysia'
import { peopleRoutes } from '../people/routes.ts'
import type { Deps } from './deps.ts'
import { deviceRoutes } from './device-routes.ts'
import { goLiveRoutes } from './go-live-routes.ts'
import { installationRoutes } from './installation-routes.ts'
import { shopRoutes } from './shop-routes.ts'
import { signingRoutes } from './signing-routes.ts'
import { tenantRoutes } from './tenant-routes.ts'
import { trustRoutes } from './trust-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'

/** Routes of the dashboard's own pages, so not in the public API document. */
export const dashboardRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/dashboard/api', detail: { hide: true } })
    .use(peopleRoutes(deps))
    .use(installationRoutes(deps))
    .use(signingRoutes(deps))
    .use(trustRoutes(deps))
    .use(tenantRoutes(deps))
    .use(deviceRoutes(deps))
    .use(webhookRoutes(deps))
    .use(shopRoutes(deps))
    .use(goLiveRoutes(deps))
