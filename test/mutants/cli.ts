import type { Slip } from './list.ts'

export default [
  ['a backup replaces a wrapping key', 'ownFiles', 'masterKey.file, ...wrappingKeys]', 'masterKey.file]', 'upkeep/backup'],
] satisfies Slip[]
