import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useTrustWords = () => useWords({ en: en.trust, de: de.trust })
