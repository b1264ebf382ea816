import { Elysia } from 'elysia'
import { Nothing } from '../../http/wire.ts'
import { guard } from '../../people/guard.ts'
import type { Deps } from '../deps.ts'
import { CHANGED, READ, TENANT } from '../tenant-options.ts'
import {
  BuiltQuery,
  Catalogue,
  CheckTemplate,
  Choice,
  SaveTemplate,
  Template,
  TemplateCheck,
  TemplateList,
  TemplatePath,
  TemplateUse,
} from './schema.ts'
import {
  buildTemplate,
  checkTemplate,
  readCatalogue,
  readTemplateUse,
  readTenantTemplates,
  removeTenantTemplate,
  saveTenantTemplate,
} from './templates.ts'

/** One tenant's templates, and what their editor needs. */
export const templateRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/tenants/:tenant' })
    .use(guard(deps))
    .get('/templates', ({ tenant }) => readTenantTemplates(deps, tenant.id), {
      ...TENANT,
      response: { 200: TemplateList, ...READ },
    })
    .post('/template-check', ({ body }) => checkTemplate(body), {
      ...TENANT,
      body: CheckTemplate,
      response: { 200: TemplateCheck, ...CHANGED },
    })
    .get('/templates/:key/use', ({ tenant, params }) => readTemplateUse(deps, { tenantId: tenant.id, key: params.key }), {
      member: { who: 'anyone' },
      params: TemplatePath,
      response: { 200: TemplateUse, ...READ },
    })
    // Not below /templates, where every name may be the key of a template.
    .get('/template-catalogue', () => readCatalogue(), { ...TENANT, response: { 200: Catalogue, ...READ } })
    .post('/template-build', ({ body }) => buildTemplate(body), {
      ...TENANT,
      body: Choice,
      response: { 200: BuiltQuery, ...CHANGED },
    })
    .put(
      '/templates/:key',
      ({ visit, tenant, params, body }) => saveTenantTemplate(deps, visit, { tenantId: tenant.id, key: params.key }, body),
      { member: { who: 'anyone' }, params: TemplatePath, body: SaveTemplate, response: { 200: Template, ...CHANGED } },
    )
    .delete(
      '/templates/:key',
      async ({ visit, tenant, params }) => {
        await removeTenantTemplate(deps, visit, { tenantId: tenant.id, key: params.key })
        return {}
      },
      { member: { who: 'anyone' }, params: TemplatePath, body: Nothing, response: { 200: Nothing, ...CHANGED } },
    )
