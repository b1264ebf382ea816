import { Elysia } from 'elysia'
import type { Deps } from '../access/deps.ts'
import { accessPlugin } from '../access/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import { Till } from './schema.ts'
import { readTill } from './till.ts'

/** The data of the till's page; web/ serves the page itself. */
export const tillRoutes = (deps: Deps) =>
  new Elysia().use(accessPlugin(deps)).get('/till/data', ({ caller }) => readTill(deps, caller), {
    need: { scope: 'verifications:read' },
    response: { 200: Till, ...errorResponses(401, 403, 429, 500) },
    // Not part of the interface: it changes with the page.
    detail: { hide: true },
  })
