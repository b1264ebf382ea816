import { useWords } from '../language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

/** What checks found, for `say`. */
export const useFindings = () => useWords({ en: en.findings, de: de.findings })
