import type { Slip } from './list.ts'

export default [
  ['a device sees every template', 'listTemplates', 'allowed?.includes(key) ?? true', 'true', 'api/get-templates'],
] satisfies Slip[]
