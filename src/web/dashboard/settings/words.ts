import { useWords } from '../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useSettingsWords = () => useWords({ en: en.settings, de: de.settings })
