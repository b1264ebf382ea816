import { useWords } from '../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'
import { FURTHER } from './further.ts'

export const useLoginWords = () => useWords({ en: en.login, de: de.login, ...FURTHER })
