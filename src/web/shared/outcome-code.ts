import type { Failure } from '../../openid4vp/finding.ts'
import type { Status } from '../../verifications/schema.ts'

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

/** The error codes that have a word of their own; every other failure is refused by a check. */
type NamedCode = Exclude<OutcomeCode, Failure | 'expired'>

/** `held`: a good answer that waits for its release or comparison; `shared`: completed, but no rule judges what was shown. */
export type OutcomeName = Status | 'held' | 'shared' | NamedCode

export type OutcomeNames = Readonly<Record<OutcomeName, string>>

export type OutcomeWords = { sentence: string; meaning: string; remedy: string }

export type CheckWords = { passed: string; failed: string }

export type Ended = {
  status: Status
  /** The code of its error. */
  code?: string | undefined
  /** True while a good answer is held. */
  isHeld?: boolean | undefined
  /** False if it may deny an age that no rule judges: then completed is not a yes. */
  isJudged?: boolean
}

/** The names that sessions of a status can have. */
export const NAMES_OF: Readonly<Record<Status, readonly OutcomeName[]>> = {
  pending: ['pending', 'held'],
  completed: ['completed', 'shared'],
  failed: ['failed', 'wallet_declined', 'cancelled', 'wallet_error', 'redirect_not_followed', 'not_same_person', 'not_compared'],
  expired: ['expired'],
}

export function outcomeNameOf({ status, code, isHeld = false, isJudged = true }: Ended): OutcomeName {
  if (status === 'pending' && isHeld) return 'held'
  if (status === 'completed' && !isJudged) return 'shared'
  return NAMES_OF[status].find(name => name === code) ?? status
}
