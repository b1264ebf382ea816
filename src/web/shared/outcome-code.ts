import type { Failure } from '../../openid4vp/finding.ts'

/** Every way a session ends without a yes. */
export type OutcomeCode =
  | Failure
  | 'wallet_declined'
  | 'wallet_error'
  | 'cancelled'
  | 'redirect_not_followed'
  | 'not_same_person'
  | 'not_compared'
  | 'expired'

export type OutcomeWords = { sentence: string; meaning: string; remedy: string }

export type CheckWords = { passed: string; failed: string }
