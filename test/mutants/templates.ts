import type { Slip } from './list.ts'

export default [
  ['no rules are an empty list', 'effectiveRules', 'rules ?? defaultRules(query)', 'rules ?? []', 'wallet/template-rules'],
  [
    'an empty list is no rules',
    'effectiveRules',
    'rules ?? defaultRules(query)',
    'rules?.length ? rules : defaultRules(query)',
    'wallet/template-rules',
  ],
  [
    'versions differ by query only',
    'versionOf',
    'canonicalJson({ query, rules })',
    'canonicalJson({ query })',
    'wallet/template-rules',
  ],
  ['a rule on any claim is saved', 'findRulesProblem', 'delivers(credential, claim)', 'true', 'templates/rules'],
  ['a rule may have two conditions', 'findShapeProblem', 'if (!kind || second)', 'if (!kind)', 'templates/rules'],
  ['a device sees every template', 'listTemplates', 'allowed?.includes(key) ?? true', 'true', 'api/get-templates'],
  ['a template forgets its live use', 'noteLiveUse', 'await markLive(tx, { tenantId, key }, at)', '', 'dashboard/session'],
] satisfies Slip[]
