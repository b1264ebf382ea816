import { useWords } from '../shared/language.tsx'
import * as de from '../shared/strings/de.ts'
import * as en from '../shared/strings/en.ts'

export type HostedWords = typeof en.hosted

export const useHostedWords = (): HostedWords => useWords({ en: en.hosted, de: de.hosted })
