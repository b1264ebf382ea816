import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useWebPagesWords = () => useWords({ en: en.webPages, de: de.webPages })
