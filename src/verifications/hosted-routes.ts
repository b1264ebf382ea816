import { Elysia } from 'elysia'
import { accessPlugin } from '../access/plugin.ts'
import type { Deps } from '../deps.ts'
import { errorResponses } from '../http/schema.ts'
import { hostedVerification, type OnShown } from './hosted.ts'
import { HostedVerification, VerificationId } from './schema.ts'

/** What the hosted page asks for; the page itself is served by web/. */
export const hostedRoutes = (deps: Deps, onShown: OnShown) =>
  new Elysia().use(accessPlugin(deps)).get('/v/:id/data', ({ params }) => hostedVerification(deps, params.id, onShown), {
    open: { perSession: 'status', ownPages: true },
    params: VerificationId,
    response: { 200: HostedVerification, ...errorResponses(404, 429, 500) },
    // Not part of the interface: it changes with the page.
    detail: { hide: true },
  })
