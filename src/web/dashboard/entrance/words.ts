import { useWords } from '../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useEntranceWords = () => useWords({ en: en.entrance, de: de.entrance })
