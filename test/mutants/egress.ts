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
