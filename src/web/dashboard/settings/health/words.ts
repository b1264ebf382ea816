import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useHealthWords = () => useWords({ en: en.health, de: de.health })
