import type { Slip } from './list.ts'

export default [
  [
    'an app scheme is listed without a fresh password',
    'changeOwnTenant',
    'retention_days !== undefined || app_schemes !== undefined',
    'retention_days !== undefined',
    'dashboard/session',
  ],
  [
    'the endpoint is changed without a fresh password',
    'webhookRoutes',
    '...FRESH, query: Environmental, body: SetWebhookEndpoint',
    'query: Environmental, body: SetWebhookEndpoint',
    'dashboard/webhook-endpoint',
  ],
  ['find: an export has no record', 'exportSummaries', 'deps.write(tx =>', 'Promise.resolve((tx: never) =>', 'dashboard/find'],
  [
    'find: a list shows claims',
    'summaries',
    'const { claims, credentials, wallet_uri,',
    'const { wallet_uri,',
    'dashboard/pages',
  ],
] satisfies Slip[]
