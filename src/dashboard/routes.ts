import { Elysia } from 'elysia'
import { mailRoutes } from '../alerts/routes.ts'
import { peopleRoutes } from '../people/routes.ts'
import type { Deps } from './deps.ts'
import { keyRoutes } from './developers/keys/routes.ts'
import { logInRoutes } from './developers/log-ins/routes.ts'
import { webhookRoutes } from './developers/webhooks/routes.ts'
import { goLiveRoutes } from './go-live/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { auditRoutes } from './settings/audit/routes.ts'
import { healthRoutes } from './settings/health/routes.ts'
import { installationRoutes } from './settings/installation/routes.ts'
import { signingRoutes } from './settings/installation/signing-routes.ts'
import { shopRoutes } from './settings/shop/routes.ts'
import { trustRoutes } from './settings/trust/routes.ts'
import { templateRoutes } from './templates/routes.ts'
import { deviceRoutes } from './tills/routes.ts'
import { verificationRoutes } from './verifications/routes.ts'

/** Routes of the dashboard's own pages, so not in the public API document. */
export const dashboardRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/dashboard/api', detail: { hide: true } })
    .use(peopleRoutes(deps))
    .use(mailRoutes(deps))
    .use(overviewRoutes(deps))
    .use(verificationRoutes(deps))
    .use(deviceRoutes(deps))
    .use(templateRoutes(deps))
    .use(keyRoutes(deps))
    .use(logInRoutes(deps))
    .use(webhookRoutes(deps))
    .use(shopRoutes(deps))
    .use(trustRoutes(deps))
    .use(auditRoutes(deps))
    .use(installationRoutes(deps))
    .use(signingRoutes(deps))
    .use(healthRoutes(deps))
    .use(goLiveRoutes(deps))
