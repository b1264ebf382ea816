import type { Slip } from './list.ts'

export default [
  [
    'link to the record before not checked',
    'chainVerifier',
    'if (record.previous !== head) return',
    'if (false) return',
    'audit/chain',
  ],
  [
    'hash of a record not checked',
    'chainVerifier',
    'if (recordHash(record) !== record.hash) return',
    'if (false) return',
    'audit/chain',
  ],
  ['checkpoint signature not checked', 'chainVerifier', 'if (!isSigned(due, key)) return', 'if (false) return', 'audit/chain'],
] satisfies Slip[]
