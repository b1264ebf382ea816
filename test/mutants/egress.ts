import type { Slip } from './list.ts'

export default [
  ['address not pinned', 'requestTo', 'host: address', 'host: hostOf(url)', 'egress/client'],
  [
    'no address taken for this machine',
    'callAt',
    'if (isIP(address) === 0) return { ok: false, address, ...FAILED }',
    '',
    'egress/client',
  ],
  ['name of a certificate not checked', 'requestTo', '=== 0 ? hostOf(url)', "=== 0 ? 'localhost'", 'egress/extra-ca'],
  ['bare line feed ends a line', 'requestTo', 'insecureHTTPParser: false', 'insecureHTTPParser: true', 'egress/answer'],
  ['chunks beside a length', 'readAnswer', 'if (!isClear(response)) return onFailure(new BadAnswer())', '', 'egress/answer'],
  [
    'live results over plain http',
    'checkWebhookUrl',
    "if (environment === 'test' || url?.protocol !== 'http:') return checked",
    'if (url) return checked',
    'egress/policy',
    'api/post-verifications',
  ],
  ['inside name leads anywhere', 'addressRefusal', 'if (isInsideName(to.host)) return insideName(to.host)', '', 'egress/policy'],
] satisfies Slip[]
