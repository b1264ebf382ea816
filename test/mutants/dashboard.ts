import type { Slip } from './list.ts'

export default [
  ['dashboard shows any tenant', 'guard', '(visit.user.memberOf ?? tenant.id) !== tenant.id', 'false', 'dashboard/rights'],
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
    "member: { who: 'anyone', fresh: true }, params: TenantPath, query: Environmental, body: SetWebhookEndpoint,",
    "member: { who: 'anyone' },\n        params: TenantPath,\n        query: Environmental,\n        body: SetWebhookEndpoint,",
    'dashboard/webhook-endpoint',
  ],
  [
    'CSRF token not asked for',
    'refuseForged',
    "if (!equalConstantTime(request.headers.get('x-csrf-token') ?? '', csrfTokenOf(deps, visit))) throw",
    'if (false) throw',
    'dashboard/csrf',
  ],
  ['foreign origin taken', 'refuseForged', 'refuseForeign(deps.config, request) if', 'if', 'dashboard/csrf'],
  ['password not asked for again', 'requireAll', 'if (fresh) requireFresh(visit, now)', '', 'dashboard/session'],
  ['idle session lives on', 'findVisit', '|| at >= found.session.seenAt + IDLE_MS', '', 'dashboard/session'],
  ['log-in throttle off', 'countAttempt', 'if (config.rateLimitScale === 0) return', 'if (true) return', 'dashboard/login'],
] satisfies Slip[]
