import type { Slip } from './list.ts'

export default [
  [
    'creations look up as nobody',
    'refuseForbidden',
    'host => resolve(host, tenantId)',
    'host => resolve(host)',
    'webhooks/destinations',
  ],
  [
    'deliveries look up as nobody',
    'deliver',
    'deps.resolve(host, flight.tenantId)',
    'deps.resolve(host)',
    'webhooks/destinations',
  ],
  [
    'live results over plain http at delivery',
    'deliver',
    'webhookOf: rendered.environment',
    "webhookOf: 'test'",
    'webhooks/destinations',
  ],
  ['cancelled message sent', 'deliver', 'if (flight.isCancelled) return CANCELLED', '', 'webhooks/erase'],
  [
    'redirect counts as delivered',
    'outcomeOf',
    'status >= 200 && status < 300',
    'status >= 200 && status < 400',
    'webhooks/faults',
  ],
  [
    'result without a message',
    'enqueueDelivery',
    'if (receiver === undefined) return undefined',
    'return undefined',
    'flows/races',
  ],
  [
    'one secret signs for both environments',
    'signedMessage',
    'signingSecrets(deps, { tenantId, environment }, at)',
    "signingSecrets(deps, { tenantId, environment: 'test' }, at)",
    'webhooks/rotation',
  ],
  [
    'an endpoint may be anywhere',
    'setEndpoint',
    'if (url !== null) await refuseForbidden(deps, owner, url)',
    '',
    'webhooks/endpoint',
  ],
  [
    'the endpoint of the other environment is told',
    'enqueueDelivery',
    'readEndpoint({ sealer }, tx, { tenantId: owed.tenantId, environment })',
    "readEndpoint({ sealer }, tx, { tenantId: owed.tenantId, environment: 'live' })",
    'webhooks/endpoint',
  ],
] satisfies Slip[]
