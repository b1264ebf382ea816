import { Elysia } from 'elysia'
import type { Deps } from '../access/deps.ts'
import { accessPlugin } from '../access/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import { listTemplates } from './list.ts'
import { TemplateList } from './schema.ts'

export const templateRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/v1', tags: ['Templates'] })
    .use(accessPlugin(deps))
    .get(
      '/templates',
      ({ caller }) => listTemplates(deps, caller.tenantId, caller.kind === 'device' ? caller.allowedTemplates : undefined),
      {
        need: { scope: 'verifications:create' },
        response: { 200: TemplateList, ...errorResponses(401, 403, 429, 500) },
        detail: {
          operationId: 'listTemplates',
          summary: 'List what can be asked for',
          description: 'Built-in templates first, then your own. A device gets those of its `allowed_templates` that exist.',
        },
      },
    )
