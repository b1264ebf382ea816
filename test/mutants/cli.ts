import type { Slip } from './list.ts'

export default [
  ['the command line saves any rules', 'readRules', 'findRulesProblem(rules, query)', 'undefined', 'cli/template'],
  ['a flag given twice keeps its last value', 'parseCall', 'refuseTwice(tokens, flags)', '', 'cli/command'],
  [
    'a tenant has a name that nobody sees',
    'tenantName',
    "checked(shortText('NAME', NAME_CHARS_MAX), findNameProblem)",
    "shortText('NAME', NAME_CHARS_MAX)",
    'cli/commands',
  ],
  ['a backup replaces a wrapping key', 'ownFiles', 'masterKey.file, ...wrappingKeys]', 'masterKey.file]', 'upkeep/backup'],
] satisfies Slip[]
