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
    'a rotation is not noticed by the worker',
    'rememberSigningSecrets',
    'known?.version !== version || known.owners.size > OWNERS_MAX',
    'known === undefined',
    'webhooks/rotation',
  ],
  ['old secret kept for 25 h', 'OVERLAP_MS', 'OVERLAP_MS = 86_400_000', 'OVERLAP_MS = 90_000_000', 'webhooks/rotation'],
  [
    'a rotation drops the secrets of both environments',
    'ownedBy',
    'and(eq(webhookSecrets.tenantId, tenantId), eq(webhookSecrets.environment, environment))',
    'and(eq(webhookSecrets.tenantId, tenantId), environment ? undefined : undefined)',
    'webhooks/rotation',
  ],
  ['a later session is the first one', 'recordFirst', ', setWhere: isNull(goLive[name])', '', 'verifications/first-times'],
  ['first times are written each time', 'createFirstTimes', 'if (!known.has(keyOf(owner)))', '', 'verifications/first-times'],
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
  ['a 21st origin is listed', 'addOrigin', 'listed.length >= ORIGINS_MAX', 'false', 'cli/origin'],
] satisfies Slip[]
