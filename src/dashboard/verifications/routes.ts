import { Elysia } from 'elysia'
import { traceOf } from '../../http/plugin.ts'
import { errorResponses } from '../../http/schema.ts'
import { Environmental, Nothing } from '../../http/wire.ts'
import { guard } from '../../people/guard.ts'
import { actorOf } from '../../people/session.ts'
import { cancelVerification } from '../../verifications/end/cancel.ts'
import { emptyTest } from '../../verifications/erasure/empty.ts'
import { eraseVerification } from '../../verifications/erasure/erase.ts'
import { ErasureResult, Verification } from '../../verifications/schema.ts'
import type { Deps } from '../deps.ts'
import { CHANGED, FRESH, FRESH_HOUR, READ, TENANT, TENANT_ITEM } from '../tenant-options.ts'
import { createExamples } from './examples.ts'
import { EXPORT_COST, exportSummaries } from './export.ts'
import {
  EmptiedTest,
  EmptyTest,
  ExampleStep,
  MadeExamples,
  TryVerification,
  VerificationCount,
  VerificationDetail,
  VerificationExport,
  VerificationFilter,
  VerificationPage,
} from './schema.ts'
import { countSummaries, listSummaries, readDetail, tryVerification } from './verifications.ts'

/** One tenant's verifications. */
export const verificationRoutes = (deps: Deps) => {
  const makeExamples = createExamples(deps)
  return new Elysia({ prefix: '/tenants/:tenant/verifications' })
    .use(guard(deps))
    .get('', ({ tenant, query }) => listSummaries(deps, tenant.id, query), {
      ...TENANT,
      query: VerificationFilter,
      response: { 200: VerificationPage, ...READ },
    })
    .post('', async ({ visit, tenant, body, status }) => status(201, await tryVerification(deps, visit, tenant, body)), {
      ...TENANT,
      body: TryVerification,
      response: { 201: Verification, ...CHANGED },
    })
    .post(
      '/examples',
      ({ visit, tenant, body, request }) => makeExamples({ visit, tenant, step: body, requestId: traceOf(request).id }),
      { ...TENANT, body: ExampleStep, response: { 200: MadeExamples, ...CHANGED } },
    )
    .post('/empty', ({ visit, tenant }) => emptyTest(deps, tenant.id, actorOf(visit.user)), {
      ...TENANT,
      member: { who: 'owner', fresh: 'hour' },
      body: EmptyTest,
      response: { 200: EmptiedTest, ...CHANGED },
    })
    .post(
      '/export',
      async ({ visit, tenant, query, set }) => {
        set.headers['content-type'] = 'text/csv; charset=utf-8'
        set.headers['content-disposition'] = 'attachment; filename="verifications.csv"'
        return await exportSummaries(deps, tenant.id, query, actorOf(visit.user))
      },
      { ...TENANT, member: { ...FRESH_HOUR.member, cost: EXPORT_COST }, query: VerificationExport, body: Nothing },
    )
    .get('/count', ({ tenant, query }) => countSummaries(deps, tenant.id, query), {
      ...TENANT,
      query: VerificationExport,
      response: { 200: VerificationCount, ...READ },
    })
    .get('/:id', ({ visit, tenant, params, query }) => readDetail(deps, visit, { tenantId: tenant.id, ...query }, params.id), {
      ...TENANT_ITEM,
      query: Environmental,
      response: { 200: VerificationDetail, ...READ },
    })
    .delete(
      '/:id',
      ({ visit, tenant, params, query }) =>
        eraseVerification(deps, { tenantId: tenant.id, ...query }, actorOf(visit.user), params.id),
      { ...TENANT_ITEM, ...FRESH, query: Environmental, body: Nothing, response: { 200: ErasureResult, ...CHANGED } },
    )
    .post(
      '/:id/cancel',
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
}
