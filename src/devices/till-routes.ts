import { Elysia } from 'elysia'
import { accessPlugin } from '../access/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import type { Deps } from './deps.ts'
import { Till } from './schema.ts'
import { readTill } from './till.ts'

/** What the till's page asks for; the page itself is served by web/. */
export const tillRoutes = (deps: Deps) =>
  new Elysia().use(accessPlugin(deps)).get('/till/data', ({ caller }) => readTill(deps, caller), {
    need: { scope: 'verifications:read' },
    response: { 200: Till, ...errorResponses(401, 403, 429, 500) },
    // Not part of the interface: it changes with the page.
    detail: { hide: true },
  })
