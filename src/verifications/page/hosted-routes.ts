import { Elysia } from 'elysia'
import { accessPlugin } from '../../access/plugin.ts'
import { traceOf } from '../../http/plugin.ts'
import { rateLimitHeaders } from '../../http/rate-limit.ts'
import { errorResponses } from '../../http/schema.ts'
import type { Deps } from '../deps.ts'
import { HostedVerification, PageOwner, PageReturn, VerificationId } from '../schema.ts'
import { hostedLogo, hostedVerification } from './hosted.ts'
import { ownPage, returnFromPage } from './page-owner.ts'

// Not part of the interface: they change with the page.
const HIDDEN = { hide: true }

/** Routes of the hosted page's script; the page itself is served by web/. */
export const hostedRoutes = (deps: Deps) => {
  const chargeFor = (request: Request, set: { headers: Record<string, string | number> }) => (cost: number) => {
    if (cost > 0) Object.assign(set.headers, rateLimitHeaders([deps.limits.take('ip', traceOf(request).client, cost)]))
  }
  return new Elysia()
    .use(accessPlugin(deps))
    .get('/v/:id/data', ({ params, request, set }) => hostedVerification(deps, params.id, request, chargeFor(request, set)), {
      open: { perSession: 'status', ownPages: true },
      params: VerificationId,
      response: { 200: HostedVerification, ...errorResponses(404, 429, 500) },
      detail: HIDDEN,
    })
    .get('/v/:id/logo', ({ params }) => hostedLogo(deps, params.id), {
      open: { perSession: 'status', ownPages: true },
      params: VerificationId,
      detail: HIDDEN,
    })
    .post(
      '/v/:id/owner',
      async ({ params, request, set }) => {
        const { owner, cookie } = await ownPage(deps, params.id, request)
        if (cookie !== undefined) set.headers['set-cookie'] = cookie
        return owner
      },
      {
        open: { perSession: 'status', ownPages: true },
        params: VerificationId,
        response: { 200: PageOwner, ...errorResponses(403, 404, 429, 500) },
        detail: HIDDEN,
      },
    )
    .post('/v/:id/return', ({ params, request }) => returnFromPage(deps, params.id, request), {
      open: { perSession: 'status', ownPages: true },
      params: VerificationId,
      response: { 200: PageReturn, ...errorResponses(403, 404, 429, 500) },
      detail: HIDDEN,
    })
}
