import { useWords } from '../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useSearchWords = () => useWords({ en: en.search, de: de.search })
