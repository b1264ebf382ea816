import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useAuditWords = () => useWords({ en: en.audit, de: de.audit })
