import type { Slip } from './list.ts'

export default [
  ['signed without a time', 'signWebhook', 'hmac(utf8(secret), signed)', 'hmac(utf8(secret), rawBytes(payload))', 'sdk/webhook'],
  ['tolerance not checked', 'verifyWebhook', 'if (Math.abs(clock - Number(time)) > tolerance)', 'if (false)', 'sdk/webhook'],
] satisfies Slip[]
