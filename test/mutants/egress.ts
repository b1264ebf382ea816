import type { Slip } from './list.ts'

export default [
  ['address not pinned', 'connect', '({ host: address, port })', '({ host: hostOf(url), port })', 'egress/client'],
  [
    'no address taken for this machine',
    'callAt',
    'if (isIP(address) === 0) return { ok: false, address, ...FAILED }',
    '',
    'egress/client',
  ],
  ['name of a certificate not checked', 'connect', 'servername: hostOf(url)', "servername: 'localhost'", 'egress/extra-ca'],
  ['bare line feed ends a line', 'createAnswerReader', 'if (unread[end - 1] !== CR) throw new BadAnswer()', '', 'egress/answer'],
  ['look-ups without a share', 'createPlaces', 'if (count >= perOwner) return await wait(owner)', '', 'egress/resolve'],
  ['look-up failures forgotten', 'createResolver', 'failed.set(name, { until: now() + FAILURE_KEPT_MS })', '', 'egress/resolve'],
  ['hosts file ignored', 'createResolver', 'const local = hosts(name) ?? (', 'const local = (', 'egress/resolve'],
  ['any number of addresses', 'createResolver', '&& found.length <= ADDRESSES_MAX', '', 'egress/resolve'],
  [
    'names by getaddrinfo',
    'resolve.ts',
    "import { Resolver } from 'node:dns/promises'",
    "import { lookup, Resolver } from 'node:dns/promises'",
    'imports',
  ],
  [
    'live results over plain http',
    'checkWebhookUrl',
    "if (environment === 'test' || url?.protocol !== 'http:') return checked",
    'if (url) return checked',
    'egress/policy',
    'api/post-verifications',
  ],
  ['inside name leads anywhere', 'addressRefusal', 'if (isInsideName(to.host)) return insideName(to.host)', '', 'egress/policy'],
  [
    'extra authority not trusted',
    'connect',
    '...(extraCa && { secureContext: extraCa.secureContext() }),',
    '',
    'egress/extra-ca',
  ],
  [
    'extra authority in place of the others',
    'createExtraCa',
    "[...getCACertificates('default'), pem]",
    '[pem]',
    'egress/extra-ca',
  ],
  ['extra authority is none', 'readExtraCa', 'if (!certificate.ca)', 'if (false)', 'egress/extra-ca'],
] satisfies Slip[]
