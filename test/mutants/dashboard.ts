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
    'rules are not checked when they are saved',
    'saveTenantTemplate',
    'if (rulesProblem) throw',
    'if (false) throw',
    'dashboard/pages',
  ],
  [
    'the endpoint is changed without a fresh password',
    'webhookRoutes',
    '...FRESH, query: Environmental, body: SetWebhookEndpoint',
    'query: Environmental, body: SetWebhookEndpoint',
    'dashboard/webhook-endpoint',
  ],
] satisfies Slip[]
