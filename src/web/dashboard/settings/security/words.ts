import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useSecurityWords = () => useWords({ en: en.security, de: de.security })

export const useProfileWords = () => useWords({ en: en.profile, de: de.profile })
