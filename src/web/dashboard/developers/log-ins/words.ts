import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useLogInsWords = () => useWords({ en: en.logIns, de: de.logIns })
