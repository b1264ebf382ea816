import type { Slip } from './list.ts'

export default [
  [
    'live results over plain http at delivery',
    'attemptDelivery',
    'webhookOf: environment',
    "webhookOf: 'test'",
    'webhooks/destinations',
  ],
  ['cancelled message sent', 'attemptDelivery', 'if (signal.aborted) return ERASED', '', 'webhooks/erase'],
  [
    'one secret signs for both environments',
    'signedMessage',
    'secretsOf({ tenantId, environment }, at)',
    "secretsOf({ tenantId, environment: 'test' }, at)",
    'webhooks/rotation',
  ],
  ['a signature does not cover its time', 'signatureHeaders', /\(`\$\{timestamp\}\.`, payload\)/, '(payload)', 'webhooks/sign'],
  ['a message without a signature', 'signatureHeaders', 'secrets.length === 0', 'false', 'webhooks/sign'],
  [
    'the endpoint of the other environment is told',
    'enqueueDelivery',
    'readEndpoint(deps, tx, delivery)',
    "readEndpoint(deps, tx, { ...delivery, environment: 'live' })",
    'webhooks/endpoint',
  ],
] satisfies Slip[]
