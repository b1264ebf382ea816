import type { Slip } from './list.ts'

export default [
  ['a dangerous scheme is listed', 'readAppSchemes', 'if (isTaken(scheme)) throw', 'if (false) throw', 'dashboard/rights'],
  [
    'old secret signs at 24 h',
    'signingAt',
    'row.validUntil === null || row.validUntil > at',
    'row.validUntil === null || row.validUntil >= at',
    'webhooks/rotation',
  ],
  [
    'an origin that is listed for test counts for live',
    'origin-store.ts',
    "eq(tenantOrigins.environment, sql.placeholder('environment')),",
    '',
    'wallet/dc-request',
  ],
  [
    'origins over plain http are listed',
    'refuseBadOrigin',
    "if (url.protocol !== 'https:' && !isLocal)",
    'if (false)',
    'cli/origin',
  ],
] satisfies Slip[]
