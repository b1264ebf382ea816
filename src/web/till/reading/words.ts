import { useWords } from '../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useReadingWords = (): typeof en.reading => useWords({ en: en.reading, de: de.reading })
