import { useWords } from '../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useVerificationsWords = () => useWords({ en: en.verifications, de: de.verifications })

export const useVerificationWords = () => useWords({ en: en.verification, de: de.verification })
