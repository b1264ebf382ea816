import { Elysia } from 'elysia'
import type { Deps } from '../access/deps.ts'
import { accessPlugin } from '../access/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import { readUsage } from './read.ts'
import { Usage } from './schema.ts'

export const usageRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/v1', tags: ['Usage'] })
    .use(accessPlugin(deps))
    .get('/usage', ({ caller }) => readUsage(deps, caller.tenantId, caller.dailyQuota), {
      need: { scope: 'verifications:read' },
      response: { 200: Usage, ...errorResponses(401, 403, 429, 500) },
      detail: { operationId: 'getUsage', summary: "Today's creations and the days before" },
    })
