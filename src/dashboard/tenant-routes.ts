import { Elysia } from 'elysia'
import { traceOf } from '../http/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import { Environmental, Nothing } from '../http/wire.ts'
import { guard } from '../people/guard.ts'
import { actorOf } from '../people/session.ts'
import { cancelVerification } from '../verifications/cancel.ts'
import { eraseVerification } from '../verifications/erase.ts'
import { ErasureResult, Verification } from '../verifications/schema.ts'
import type { Deps } from './deps.ts'
import { createTenantKey, readTenantKeys, revokeTenantKey, rollTenantKey } from './developers/keys.ts'
import { readOverview } from './overview/overview.ts'
import { ChangeTenant, Tenant } from './schema.ts'
import { readAuditPage } from './settings/audit.ts'
import { changeOwnTenant } from './settings/shop/tenants.ts'
import {
  ApiKey,
  ApiKeyList,
  AuditFilter,
  AuditPage,
  BuiltQuery,
  Catalogue,
  CheckTemplate,
  Choice,
  CreateKey,
  MintedKey,
  RollKey,
  SaveTemplate,
  Template,
  TemplateCheck,
  TemplateList,
  TemplatePath,
  TemplateUse,
} from './settings-schema.ts'
import {
  buildTemplate,
  checkTemplate,
  readCatalogue,
  readTemplateUse,
  readTenantTemplates,
  removeTenantTemplate,
  saveTenantTemplate,
} from './templates/templates.ts'
import { CHANGED, FRESH, FRESH_HOUR, READ, TENANT, TENANT_ITEM } from './tenant-options.ts'
import { EXPORT_COST, exportSummaries } from './verifications/export.ts'
import {
  Overview,
  TryVerification,
  VerificationDetail,
  VerificationExport,
  VerificationFilter,
  VerificationPage,
} from './verifications/schema.ts'
import { listSummaries, readDetail, tryVerification } from './verifications/verifications.ts'

/** One tenant's settings and sessions, for its members and for owners. */
export const tenantRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/tenants/:tenant' })
    .use(guard(deps))
    .put('', ({ visit, tenant, body }) => changeOwnTenant(deps, visit, tenant.id, body), {
      ...TENANT,
      body: ChangeTenant,
      response: { 200: Tenant, ...CHANGED },
    })
    .get('/overview', ({ tenant, query }) => readOverview(deps, tenant, query.environment), {
      ...TENANT,
      query: Environmental,
      response: { 200: Overview, ...READ },
    })
    .get('/verifications', ({ tenant, query }) => listSummaries(deps, tenant.id, query), {
      ...TENANT,
      query: VerificationFilter,
      response: { 200: VerificationPage, ...READ },
    })
    .post(
      '/verifications',
      async ({ visit, tenant, body, status }) => status(201, await tryVerification(deps, visit, tenant, body)),
      { ...TENANT, body: TryVerification, response: { 201: Verification, ...CHANGED } },
    )
    .post(
      '/verifications/export',
      async ({ visit, tenant, query, set }) => {
        set.headers['content-type'] = 'text/csv; charset=utf-8'
        set.headers['content-disposition'] = 'attachment; filename="verifications.csv"'
        return await exportSummaries(deps, tenant.id, query, actorOf(visit.user))
      },
      { ...TENANT, member: { ...FRESH_HOUR.member, cost: EXPORT_COST }, query: VerificationExport, body: Nothing },
    )
    .get(
      '/verifications/:id',
      ({ visit, tenant, params, query }) => readDetail(deps, visit, { tenantId: tenant.id, ...query }, params.id),
      { ...TENANT_ITEM, query: Environmental, response: { 200: VerificationDetail, ...READ } },
    )
    .delete(
      '/verifications/:id',
      ({ visit, tenant, params, query }) =>
        eraseVerification(deps, { tenantId: tenant.id, ...query }, actorOf(visit.user), params.id),
      { ...TENANT_ITEM, ...FRESH, query: Environmental, body: Nothing, response: { 200: ErasureResult, ...CHANGED } },
    )
    .post(
      '/verifications/:id/cancel',
      ({ visit, tenant, params, query, request }) =>
        cancelVerification(deps, { tenantId: tenant.id, ...query }, params.id, {
          actor: actorOf(visit.user),
          requestId: traceOf(request).id,
        }),
      {
        ...TENANT_ITEM,
        query: Environmental,
        body: Nothing,
        response: { 200: Verification, ...CHANGED, ...errorResponses(410) },
      },
    )
    .get('/keys', ({ tenant }) => readTenantKeys(deps, tenant.id), { ...TENANT, response: { 200: ApiKeyList, ...READ } })
    .post('/keys', async ({ visit, tenant, body, status }) => status(201, await createTenantKey(deps, visit, tenant.id, body)), {
      ...TENANT,
      ...FRESH_HOUR,
      body: CreateKey,
      response: { 201: MintedKey, ...CHANGED },
    })
    .post(
      '/keys/:id/roll',
      async ({ visit, tenant, params, body, status }) =>
        status(201, await rollTenantKey(deps, visit, { tenantId: tenant.id, id: params.id }, body.old_expires)),
      { ...TENANT_ITEM, ...FRESH_HOUR, body: RollKey, response: { 201: MintedKey, ...CHANGED } },
    )
    .delete('/keys/:id', ({ visit, tenant, params }) => revokeTenantKey(deps, visit, { tenantId: tenant.id, id: params.id }), {
      ...TENANT_ITEM,
      ...FRESH_HOUR,
      body: Nothing,
      response: { 200: ApiKey, ...CHANGED },
    })
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
    .get('/audit', ({ tenant, query }) => readAuditPage(deps, query, tenant.id), {
      ...TENANT,
      query: AuditFilter,
      response: { 200: AuditPage, ...READ },
    })
