import type { Check, Failure } from '../../openid4vp/finding.ts'
import { useWords } from './language.tsx'
import * as de from './strings/de.ts'
import * as en from './strings/en.ts'

/** Every way a session ends without a yes. */
export type OutcomeCode = Failure | 'wallet_declined' | 'wallet_error' | 'cancelled' | 'redirect_not_followed' | 'expired'

export type OutcomeWords = { sentence: string; meaning: string; remedy: string }

/** What happened, what it means, what to do; for a code of a newer service the code itself. */
export function useOutcome(code: string): OutcomeWords {
  const words = useWords({ en: en.outcomes, de: de.outcomes })
  return words[code as OutcomeCode] ?? { sentence: code, meaning: '', remedy: '' }
}

/** The sentence of a check, by its name. */
export const useCheck = (check: string): string => useWords({ en: en.checks, de: de.checks })[check as Check] ?? check
