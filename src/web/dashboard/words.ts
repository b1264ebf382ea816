import { useWords } from '../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

/** The words that all of the dashboard shares, in the reader's language. */
export const useDashboardWords = () => useWords({ en: en.dashboard, de: de.dashboard })
