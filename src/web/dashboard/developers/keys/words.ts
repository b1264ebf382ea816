import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useKeysWords = () => useWords({ en: en.keys, de: de.keys })
