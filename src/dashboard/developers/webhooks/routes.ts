import { Elysia } from 'elysia'
import { traceOf } from '../../../http/plugin.ts'
import { Environmental, Nothing } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import { actorOf, type Visit } from '../../../people/session.ts'
import type { Asking } from '../../../webhooks/replay.ts'
import type { Deps } from '../../deps.ts'
import { CHANGED, FRESH, READ, TENANT, TENANT_ITEM } from '../../tenant-options.ts'
import { readDeliveryDetail, readDeliveryPage, replayDelivery, replayFailedDeliveries } from './deliveries.ts'
import {
  DeliveryDetail,
  DeliveryFilter,
  DeliveryPage,
  DeliverySummary,
  ReplayedDeliveries,
  SetWebhookEndpoint,
  TestDelivery,
  WebhookEndpoint,
  WebhookSecret,
  WebhookSecretState,
} from './schema.ts'
import {
  changeWebhookEndpoint,
  dropPreviousTenantSecret,
  readWebhookEndpoint,
  readWebhookSecretState,
  revealWebhookSecret,
  rotateTenantSecret,
  testWebhookEndpoint,
} from './webhooks.ts'

/** A tenant's webhooks: secret, endpoint and delivery log. */
export const webhookRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/tenants/:tenant' })
    .use(guard(deps))
    .get('/webhook-secret', ({ tenant, query }) => readWebhookSecretState(deps, { tenantId: tenant.id, ...query }), {
      ...TENANT,
      query: Environmental,
      response: { 200: WebhookSecretState, ...READ },
    })
    .post(
      '/webhook-secret/reveal',
      ({ visit, tenant, query }) => revealWebhookSecret(deps, { tenantId: tenant.id, ...query }, actorOf(visit.user)),
      { ...TENANT, ...FRESH, query: Environmental, body: Nothing, response: { 200: WebhookSecret, ...CHANGED } },
    )
    .post(
      '/webhook-secret/rotate',
      ({ visit, tenant, query }) => rotateTenantSecret(deps, { tenantId: tenant.id, ...query }, actorOf(visit.user)),
      { ...TENANT, ...FRESH, query: Environmental, body: Nothing, response: { 200: WebhookSecret, ...CHANGED } },
    )
    .post(
      '/webhook-secret/drop-previous',
      ({ visit, tenant, query }) => dropPreviousTenantSecret(deps, { tenantId: tenant.id, ...query }, actorOf(visit.user)),
      { ...TENANT, ...FRESH, query: Environmental, body: Nothing, response: { 200: WebhookSecretState, ...CHANGED } },
    )
    .get('/webhook-endpoint', ({ tenant, query }) => readWebhookEndpoint(deps, { tenantId: tenant.id, ...query }), {
      ...TENANT,
      query: Environmental,
      response: { 200: WebhookEndpoint, ...READ },
    })
    .put(
      '/webhook-endpoint',
      ({ visit, tenant, query, body }) =>
        changeWebhookEndpoint(deps, { tenantId: tenant.id, ...query }, body, actorOf(visit.user)),
      { ...TENANT, ...FRESH, query: Environmental, body: SetWebhookEndpoint, response: { 200: WebhookEndpoint, ...CHANGED } },
    )
    .post(
      '/webhook-endpoint/test',
      ({ visit, tenant, query }) => testWebhookEndpoint(deps, { tenantId: tenant.id, ...query }, actorOf(visit.user)),
      { ...TENANT, query: Environmental, body: Nothing, response: { 200: TestDelivery, ...CHANGED } },
    )
    .get('/deliveries', ({ tenant, query }) => readDeliveryPage(deps, tenant.id, query), {
      ...TENANT,
      query: DeliveryFilter,
      response: { 200: DeliveryPage, ...READ },
    })
    .get(
      '/deliveries/:id',
      ({ visit, tenant, params, query }) => readDeliveryDetail(deps, visit, { tenantId: tenant.id, ...query }, params.id),
      { ...TENANT_ITEM, query: Environmental, response: { 200: DeliveryDetail, ...READ } },
    )
    .post(
      '/deliveries/:id/replay',
      ({ visit, tenant, params, query, request }) =>
        replayDelivery(deps, askingOf(visit, request), { tenantId: tenant.id, ...query }, params.id),
      { ...TENANT_ITEM, query: Environmental, body: Nothing, response: { 200: DeliverySummary, ...CHANGED } },
    )
    .post(
      '/deliveries/replay-failed',
      ({ visit, tenant, query, request }) =>
        replayFailedDeliveries(deps, askingOf(visit, request), { tenantId: tenant.id, ...query }),
      { ...TENANT, query: Environmental, body: Nothing, response: { 200: ReplayedDeliveries, ...CHANGED } },
    )

const askingOf = ({ user }: Visit, request: Request): Asking => ({ actor: actorOf(user), requestId: traceOf(request).id })
