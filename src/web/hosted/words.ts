import { useWords } from '../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export type HostedWords = typeof en.hosted

export const useHostedWords = (): HostedWords => useWords({ en: en.hosted, de: de.hosted })
