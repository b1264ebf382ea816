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
  // Finding, exporting, first steps.
  ['find: a formula behind a tab runs', 'FORMULA', '＠\\t\\r\\n])|', '＠])|', 'dashboard/find'],
  ['find: a formula behind a semicolon runs', 'FORMULA', '(?<=[;', '(?<=[', 'dashboard/find'],
  ['find: a quote ends its cell', 'cellOf', "safe.replaceAll('\"', '\"\"')", 'safe', 'dashboard/find'],
  [
    'find: an export ends after its first page',
    'linesOf',
    'if (page.next_before === null) return',
    'if (before !== page.next_before) return',
    'dashboard/filters',
  ],
  ['find: an export has no record', 'exportSummaries', 'deps.write(tx =>', 'Promise.resolve((tx: never) =>', 'dashboard/find'],
  [
    'find: an export needs no fresh password',
    'tenantRoutes',
    'member: { ...FRESH_HOUR.member, cost: EXPORT_COST }',
    'member: { ...TENANT.member, cost: EXPORT_COST }',
    'dashboard/find',
  ],
  [
    'find: a list shows claims',
    'summaries',
    'const { claims, credentials, wallet_uri,',
    'const { wallet_uri,',
    'dashboard/pages',
  ],
  [
    'find: the last page is asked for without its time',
    'readSummaries',
    'before: instant(before), from',
    'before: undefined, from',
    'dashboard/pages',
  ],
  ['find: an expired key connects', 'isConnected', '&& !isExpired(key, at)', '', 'dashboard/numbers'],
  ['find: a revoked key connects', 'isConnected', 'key.revokedAt === null && ', '', 'dashboard/numbers'],
  ['find: a till does not connect', 'isConnected', "status === 'active'", "status === 'pending'", 'dashboard/numbers'],
  ['find: first steps do not end', 'readFirstSteps', 'if (firstLiveAt !== null) return null', '', 'dashboard/numbers'],
  ['the label of an anchor turns the text around it', 'AddTrust', 'PlainText({', 'Text({', 'dashboard/pages'],
  ['the label of a key turns the text around it', 'Label', 'PlainText({', 'Text({', 'dashboard/pages'],
] satisfies Slip[]
