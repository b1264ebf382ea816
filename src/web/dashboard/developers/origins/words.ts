import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useOriginsWords = () => useWords({ en: en.origins, de: de.origins })
