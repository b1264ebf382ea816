import { Elysia } from 'elysia'
import { errorResponses } from '../../../http/schema.ts'
import { Nothing } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import { actorOf } from '../../../people/session.ts'
import type { Deps } from '../../deps.ts'
import { CHANGED_ALL, READ, READ_ALL, TENANT } from '../../tenant-options.ts'
import { createWalk, readAuditPage, readAuditPeople, streamExport } from './audit.ts'
import { AuditFilter, AuditPage, AuditPeople, AuditVerification, TenantAuditFilter } from './schema.ts'

/** The audit trail: of one tenant for its members, of the installation for owners. */
export const auditRoutes = (deps: Deps) => {
  const walk = createWalk(deps)
  return new Elysia()
    .use(guard(deps))
    .get('/tenants/:tenant/audit', ({ tenant, query }) => readAuditPage(deps, query, tenant.id), {
      ...TENANT,
      query: TenantAuditFilter,
      response: { 200: AuditPage, ...READ },
    })
    .get('/tenants/:tenant/audit/people', ({ tenant }) => readAuditPeople(deps, tenant.id), {
      ...TENANT,
      response: { 200: AuditPeople, ...READ },
    })
    .get('/audit', ({ query }) => readAuditPage(deps, query), {
      user: { who: 'owner' },
      query: AuditFilter,
      response: { 200: AuditPage, ...errorResponses(400, 401, 403, 429, 500) },
    })
    .get('/audit/people', () => readAuditPeople(deps), {
      user: { who: 'owner' },
      response: { 200: AuditPeople, ...READ_ALL },
    })
    .get('/audit/verification', () => walk.state(), { user: { who: 'owner' }, response: { 200: AuditVerification, ...READ_ALL } })
    .post('/audit/verification', () => walk.start(), {
      user: { who: 'owner' },
      body: Nothing,
      response: { 200: AuditVerification, ...CHANGED_ALL },
    })
    .post(
      '/audit/export',
      async ({ visit, set }) => {
        set.headers['content-type'] = 'application/jsonl'
        set.headers['content-disposition'] = 'attachment; filename="audit.jsonl"'
        return await streamExport(deps, actorOf(visit.user))
      },
      { user: { who: 'owner', fresh: 'hour' }, body: Nothing },
    )
}
