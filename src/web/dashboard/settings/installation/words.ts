import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useInstallationWords = () => useWords({ en: en.installation, de: de.installation })

export const usePapersWords = () => useWords({ en: en.papers, de: de.papers })
