import type { Slip } from './list.ts'

export default [
  ['a device sees every template', 'listTemplates', 'allowed?.includes(key) ?? true', 'true', 'api/get-templates'],
  ['a template forgets its live use', 'noteLiveUse', 'await markLive(tx, { tenantId, key }, at)', '', 'dashboard/session'],
  ['a template is judged as it was before the change began', 'saveTemplate', 'await judge(tx, before)', '', 'dashboard/session'],
] satisfies Slip[]
