import type { Slip } from './list.ts'

export default [
  ['a device sees every template', 'listTemplates', 'allowed.includes(key)', 'true', 'api/get-templates'],
  ['an alias takes the name of an older template', 'resolveTemplate', 'known && !mayBeOwn(key)', 'known', 'api/formats'],
  ['an older template is judged as the alias', 'builtinOf', '?.version === templateVersion', '', 'api/formats'],
  ['a new template takes the name of an alias', 'saveTemplate', '!before && isBuiltinName(key)', 'false', 'api/formats'],
  ['a template forgets its live use', 'noteLiveUse', 'await markLive(tx, { tenantId, key }, at)', '', 'dashboard/session'],
  ['a template is judged as it was before the change began', 'saveTemplate', 'await judge(tx, before)', '', 'dashboard/session'],
] satisfies Slip[]
