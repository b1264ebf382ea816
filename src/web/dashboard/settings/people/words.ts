import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const usePeopleWords = () => useWords({ en: en.people, de: de.people })
