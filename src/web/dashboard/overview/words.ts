import { useWords } from '../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useOverviewWords = () => useWords({ en: en.overview, de: de.overview })
