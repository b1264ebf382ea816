import { Elysia } from 'elysia'
import { peopleRoutes } from '../people/routes.ts'
import type { Deps } from './deps.ts'
import { webhookRoutes } from './developers/webhooks/routes.ts'
import { goLiveRoutes } from './go-live/routes.ts'
import { installationRoutes } from './settings/installation/routes.ts'
import { signingRoutes } from './settings/installation/signing-routes.ts'
import { shopRoutes } from './settings/shop/routes.ts'
import { trustRoutes } from './settings/trust/routes.ts'
import { tenantRoutes } from './tenant-routes.ts'
import { deviceRoutes } from './tills/routes.ts'

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
