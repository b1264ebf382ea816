import { useWords } from '../shared/language.tsx'
import * as de from '../shared/strings/de.ts'
import * as en from '../shared/strings/en.ts'

export type TillWords = typeof en.till

export const useTillWords = (): TillWords => useWords({ en: en.till, de: de.till })
