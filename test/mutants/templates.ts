import type { Slip } from './list.ts'

export default [
  ['a device sees every template', 'listTemplates', 'allowed.includes(key)', 'true', 'api/get-templates'],
  ['an alias takes the name of an older template', 'resolveTemplate', 'known && !mayBeOwn(key)', 'known', 'api/formats'],
  ['an older template is judged as the alias', 'builtinOf', '?.version === templateVersion', '', 'api/formats'],
  ['a new template takes the name of an alias', 'saveTemplate', '!before && isBuiltinName(key)', 'false', 'api/formats'],
  ['a template forgets its live use', 'noteLiveUse', 'await markLive(tx, { tenantId, key }, at)', '', 'dashboard/session'],
  ['a template is judged as it was before the change began', 'saveTemplate', 'await judge(tx, before)', '', 'dashboard/session'],
  ['a wallet is told that ages are kept', 'withIntentToRetain', '!AGE.test(name) &&', '', 'wallet/intent-to-retain'],
  [
    'a wallet is told that compared photos are kept',
    'withIntentToRetain',
    "retentionOf(session) === 'claims'",
    'true',
    'wallet/intent-to-retain',
  ],
  [
    'a wallet is told that a day is long',
    'withIntentToRetain',
    'days > DAYS_SHORT',
    'days >= DAYS_SHORT',
    'wallet/intent-to-retain',
  ],
  [
    'a template says what is kept',
    'withIntentToRetain',
    'isRetained(claim) === (claim.intent_to_retain ?? false)',
    'true',
    'wallet/intent-to-retain',
  ],
] satisfies Slip[]
