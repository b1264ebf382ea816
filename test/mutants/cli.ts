import type { Slip } from './list.ts'

export default [
  ['a backup replaces a wrapping key', 'ownFiles', 'masterKey.file, ...wrappingKeys]', 'masterKey.file]', 'upkeep/backup'],
  ['the EU profile fails without an exit code', 'examineRequests', 'summary.must_failed > 0 ? 1 : 0', '0', 'cli/doctor'],
] satisfies Slip[]
