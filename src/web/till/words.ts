import { useWords } from '../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export type TillWords = typeof en.till

export const useTillWords = (): TillWords => useWords({ en: en.till, de: de.till })
