import type { Server } from 'bun'
import { Elysia } from 'elysia'
import { isCompiled } from './base/threads.ts'
import { dashboardRoutes } from './dashboard/routes.ts'
import type { Demo } from './demo/furnish.ts'
import { demoRoutes } from './demo/routes.ts'
import type { Deps } from './deps.ts'
import { deviceRoutes } from './devices/routes.ts'
import { tillRoutes } from './devices/till-routes.ts'
import { createHandbook } from './handbook/index.ts'
import { docsRoutes } from './http/docs.ts'
import { describeRoutes, type OpenApi } from './http/openapi.ts'
import { httpPlugin } from './http/plugin.ts'
import type { Route } from './http/routing.ts'
import { serviceRoutes } from './http/service-routes.ts'
import { oidcRoutes } from './oidc/routes.ts'
import { sandboxRoutes } from './sandbox/routes.ts'
import { templateRoutes } from './templates/routes.ts'
import { usageRoutes } from './usage/routes.ts'
import { dcRoutes } from './verifications/exchange/dc-routes.ts'
import { inPersonRoutes } from './verifications/exchange/in-person/routes.ts'
import { walletRoutes } from './verifications/exchange/routes.ts'
import { hostedRoutes } from './verifications/page/hosted-routes.ts'
import { verificationRoutes } from './verifications/routes.ts'
import { WebhookEvent } from './verifications/schema.ts'
import { serveLogin, serveLost, webPages } from './web/serve.ts'

/** Every plugin and feature of the service, in order. */
export function createApp(deps: Deps, demo?: Demo) {
  const server = (): Server<unknown> | null => app.server
  const app = new Elysia({ normalize: false })
    .use(httpPlugin(deps, { routes: (): Route[] => app.routes, server, lostPage: serveLost }))
    .use(verificationRoutes(deps))
    .use(hostedRoutes(deps))
    .use(walletRoutes(deps))
    .use(dcRoutes(deps))
    .use(inPersonRoutes(deps))
    .use(deps.config.hasSandbox ? sandboxRoutes(deps) : new Elysia())
    .use(deps.config.hasOidc ? oidcRoutes(deps, serveLogin) : new Elysia())
    .use(templateRoutes(deps))
    .use(usageRoutes(deps))
    .use(deviceRoutes(deps))
    .use(tillRoutes(deps))
    .use(dashboardRoutes(deps))
    .use(serviceRoutes(deps))
    .use(demo ? demoRoutes(deps, demo) : new Elysia())
    .use(
      webPages(
        deps,
        createHandbook(
          () => document(),
          () => ({
            address: deps.config.publicUrl,
            command: isCompiled() ? 'vidimus' : './scripts/bun src/main.ts',
          }),
        ),
        demo !== undefined,
      ),
    )
  // Made on first request: the public address may be unknown until the service listens.
  const document = (): OpenApi => describeRoutes(app.routes, deps.config.publicUrl, WebhookEvent)
  return app.use(docsRoutes(deps, document))
}
