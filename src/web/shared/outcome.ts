import type { Check } from '../../openid4vp/finding.ts'
import { useShared, useWords } from './language.ts'
import type { CheckWords, OutcomeCode, OutcomeNames, OutcomeWords } from './outcome-code.ts'
import * as de from './words/de.ts'
import * as en from './words/en.ts'

export const useOutcomeNames = (): OutcomeNames => useShared().outcomeNames

/** The words of an outcome; for an unknown code the code itself. */
export function useOutcome(code: string): OutcomeWords {
  const words = useWords({ en: en.outcomes, de: de.outcomes })
  return words[code as OutcomeCode] ?? { sentence: code, meaning: '', remedy: '' }
}

export const useCheck = (check: string): CheckWords =>
  useWords({ en: en.checks, de: de.checks })[check as Check] ?? { passed: check, failed: check }
