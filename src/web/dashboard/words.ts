import { useWords } from '../shared/language.tsx'
import * as de from '../shared/strings/de.ts'
import * as en from '../shared/strings/en.ts'

const WORDS = { en: en.dashboard, de: de.dashboard }

/** The words of the dashboard in the reader's language. */
export const useDashboardWords = () => useWords(WORDS)

const FINDINGS = { en: en.findings, de: de.findings }

/** What checks found, for `say`. */
export const useFindings = () => useWords(FINDINGS)
