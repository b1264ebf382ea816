import { useWords } from '../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useLostWords = () => useWords({ en: en.lost, de: de.lost })
